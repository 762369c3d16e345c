/* SPDX-License-Identifier: MIT */
#include "core/soft/link/send_queue.h"

#include "core/soft/link/progress.h"
#include "core/soft/op/cq.h"
#include "core/soft/op/execute.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	SPIN_NS = 20000, /* longest wait in a post */
};

static struct soft_operation *operation_at(const struct soft_qp *qp, uint32_t index)
{
	return soft_send_at(&qp->sends, index);
}

static struct soft_flight *flight_at(const struct soft_qp *qp, uint32_t index)
{
	return soft_model_at(qp->wire, qp->sends.size, index);
}

bool soft_flight_has_outstanding(const struct soft_qp *qp)
{
	return qp->wire && qp->wire->launched != qp->sends.head;
}

/* Limits the operations that return data; a fenced operation waits for all of them. */
static bool may_launch(const struct soft_qp *qp, const struct soft_operation *operation)
{
	const struct soft_model *wire = qp->wire;

	if (!wire->fetches)
		return true;
	if (operation->flags & IBV_SEND_FENCE)
		return false;
	return !soft_model_is_fetch(operation) || wire->fetches < qp->attr.max_rd_atomic;
}

/* Takes back everything launched after the operation being retried; it will be launched again. */
static void take_back(struct soft_qp *qp, uint64_t retry_ns)
{
	struct soft_model *wire = qp->wire;

	while (wire->launched != wire->executed)
		wire->fetches -= soft_model_is_fetch(operation_at(qp, --wire->launched));
	wire->retry_ns = retry_ns;
}

/* An operation of SRD fails alone; any other takes the rest of the queue with it. */
static bool is_fatal(const struct soft_qp *qp, int outcome)
{
	return outcome != SOFT_DONE && qp->type != SOFT_QPT_SRD;
}

static void end_with(struct soft_qp *qp, struct soft_flight *flight, int outcome)
{
	flight->outcome = outcome;
	qp->wire->executed++;
	qp->sends.unanswered = 0;
	qp->sends.rnr_naks = 0;
	if (!is_fatal(qp, outcome))
		return;
	qp->wire->has_failed = true;
	take_back(qp, 0);
}

/* Ends the first operation with an error instead of sending it once more. */
static void give_up(struct soft_qp *qp, uint64_t now_ns)
{
	struct soft_flight *flight = flight_at(qp, qp->wire->launched);

	qp->wire->fetches += soft_model_is_fetch(operation_at(qp, qp->wire->launched));
	qp->wire->launched++;
	flight->ends_ns = now_ns;
	end_with(qp, flight, IBV_WC_RETRY_EXC_ERR);
}

static void launch(struct soft_qp *qp, uint64_t now_ns)
{
	struct soft_model *wire = qp->wire;

	if (wire->has_failed || now_ns < wire->retry_ns)
		return;
	wire->retry_ns = 0;
	if (unlikely(wire->launched == wire->executed && soft_send_has_given_up(qp))) {
		give_up(qp, now_ns);
		return;
	}
	for (; wire->launched != qp->sends.tail; wire->launched++) {
		const struct soft_operation *operation = operation_at(qp, wire->launched);

		if (!may_launch(qp, operation))
			return;
		if (soft_qp_is_addressed(qp))
			soft_execute_meet(operation);
		soft_model_launch(qp, operation, flight_at(qp, wire->launched), now_ns);
		wire->fetches += soft_model_is_fetch(operation);
	}
}

