/* SPDX-License-Identifier: MIT */
#include "core/rdma/endpoint.h"

#include <errno.h>
#include <fcntl.h>

#include "core/rdma/guard.h"
#include "core/verbs/device.h"
#include "core/verbs/device_kind.h"
#include "core/verbs/limits.h"
#include "core/verbs/srd.h"
#include "core/verbs/verbs.h"

#define DEFAULT_BUFFER  4096
#define DEFAULT_SPIN_US 50

static uint32_t sges(const struct endpoint_settings *settings)
{
	return settings->sges > POST_SGES ? settings->sges : POST_SGES;
}

static int query(struct endpoint *endpoint, const struct endpoint_settings *settings,
		 struct error *error)
{
	const struct limits wanted = {
		.cq_depth = settings->cq_depth,
		.srq_depth = settings->srq_depth,
		.sge = sges(settings),
		.memory_bytes = settings->buffer_size,
	};
	int code = verbs_result(ibv_query_device(endpoint->verbs, &endpoint->device));

	if (code)
		return error_set_errno(error, code, "cannot query the device");
	return limits_check(&wanted, &endpoint->device, NULL, error);
}

static int open_domain(struct endpoint *endpoint, struct error *error)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	endpoint->xrcd = ibv_open_xrcd(endpoint->verbs, &attr);
	return endpoint->xrcd ? 0
			      : error_set_errno(error, verbs_null(), "cannot open an XRC domain");
}

static struct ibv_srq *create_xrc_srq(const struct endpoint *endpoint)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = {.max_wr = endpoint->srq_depth, .max_sge = endpoint->sges},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = endpoint->pd,
		.xrcd = endpoint->xrcd,
		.cq = endpoint->completion.cq,
	};

	return ibv_create_srq_ex(endpoint->verbs, &attr);
}

static int create_srq(struct endpoint *endpoint, struct error *error)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = endpoint->srq_depth, .max_sge = endpoint->sges}
        };

	endpoint->srq =
		endpoint->xrcd ? create_xrc_srq(endpoint) : ibv_create_srq(endpoint->pd, &attr);
	if (!endpoint->srq)
		return verbs_memory_error(error, verbs_null(), "create a shared receive queue");
	return 0;
}

/* The software device reaches mappable memory without a system call. */
static const struct memory_kind *choose_memory(const struct endpoint *endpoint,
					       const struct endpoint_settings *settings)
{
	if (settings->memory)
		return settings->memory;
	return device_kind_is_mapped(&endpoint->device) ? &memory_shared : &memory_host;
}

static int take_memory(struct endpoint *endpoint, const struct endpoint_settings *settings,
		       int node, struct error *error)
{
	const struct memory_request request = {
		.size = endpoint->buffer_size,
		.numa_node = node,
		.device = endpoint->verbs,
		.detail = settings->detail,
	};
	struct memory none = {0};
	struct memory *spare = endpoint->spare ? endpoint->spare : &none;

	return memory_take(&endpoint->memory, spare, choose_memory(endpoint, settings), &request,
			   error);
}

struct ibv_mr *endpoint_register(const struct endpoint *endpoint, size_t offset, size_t length,
				 struct error *error)
{
	return memory_register(&endpoint->memory, offset, length, endpoint->pd, endpoint->access,
			       error);
}

static int create_memory(struct endpoint *endpoint, const struct endpoint_settings *settings,
			 struct error *error)
{
	int node = settings->numa_node;
	int code;

	if (node == -1)
		node = device_numa_node(ibv_get_device_name(endpoint->verbs->device));
	endpoint->access = srd_access(endpoint->verbs, ENDPOINT_ACCESS) | endpoint->ordering;
	if (limits_has_atomics(&endpoint->device))
		endpoint->access |= IBV_ACCESS_REMOTE_ATOMIC;
	endpoint->buffer_size = settings->buffer_size ? settings->buffer_size : DEFAULT_BUFFER;
	code = take_memory(endpoint, settings, node, error);
	if (code || settings->has_regions)
		return code;
	endpoint->mr = endpoint_register(endpoint, 0, endpoint->buffer_size, error);
	return endpoint->mr ? 0 : error->code;
}

int endpoint_begin(struct endpoint *endpoint, struct error *error)
{
	*endpoint = (struct endpoint){0};
	return alarm_open(&endpoint->alarm, error);
}

