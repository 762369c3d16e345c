/* SPDX-License-Identifier: MIT */
#include "core/soft/op/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cacheline.h"
#include "core/base/random.h"
#include "core/soft/device.h"
#include "core/soft/fault/fault.h"
#include "core/soft/link/progress.h"
#include "core/soft/link/send_queue.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/event.h"
#include "core/soft/op/execute.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/round_up.h"
#include "core/soft/time.h"

/* An operation of SRD is held back with this probability, and for at most this time. */
enum {
	HELD_ONE_IN = 4,
	HELD_NS = 5000,
};

int soft_send_init(struct soft_sends *sends, struct ibv_qp_cap *cap)
{
	size_t list = cap->max_send_sge * sizeof(struct ibv_sge);

	memset(sends, 0, sizeof(*sends));
	if (cap->max_send_wr > SOFT_WR_MAX || cap->max_send_sge > SOFT_SGE_MAX ||
	    cap->max_inline_data > SOFT_INLINE_MAX)
		return EINVAL;
	sends->size = soft_power_from(cap->max_send_wr);
	if (list < cap->max_inline_data)
		list = (cap->max_inline_data + 15) & ~UINT64_C(15);
	sends->stride = (uint32_t)(sizeof(struct soft_operation) + list);
	sends->ring = cacheline_calloc(sends->size, sends->stride);
	if (!sends->ring)
		return ENOMEM;
	cap->max_send_wr = sends->size;
	cap->max_inline_data = (uint32_t)list;
	return 0;
}

void soft_send_finish(struct soft_sends *sends)
{
	free(sends->ring);
	sends->ring = NULL;
}