/* Handles a missing answer or a missing receive. */
static void try_again(struct soft_qp *qp, struct soft_flight *flight, enum soft_outcome outcome,
		      uint32_t rnr_timer)
{
	uint64_t now_ns = soft_time_ns();
	uint64_t delay_ns;

	if (!soft_send_may_retry(qp, outcome == SOFT_REFUSED, rnr_timer, &delay_ns)) {
		flight->ends_ns = now_ns;
		end_with(qp, flight, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	/* The RNR NAK takes one latency to come back. */
	if (outcome == SOFT_REFUSED)
		delay_ns += soft_process.link.latency_ns;
	take_back(qp, now_ns + delay_ns);
}

static void execute(struct soft_qp *qp, struct soft_flight *flight, uint64_t begun_ns)
{
	struct soft_operation *operation = operation_at(qp, qp->wire->executed);
	bool is_early = begun_ns < flight->arrives_ns;
	uint32_t rnr_timer = 0;
	enum soft_outcome outcome;

	if (flight->is_lost) {
		if (soft_qp_is_reliable(qp))
			try_again(qp, flight, SOFT_SILENT, 0);
		else
			end_with(qp, flight, SOFT_DONE);
		return;
	}
	if (is_early && !soft_execute_is_ready(qp, operation)) {
		flight->is_exact = true;
		return;
	}
	qp->arrives_ns = flight->arrives_ns;
	qp->is_early = is_early;
	outcome = soft_execute(qp, operation, &rnr_timer);
	qp->arrives_ns = 0;
	qp->is_early = false;
	if (outcome == SOFT_DONE) {
		soft_model_learn(qp, operation, begun_ns);
		end_with(qp, flight, outcome);
	} else if (outcome != SOFT_REFUSED && outcome != SOFT_SILENT) {
		end_with(qp, flight, (int)outcome);
	} else if (is_early) {
		flight->is_exact = true;
	} else {
		try_again(qp, flight, outcome, rnr_timer);
	}
}

static uint64_t begin_ns(const struct soft_qp *qp)
{
	const struct soft_flight *flight = flight_at(qp, qp->wire->executed);

	return flight->arrives_ns -
	       soft_model_lead_ns(qp, operation_at(qp, qp->wire->executed), flight);
}

static uint64_t execute_due(struct soft_qp *qp, uint64_t now_ns)
{
	struct soft_model *wire = qp->wire;
	bool has_waited = wire->waited_ns == now_ns;

	while (wire->executed != wire->launched && begin_ns(qp) <= now_ns) {
		execute(qp, flight_at(qp, wire->executed), now_ns);
		now_ns = soft_time_ns();
	}
	if (has_waited)
		wire->waited_ns = now_ns;
	return now_ns;
}

/* Returns false if an operation failed, and with it the queue pair. */
static bool end_due(struct soft_qp *qp, uint64_t now_ns)
{
	struct soft_model *wire = qp->wire;

	while (qp->sends.head != wire->executed) {
		const struct soft_flight *flight = flight_at(qp, qp->sends.head);
		const struct soft_operation *operation = operation_at(qp, qp->sends.head);

		if (now_ns < flight->ends_ns)
			break;
		wire->fetches -= soft_model_is_fetch(operation);
		soft_send_complete(qp, operation, (enum ibv_wc_status)flight->outcome,
				   flight->ends_ns);
		qp->sends.head++;
		if (is_fatal(qp, flight->outcome)) {
			soft_send_fail(qp);
			return false;
		}
	}
	return true;
}

static void flush(struct soft_qp *qp)
{
	for (; qp->sends.head != qp->sends.tail; qp->sends.head++)
		soft_send_complete(qp, operation_at(qp, qp->sends.head), IBV_WC_WR_FLUSH_ERR, 0);
	soft_model_reset(qp);
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Even if retry_ns has passed, launch() may not have run since. */
static bool awaits_retry(const struct soft_qp *qp)
{
	return qp->wire->retry_ns && qp->wire->launched != qp->sends.tail &&
	       atomic_load_explicit(&qp->image->state, memory_order_relaxed) == IBV_QPS_RTS;
}

/* Returns when there is work again, or UINT64_MAX if none is scheduled. */
static uint64_t next_ns(const struct soft_qp *qp)
{
	const struct soft_model *wire = qp->wire;
	uint64_t time_ns = UINT64_MAX;

	if (qp->sends.head != wire->executed)
		time_ns = flight_at(qp, qp->sends.head)->ends_ns;
	if (wire->executed != wire->launched)
		time_ns = sooner(time_ns, begin_ns(qp));
	if (awaits_retry(qp))
		time_ns = sooner(time_ns, wire->retry_ns);
	return time_ns;
}

/*
 * Waits briefly for a WRITE that is (nearly) the only one in flight. If the program posts the next
 * one sooner than any answer could have returned, it is streaming, so do not wait.
 */
static uint64_t wait_for_write(const struct soft_qp *qp, uint64_t now_ns)
{
	struct soft_model *wire = qp->wire;
	uint64_t until_ns;

	if (wire->launched - wire->executed != 1 || qp->sends.tail - qp->sends.head > 2 ||
	    operation_at(qp, wire->executed)->opcode != IBV_WR_RDMA_WRITE)
		return now_ns;
	until_ns = begin_ns(qp);
	if (until_ns > now_ns + SPIN_NS || 2 * (now_ns - wire->waited_ns) + now_ns < until_ns ||
	    soft_service_is_this_thread())
		return now_ns;
	while (now_ns < until_ns) {
		cpu_relax();
		now_ns = soft_time_ns();
	}
	wire->waited_ns = now_ns;
	return now_ns;
}

/* Returns false if there is nothing left to do. Updates *now_ns after long steps. */
static bool soft_send_queue_run(struct soft_qp *qp, uint64_t *now_ns)
{
	uint32_t state = atomic_load_explicit(&qp->image->state, memory_order_acquire);

	if (state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR)
		return false;
	if (state == IBV_QPS_ERR || state == IBV_QPS_SQE || !end_due(qp, *now_ns)) {
		flush(qp);
		return false;
	}
	if (state == IBV_QPS_RTS) {
		launch(qp, *now_ns);
		*now_ns = wait_for_write(qp, *now_ns);
	}
	*now_ns = execute_due(qp, *now_ns);
	return true;
}

void soft_flight_run(struct soft_qp *qp)
{
	uint64_t now_ns = soft_time_ns();
	uint64_t until_ns;

	do {
		until_ns = UINT64_MAX;
		if (!soft_send_queue_run(qp, &now_ns))
			break;
		until_ns = next_ns(qp);
	} while (until_ns <= now_ns);
	if (!soft_flight_has_outstanding(qp))
		soft_send_drained(qp);
	if (until_ns != UINT64_MAX)
		soft_progress_wait(qp, until_ns);
}

int soft_flight_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int taken = soft_cq_poll(cq, count, wc);

	soft_progress_polled();
	if (taken)
		soft_progress_poll(1);
	return taken;
}
