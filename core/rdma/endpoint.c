/* SPDX-License-Identifier: MIT */
#include "core/rdma/endpoint.h"

#include <errno.h>

#include "core/rdma/guard.h"
#include "core/verbs/device.h"
#include "core/verbs/device_kind.h"
#include "core/verbs/limits.h"
#include "core/verbs/verbs.h"

#define DEFAULT_BUFFER  4096
#define DEFAULT_SPIN_US 50

static uint32_t sges(const struct ground_settings *settings)
{
	return settings->sges > POST_SGES ? settings->sges : POST_SGES;
}

static int query(struct ground *ground, const struct ground_settings *settings, struct error *error)
{
	const struct limits wanted = {
		.cq_depth = settings->cq_depth,
		.srq_depth = settings->srq_depth,
		.sge = sges(settings),
		.memory_bytes = settings->buffer_size,
	};
	int code = verbs_result(ibv_query_device(ground->verbs, &ground->device));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	return limits_check(&wanted, &ground->device, NULL, error);
}

static int create_srq(struct ground *ground, struct error *error)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = ground->srq_depth, .max_sge = ground->sges}
        };

	ground->srq = ibv_create_srq(ground->pd, &attr);
	if (!ground->srq)
		return verbs_memory_error(error, verbs_null(), "create a shared receive queue");
	return 0;
}

/* What processes share, the software device reaches without a call of the kernel. */
static enum buffer_pages pages_of(const struct ground *ground,
				  const struct ground_settings *settings)
{
	if (settings->huge_pages)
		return BUFFER_HUGE;
	return kind_is_mapped(&ground->device) ? BUFFER_SHARED : BUFFER_ORDINARY;
}

static int take_buffer(struct ground *ground, enum buffer_pages pages, int node,
		       struct error *error)
{
	struct buffer none = {0};
	struct buffer *spare = ground->spare ? ground->spare : &none;

	return buffer_take(&ground->buffer, spare, ground->buffer_size, pages, node, error);
}

static int create_buffer(struct ground *ground, const struct ground_settings *settings,
			 struct error *error)
{
	int access = GROUND_ACCESS | ground->ordering;
	int node = settings->numa_node;
	int code;

	if (node == -1)
		node = device_numa_node(ibv_get_device_name(ground->verbs->device));
	if (limits_has_atomics(&ground->device))
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	ground->buffer_size = settings->buffer_size ? settings->buffer_size : DEFAULT_BUFFER;
	code = take_buffer(ground, pages_of(ground, settings), node, error);
	if (code)
		return code;
	ground->mr = verbs_register(ground->pd, ground->buffer.address, ground->buffer_size, access,
				    error);
	return ground->mr ? 0 : error->code;
}

int ground_begin(struct ground *ground, struct error *error)
{
	*ground = (struct ground){0};
	return alarm_open(&ground->alarm, error);
}

int ground_build(struct ground *ground, struct ibv_context *verbs,
		 const struct ground_settings *settings, struct error *error)
{
	struct completion *completion = &ground->completion;
	unsigned int spin_us = settings->spin_us ? settings->spin_us : DEFAULT_SPIN_US;
	int code;

	ground->verbs = verbs;
	code = query(ground, settings, error);
	if (code)
		return code;
	ground->pd = ibv_alloc_pd(verbs);
	if (!ground->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	completion->mode = settings->wait;
	if (verbs->num_comp_vectors > 0)
		completion->vector = settings->vector % (unsigned int)verbs->num_comp_vectors;
	completion->spin_ns = spin_us * NS_PER_US;
	code = completion_open(completion, verbs, settings->cq_depth, &ground->alarm, error);
	ground->srq_depth = settings->srq_depth;
	ground->sges = sges(settings);
	ground->spare = settings->spare;
	ground->ordering = settings->is_relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0;
	if (!code && ground->srq_depth)
		code = create_srq(ground, error);
	if (!code)
		code = create_buffer(ground, settings, error);
	return code;
}

int ground_open(struct ground *ground, struct ibv_context *verbs,
		const struct ground_settings *settings, struct error *error)
{
	int code = ground_begin(ground, error);

	if (code)
		return code;
	code = ground_build(ground, verbs, settings, error);
	if (!code)
		code = guard_ground(ground, error);
	if (code)
		ground_close(ground);
	return code;
}

int ground_strip(struct ground *ground)
{
	int first = 0;

	guard_release_ground(ground);
	error_keep(&first, completion_close(&ground->completion));
	if (ground->srq)
		error_keep(&first, verbs_result(ibv_destroy_srq(ground->srq)));
	if (ground->mr)
		error_keep(&first, verbs_result(ibv_dereg_mr(ground->mr)));
	if (ground->pd)
		error_keep(&first, verbs_result(ibv_dealloc_pd(ground->pd)));
	/* What a region still holds is nobody else's. */
	if (ground->spare && !first)
		buffer_keep(&ground->buffer, ground->spare);
	buffer_close(&ground->buffer);
	ground->verbs = NULL;
	ground->srq = NULL;
	ground->mr = NULL;
	ground->pd = NULL;
	ground->buffer_size = 0;
	ground->taken_inline = (struct limits_inline){0};
	return first;
}

int ground_close(struct ground *ground)
{
	int code;

	if (ground->n_contexts)
		return -EBUSY;
	code = ground_strip(ground);
	alarm_close(&ground->alarm);
	*ground = (struct ground){0};
	return code;
}

/* Receives that nothing has consumed go only with their queue. */
static int renew_srq(struct ground *ground, struct error *error)
{
	int code = verbs_result(ibv_destroy_srq(ground->srq));

	if (code)
		return error_set_errno(error, code, "cannot empty the shared receive queue");
	ground->srq = NULL;
	return create_srq(ground, error);
}

int ground_renew(struct ground *ground, struct error *error)
{
	int code = 0;

	if (ground->n_queues)
		return error_set(error, -EBUSY, "%u connections are still open on this ground",
				 ground->n_queues);
	if (atomic_load(&ground->is_broken)) {
		code = alarm_reason(&ground->alarm, error);
		return code ? code : error_set(error, -EIO, "what is beneath it has failed");
	}
	if (ground->srq)
		code = renew_srq(ground, error);
	if (!code)
		code = completion_reset(&ground->completion, error);
	if (code)
		return code;
	alarm_reset(&ground->alarm);
	ground->is_used = false;
	return 0;
}

int ground_reset(struct ground *ground, struct error *error)
{
	int code = ground_renew(ground, error);

	if (!code)
		alarm_clear(&ground->alarm);
	return code;
}