int endpoint_build(struct endpoint *endpoint, struct ibv_context *verbs,
		   const struct endpoint_settings *settings, struct error *error)
{
	struct completion *completion = &endpoint->completion;
	unsigned int spin_us = settings->spin_us ? settings->spin_us : DEFAULT_SPIN_US;
	int code;

	endpoint->verbs = verbs;
	code = query(endpoint, settings, error);
	if (code)
		return code;
	endpoint->pd = ibv_alloc_pd(verbs);
	if (!endpoint->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	completion->mode = settings->wait;
	completion->is_timed = settings->is_timed;
	if (verbs->num_comp_vectors > 0)
		completion->vector = settings->vector % (unsigned int)verbs->num_comp_vectors;
	completion->spin_ns = spin_us * NS_PER_US;
	completion->moderation = settings->moderation;
	code = completion_open(completion, verbs, settings->cq_depth, &endpoint->alarm, error);
	endpoint->srq_depth = settings->srq_depth;
	endpoint->sges = sges(settings);
	endpoint->n_senders = settings->n_senders ? settings->n_senders : 1;
	endpoint->spare = settings->spare;
	endpoint->send_ops = settings->send_ops;
	endpoint->ordering = settings->is_relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0;
	if (!code && settings->is_xrc)
		code = open_domain(endpoint, error);
	if (!code && endpoint->srq_depth)
		code = create_srq(endpoint, error);
	if (!code)
		code = create_memory(endpoint, settings, error);
	return code;
}

int endpoint_open(struct endpoint *endpoint, struct ibv_context *verbs,
		  const struct endpoint_settings *settings, struct error *error)
{
	int code = endpoint_begin(endpoint, error);

	if (code)
		return code;
	code = endpoint_build(endpoint, verbs, settings, error);
	if (!code)
		code = guard_endpoint(endpoint, error);
	if (code)
		endpoint_close(endpoint);
	return code;
}

int endpoint_strip(struct endpoint *endpoint)
{
	int first = 0;

	guard_release_endpoint(endpoint);
	/* First: the SRQ of XRC uses the CQ. */
	if (endpoint->srq)
		error_keep(&first, verbs_result(ibv_destroy_srq(endpoint->srq)));
	if (endpoint->xrcd)
		error_keep(&first, verbs_result(ibv_close_xrcd(endpoint->xrcd)));
	error_keep(&first, completion_close(&endpoint->completion));
	if (endpoint->mr)
		error_keep(&first, verbs_result(ibv_dereg_mr(endpoint->mr)));
	if (endpoint->pd)
		error_keep(&first, verbs_result(ibv_dealloc_pd(endpoint->pd)));
	/* Keep no memory that a failed deregistration may have left in use. */
	if (endpoint->spare && !first)
		memory_keep(&endpoint->memory, endpoint->spare);
	memory_close(&endpoint->memory);
	endpoint->verbs = NULL;
	endpoint->srq = NULL;
	endpoint->xrcd = NULL;
	endpoint->mr = NULL;
	endpoint->pd = NULL;
	endpoint->buffer_size = 0;
	endpoint->taken_inline = (struct limits_inline){0};
	return first;
}

int endpoint_close(struct endpoint *endpoint)
{
	int code;

	if (endpoint->n_contexts)
		return -EBUSY;
	code = endpoint_strip(endpoint);
	alarm_close(&endpoint->alarm);
	*endpoint = (struct endpoint){0};
	return code;
}

/* Only destroying the queue discards receives that no message has consumed. */
static int renew_srq(struct endpoint *endpoint, struct error *error)
{
	int code = verbs_result(ibv_destroy_srq(endpoint->srq));

	if (code)
		return error_set_errno(error, code, "cannot empty the shared receive queue");
	endpoint->srq = NULL;
	return create_srq(endpoint, error);
}

int endpoint_renew(struct endpoint *endpoint, struct error *error)
{
	int code = 0;

	if (endpoint->n_queues)
		return error_set(error, -EBUSY, "%u connections are still open on this endpoint",
				 endpoint->n_queues);
	if (atomic_load(&endpoint->is_broken)) {
		code = alarm_reason(&endpoint->alarm, error);
		return code ? code
			    : error_set(error, -EIO, "the endpoint's device or queues have failed");
	}
	if (endpoint->srq)
		code = renew_srq(endpoint, error);
	if (!code)
		code = completion_reset(&endpoint->completion, error);
	if (code)
		return code;
	alarm_reset(&endpoint->alarm);
	endpoint->is_used = false;
	return 0;
}

int endpoint_reset(struct endpoint *endpoint, struct error *error)
{
	int code = endpoint_renew(endpoint, error);

	if (!code)
		alarm_clear(&endpoint->alarm);
	return code;
}