static enum ibv_wc_opcode completion_of(uint32_t opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
#ifdef HAVE_ATOMIC_WRITE
	case SOFT_ATOMIC_WRITE:
		return IBV_WC_ATOMIC_WRITE;
#endif
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

static ALWAYS_INLINE void complete(struct soft_qp *qp, const struct soft_operation *operation,
				   enum ibv_wc_status status, uint64_t time_ns)
{
	struct soft_cq_entry entry;

	if (status == IBV_WC_SUCCESS && !qp->is_all_signaled &&
	    !(operation->flags & IBV_SEND_SIGNALED))
		return;
	soft_cq_begin(&entry);
	entry.completion.wr_id = operation->wr_id;
	entry.completion.status = (uint8_t)status;
	entry.completion.opcode = (uint8_t)completion_of(operation->opcode);
	entry.completion.byte_len = (uint32_t)operation->length;
	entry.completion.qp_num = qp->verbs.qp_base.qp_num;
	entry.completion.time_ns = time_ns;
	soft_cq_put(&soft_process.self, qp->send_cq->number, &entry);
}

void soft_send_complete(struct soft_qp *qp, const struct soft_operation *operation,
			enum ibv_wc_status status, uint64_t time_ns)
{
	complete(qp, operation, status, time_ns);
}

/* IBTA specification, RNR NAK timer field: units of 10 microseconds. */
static uint64_t rnr_delay_ns(uint32_t timer)
{
	static const uint32_t delays[] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return delays[timer % ARRAY_LENGTH(delays)] * UINT64_C(10000);
}

/* 4.096 microseconds * 2^timeout; 0 means no timeout, so just check now and then. */
static uint64_t ack_delay_ns(const struct soft_qp *qp)
{
	return UINT64_C(4096) << (qp->attr.timeout ? qp->attr.timeout & 31 : 14);
}

bool soft_send_may_retry(struct soft_qp *qp, bool is_refused, uint32_t rnr_timer,
			 uint64_t *delay_ns)
{
	struct soft_sends *sends = &qp->sends;

	if (is_refused) {
		if (qp->attr.rnr_retry != SOFT_SEND_FOR_EVER &&
		    sends->rnr_naks >= qp->attr.rnr_retry)
			return false;
		sends->rnr_naks++;
		*delay_ns = rnr_delay_ns(rnr_timer);
	} else {
		sends->unanswered++;
		*delay_ns = ack_delay_ns(qp);
	}
	return true;
}

bool soft_send_has_given_up(const struct soft_qp *qp)
{
	return qp->attr.timeout && qp->sends.unanswered > qp->attr.retry_cnt;
}

/* Postpones the first operation. Returns false if its RNR retries are exhausted. */
static bool put_off(struct soft_qp *qp, enum soft_outcome outcome, uint32_t rnr_timer)
{
	uint64_t delay_ns;

	if (!soft_send_may_retry(qp, outcome == SOFT_REFUSED, rnr_timer, &delay_ns))
		return false;
	soft_progress_wait(qp, soft_time_ns() + delay_ns);
	return true;
}

static void advance(struct soft_qp *qp)
{
	qp->sends.head++;
	qp->sends.unanswered = 0;
	qp->sends.rnr_naks = 0;
	qp->wait_until_ns = 0;
	qp->is_held = false;
}

void soft_send_fail(struct soft_qp *qp)
{
	/* Messages of SRD fail one by one. */
	if (qp->type == SOFT_QPT_SRD)
		return;
	if (soft_qp_is_reliable(qp))
		soft_qp_fail(&soft_process.self, qp->index, SOFT_QP_NO_EVENT);
	else
		soft_qp_stop_sending(qp);
}

/* Executes the first operation. Returns whether the next one can be tried. */
static ALWAYS_INLINE bool run_first(struct soft_qp *qp)
{
	struct soft_operation *operation = soft_send_at(&qp->sends, qp->sends.head);
	uint32_t rnr_timer = 0;
	enum soft_outcome outcome = (enum soft_outcome)IBV_WC_RETRY_EXC_ERR;
	enum ibv_wc_status status;

	if (likely(!soft_send_has_given_up(qp)))
		outcome = soft_fault_execute(qp, operation, &rnr_timer);
	if (outcome == SOFT_LATER)
		return false;
	if (outcome == SOFT_REFUSED || outcome == SOFT_SILENT) {
		if (put_off(qp, outcome, rnr_timer))
			return false;
		status = IBV_WC_RNR_RETRY_EXC_ERR;
	} else {
		status = (enum ibv_wc_status)outcome;
	}
	complete(qp, operation, status, 0);
	advance(qp);
	if (status != IBV_WC_SUCCESS)
		soft_send_fail(qp);
	return true;
}

static void flush_first(struct soft_qp *qp)
{
	complete(qp, soft_send_at(&qp->sends, qp->sends.head), IBV_WC_WR_FLUSH_ERR, 0);
	advance(qp);
}

void soft_send_drained(struct soft_qp *qp)
{
	if (!qp->reports_drained)
		return;
	qp->reports_drained = false;
	soft_event_leave(&soft_process.self, IBV_EVENT_SQ_DRAINED, qp->index);
}

/* Lets another operation be the first. */
static void exchange(struct soft_sends *sends, uint32_t distance)
{
	unsigned char *first = (void *)soft_send_at(sends, sends->head);
	unsigned char *other = (void *)soft_send_at(sends, sends->head + distance);

	for (uint32_t i = 0; i < sends->stride; i++) {
		unsigned char byte = first[i];

		first[i] = other[i];
		other[i] = byte;
	}
}

/*
 * SRD delivers in any order. Now and then, the first operation waits until another one is posted,
 * which passes it, or for a while. Returns whether it waits.
 */
static COLD bool hold_back(struct soft_qp *qp)
{
	uint32_t others = qp->sends.tail - qp->sends.head - 1;

	if (!qp->is_held && random_next(&qp->chance) % HELD_ONE_IN)
		return false;
	if (!qp->is_held)
		soft_progress_wait(qp, soft_time_ns() + HELD_NS);
	qp->is_held = !others && qp->wait_until_ns > soft_time_ns();
	if (qp->is_held)
		return true;
	if (others)
		exchange(&qp->sends, 1 + (uint32_t)(random_next(&qp->chance) % others));
	qp->wait_until_ns = 0;
	return false;
}

/* Returns whether the first operation waits, to be retried or for another one to pass it. */
static ALWAYS_INLINE bool is_waiting(struct soft_qp *qp)
{
	if (unlikely(qp->type == SOFT_QPT_SRD) && (qp->is_held || !qp->wait_until_ns))
		return hold_back(qp);
	return qp->wait_until_ns && qp->wait_until_ns > soft_time_ns();
}

void soft_send_run(struct soft_qp *qp)
{
	if (unlikely(qp->wire)) {
		soft_flight_run(qp);
		return;
	}
	while (qp->sends.head != qp->sends.tail) {
		switch (atomic_load_explicit(&qp->image->state, memory_order_acquire)) {
		case IBV_QPS_ERR:
		case IBV_QPS_SQE:
			flush_first(qp);
			break;
		case IBV_QPS_RTS:
			if (is_waiting(qp))
				return;
			if (!run_first(qp))
				return;
			break;
		default:
			return;
		}
	}
	soft_send_drained(qp);
}
