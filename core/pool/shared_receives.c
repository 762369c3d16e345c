/* SPDX-License-Identifier: MIT */
#include "core/pool/shared_receives.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/verbs/verbs.h"

/* Fractions of the receives: kept in reserve, and the level that counts as low. */
#define KEPT 4
#define LOW  4

static bool concerns(const struct shared_receives *mailbox, const struct ibv_async_event *event)
{
	switch ((int)event->event_type) {
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq == mailbox->srq;
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return event->element.qp->srq == mailbox->srq;
	case IBV_EVENT_CQ_ERR:
		return event->element.cq == mailbox->cq;
	case IBV_EVENT_DEVICE_FATAL:
		return true;
	default:
		return false;
	}
}

static void handle(struct async *async, const struct ibv_async_event *event)
{
	struct shared_receives *mailbox = CONTAINER_OF(async, struct shared_receives, async);
	uint64_t one = 1;

	if (event && !concerns(mailbox, event))
		return;
	/* The queue pair exists until the event is acknowledged. */
	if (event && event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
		atomic_store((atomic_bool *)event->element.qp->qp_context, true);
	else if (event && event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		atomic_store(&mailbox->is_low, true);
	else
		atomic_store(&mailbox->is_broken, true);
	if (write(mailbox->wake, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static int post(struct shared_receives *mailbox, uint32_t number)
{
	struct ibv_sge sge = {.addr = mailbox->memory.address + (uint64_t)number * POOL_MESSAGE,
			      .length = POOL_MESSAGE,
			      .lkey = mailbox->mr->lkey};
	struct ibv_recv_wr wr = {
		.wr_id = SHARED_RECEIVES_RECEIVE | number, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	return verbs_result(ibv_post_srq_recv(mailbox->srq, &wr, &bad));
}

static int fail(struct error *error, int code)
{
	return error_set_errno(error, code, "cannot post a shared receive");
}

/*
 * Requests an event when few receives are left. Not all devices support it; see
 * shared_receives_give.
 */
static void arm(struct shared_receives *mailbox)
{
	struct ibv_srq_attr attr = {.srq_limit = mailbox->depth / LOW};

	ibv_modify_srq(mailbox->srq, &attr, IBV_SRQ_LIMIT);
}

static int fill(struct shared_receives *mailbox, struct error *error)
{
	uint32_t posted = mailbox->depth - mailbox->depth / KEPT;
	int code = 0;

	for (uint32_t i = 0; i < posted && !code; i++)
		code = post(mailbox, i);
	for (uint32_t i = posted; i < mailbox->depth; i++)
		mailbox->reserve[mailbox->n_reserve++] = i;
	if (code)
		return fail(error, code);
	arm(mailbox);
	return 0;
}

static int build(struct shared_receives *mailbox, struct ibv_pd *pd, struct error *error)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = mailbox->depth, .max_sge = 1}
        };
	int code =
		memory_open(&mailbox->memory, &memory_host,
			    &(struct memory_request){.size = (size_t)mailbox->depth * POOL_MESSAGE,
						     .numa_node = -1},
			    error);

	if (code)
		return code;
	mailbox->mr = memory_register(&mailbox->memory, 0, (size_t)mailbox->depth * POOL_MESSAGE,
				      pd, IBV_ACCESS_LOCAL_WRITE, error);
	if (!mailbox->mr)
		return error->code;
	mailbox->srq = ibv_create_srq(pd, &attr);
	if (!mailbox->srq)
		return verbs_memory_error(error, verbs_null(), "create a shared receive queue");
	mailbox->reserve = calloc(mailbox->depth, sizeof(*mailbox->reserve));
	if (!mailbox->reserve)
		return error_set_errno(error, -ENOMEM, "cannot create a pool");
	mailbox->async = (struct async){.verbs = pd->context, .handle = handle};
	code = async_add(&mailbox->async, error);
	return code ? code : fill(mailbox, error);
}

int shared_receives_open(struct shared_receives *mailbox, struct ibv_pd *pd,
			 const struct ibv_cq *cq, uint32_t depth, struct error *error)
{
	int code;

	*mailbox = (struct shared_receives){.depth = depth, .cq = cq};
	mailbox->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (mailbox->wake < 0) {
		mailbox->wake = 0;
		return error_set_errno(error, -errno, "cannot create an eventfd");
	}
	code = build(mailbox, pd, error);
	if (code)
		shared_receives_close(mailbox);
	return code;
}

int shared_receives_close(struct shared_receives *mailbox)
{
	int first = 0;
	int code = 0;

	async_remove(&mailbox->async);
	if (mailbox->srq)
		first = verbs_result(ibv_destroy_srq(mailbox->srq));
	if (mailbox->mr)
		code = verbs_result(ibv_dereg_mr(mailbox->mr));
	free(mailbox->reserve);
	memory_close(&mailbox->memory);
	if (mailbox->wake)
		close(mailbox->wake);
	*mailbox = (struct shared_receives){0};
	return first ? first : code;
}

int shared_receives_look(struct shared_receives *mailbox, struct error *error)
{
	uint64_t count;
	int code = 0;

	if (read(mailbox->wake, &count, sizeof(count)) < 0)
		return 0;
	if (atomic_load(&mailbox->is_broken))
		return error_set(
			error, -EIO,
			"the completion queue overran, or the shared receive queue or the device failed");
	if (!atomic_exchange(&mailbox->is_low, false))
		return 0;
	mailbox->n_low++;
	while (mailbox->n_reserve && !code)
		code = post(mailbox, mailbox->reserve[--mailbox->n_reserve]);
	return code ? fail(error, code) : 0;
}

const uint8_t *shared_receives_at(const struct shared_receives *mailbox, uint64_t wr_id)
{
	return (const uint8_t *)mailbox->memory.cpu +
	       (wr_id & ~SHARED_RECEIVES_RECEIVE) * POOL_MESSAGE;
}

/* Refills the reserve first, and then requests the next event. */
int shared_receives_give(struct shared_receives *mailbox, uint64_t wr_id, struct error *error)
{
	uint32_t number = (uint32_t)(wr_id & ~SHARED_RECEIVES_RECEIVE);
	int code;

	if (mailbox->n_reserve < mailbox->depth / KEPT) {
		mailbox->reserve[mailbox->n_reserve++] = number;
		if (mailbox->n_reserve == mailbox->depth / KEPT)
			arm(mailbox);
		return 0;
	}
	code = post(mailbox, number);
	return code ? fail(error, code) : 0;
}
