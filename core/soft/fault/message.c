/* SPDX-License-Identifier: MIT */
/*
 * Applies a plan to messages and their completions. A message is counted on its first attempt. The
 * fault then acts as if the wire or the peer had caused it: an operation that fails is not
 * executed.
 */
#include <string.h>

#include "core/soft/fault/fault.h"
#include "core/soft/link/progress.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

static _Atomic uint64_t stalled_until_ns;

/* Queue pairs stopped by a fault on a receive; their later receives are flushed. */
static _Atomic uint32_t stopped[SOFT_QPS];

void soft_fault_forget_messages(void)
{
	atomic_store(&stalled_until_ns, 0);
	memset(stopped, 0, sizeof(stopped));
}

static uint32_t status_of(enum soft_fault_kind kind)
{
	const struct soft_fault *fault = soft_fault_next(kind, 0);

	return fault ? (uint32_t)fault->value : IBV_WC_SUCCESS;
}

/* Returns the status that the plan gives to a send. */
static uint32_t send_status(const struct soft_qp *qp, const struct soft_operation *operation)
{
	uint32_t status = status_of(SOFT_FAULT_SEND);
	uint32_t completion = IBV_WC_SUCCESS;

	if (qp->is_all_signaled || operation->flags & IBV_SEND_SIGNALED)
		completion = status_of(SOFT_FAULT_COMPLETION);
	return status ? status : completion;
}

static void trigger_others(void)
{
	const struct soft_fault *fault = soft_fault_next(SOFT_FAULT_LINK, 0);

	if (fault)
		soft_fault_link_down(fault->value);
	fault = soft_fault_next(SOFT_FAULT_PEER, 0);
	if (fault)
		atomic_store(&stalled_until_ns, soft_time_ns() + fault->value);
	if (soft_fault_next(SOFT_FAULT_DEVICE, 0))
		soft_fault_remove();
}

/* While the peer is stalled, it behaves as if it had no receives posted. */
static bool is_stalled(const struct soft_operation *operation)
{
	switch (operation->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return soft_time_ns() < atomic_load(&stalled_until_ns);
	default:
		return false;
	}
}

/*
 * Sends the same packets again. A reliable connection recognizes the duplicate by its PSN. An
 * unreliable connection drops packets that are out of order, and DC and SRD, which recognize the
 * duplicate, have no PSN here: do nothing.
 */
static void repeat(struct soft_qp *qp, struct soft_operation *operation, uint32_t first_psn)
{
	uint32_t next_psn = qp->attr.sq_psn;
	uint32_t rnr_timer;

	if (qp->type == IBV_QPT_UC || (soft_qp_is_reliable(qp) && soft_qp_is_addressed(qp)))
		return;
	qp->attr.sq_psn = first_psn;
	soft_execute(qp, operation, &rnr_timer);
	qp->attr.sq_psn = next_psn;
}

static enum soft_outcome attempt(struct soft_qp *qp, struct soft_operation *operation,
				 uint32_t *rnr_timer)
{
	uint32_t psn = qp->attr.sq_psn;
	enum soft_outcome outcome;

	if (soft_fault_is_removed())
		return SOFT_SILENT;
	if (soft_fault_is_down())
		return soft_qp_is_reliable(qp) ? SOFT_SILENT : SOFT_DONE;
	if (is_stalled(operation))
		return soft_execute_refuse(qp, operation, SOFT_REFUSED, rnr_timer);
	outcome = soft_execute(qp, operation, rnr_timer);
	if (outcome == SOFT_DONE && qp->sends.is_duplicated) {
		qp->sends.is_duplicated = false;
		repeat(qp, operation, psn);
	}
	return outcome;
}

enum soft_outcome soft_fault_execute_planned(struct soft_qp *qp, struct soft_operation *operation,
					     uint32_t *rnr_timer)
{
	struct soft_sends *sends = &qp->sends;
	const struct soft_fault *fault;
	uint32_t status;

	if (soft_model_is_local(operation))
		return soft_execute(qp, operation, rnr_timer);
	if (sends->counted == sends->head + 1)
		return attempt(qp, operation, rnr_timer);
	sends->counted = sends->head + 1;
	fault = soft_fault_next(SOFT_FAULT_MESSAGE, 0);
	sends->is_duplicated = fault && fault->act == SOFT_FAULT_DUPLICATE;
	trigger_others();
	status = send_status(qp, operation);
	if (status)
		return soft_execute_refuse(qp, operation, (enum soft_outcome)status, rnr_timer);
	if (fault && fault->act == SOFT_FAULT_LATE) {
		soft_progress_wait(qp, soft_time_ns() + fault->value);
		return SOFT_LATER;
	}
	return attempt(qp, operation, rnr_timer);
}

void soft_fault_poll(struct soft_completion *entry)
{
	uint32_t index = soft_image_index(entry->qp_num);
	const struct soft_qp_image *image = &soft_process.arena.image->qp[index];
	uint32_t status;

	if (!(entry->opcode & IBV_WC_RECV))
		return;
	status = status_of(SOFT_FAULT_RECEIVE);
	if (status)
		soft_fault_next(SOFT_FAULT_COMPLETION, 0);
	else
		status = status_of(SOFT_FAULT_COMPLETION);
	if (!status && entry->status == IBV_WC_SUCCESS &&
	    atomic_load(&stopped[index]) == entry->qp_num &&
	    atomic_load(&image->state) == IBV_QPS_ERR)
		status = IBV_WC_WR_FLUSH_ERR;
	else if (status)
		atomic_store(&stopped[index], entry->qp_num);
	if (!status)
		return;
	entry->status = (uint8_t)status;
	entry->carried = 0;
	soft_qp_fail(&soft_process.self, index, SOFT_QP_NO_EVENT);
}
