/* SPDX-License-Identifier: MIT */
#include "core/soft/link/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/soft/link/send_queue.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/peer.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	FEW_BYTES = 4096, /* up to this size, the kernel takes about the same time */
	CALL_NS = 120,    /* faster copies did not go through the kernel */
};

/*
 * The random sequence of a queue pair depends only on the seed and on the number of queue pairs
 * that the process created before, so that losses and jitter are reproducible.
 */
static int create(struct soft_qp *qp)
{
	struct soft_model *wire = calloc(1, sizeof(*wire));

	if (!wire)
		return ENOMEM;
	wire->flight = calloc(qp->sends.size, sizeof(*wire->flight));
	if (!wire->flight) {
		free(wire);
		return ENOMEM;
	}
	qp->wire = wire;
	wire->random = soft_process.link.seed;
	wire->random = random_next(&wire->random) + atomic_fetch_add(&soft_process.lines.qps, 1);
	wire->random = random_next(&wire->random);
	return 0;
}

int soft_model_init(struct soft_qp *qp)
{
	return soft_process.link.is_on ? create(qp) : 0;
}

int soft_model_limit(struct soft_qp *qp, uint32_t kilobits_per_second)
{
	if (!qp->wire && kilobits_per_second) {
		int result = create(qp);

		if (result)
			return result;
		soft_model_reset(qp);
	}
	if (qp->wire)
		qp->wire->limit = kilobits_per_second * UINT64_C(1000);
	return 0;
}

void soft_model_finish(struct soft_qp *qp)
{
	if (qp->wire)
		free(qp->wire->flight);
	free(qp->wire);
	qp->wire = NULL;
}

void soft_model_reset(struct soft_qp *qp)
{
	struct soft_model *wire = qp->wire;

	if (!wire)
		return;
	wire->launched = wire->executed = qp->sends.head;
	wire->fetches = 0;
	wire->retry_ns = wire->arrived_ns = wire->ended_ns = wire->paced_ns = 0;
	wire->has_failed = false;
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Returns the time to transmit that many bytes. */
static uint64_t duration_ns(uint64_t length, uint64_t bits_per_second)
{
	uint64_t bits = length * 8 * SOFT_SECOND_NS;

	return (bits + bits_per_second - 1) / bits_per_second;
}

/*
 * Returns when a message that is ready at ready_ns has passed the line. Empty messages queue, too.
 */
static uint64_t pass(_Atomic uint64_t *line, uint64_t length, uint64_t ready_ns)
{
	uint64_t rate = soft_process.link.bits_per_second;
	uint64_t before = atomic_load_explicit(line, memory_order_relaxed);
	uint64_t after;

	if (!rate)
		return ready_ns;
	do
		after = later(before, ready_ns) + duration_ns(length, rate);
	while (!atomic_compare_exchange_weak(line, &before, after));
	return after;
}

/* Returns the latency of one direction. Jitter is uniform around the configured latency. */
static uint64_t one_way(struct soft_model *wire)
{
	const struct soft_link *link = &soft_process.link;
	unsigned __int128 span = 2 * link->jitter_ns + 1;

	return link->latency_ns - link->jitter_ns +
	       (uint64_t)(random_next(&wire->random) * span >> 64);
}

/* Returns when the rate limit lets a message go that is ready at ready_ns. */
static uint64_t pace(struct soft_model *wire, uint64_t length, uint64_t ready_ns)
{
	if (likely(!wire->limit))
		return ready_ns;
	wire->paced_ns = later(wire->paced_ns, ready_ns) + duration_ns(length, wire->limit);
	return wire->paced_ns;
}

/* It is executed at once, but completes in order. */
static void launch_local(struct soft_model *wire, struct soft_flight *flight, uint64_t now_ns)
{
	wire->ended_ns = later(now_ns, wire->ended_ns);
	*flight = (struct soft_flight){
		.left_ns = now_ns,
		.arrives_ns = now_ns,
		.ends_ns = wire->ended_ns,
		.is_exact = true,
	};
}

static void launch_message(struct soft_qp *qp, const struct soft_operation *operation,
			   struct soft_flight *flight, uint64_t now_ns)
{
	struct soft_model *wire = qp->wire;
	bool is_fetch = soft_model_is_fetch(operation);
	uint64_t sent = is_fetch ? 0 : operation->length;
	uint64_t there_ns = one_way(wire);
	uint64_t back_ns = one_way(wire);

	flight->outcome = 0;
	flight->is_exact = false;
	flight->is_lost = random_next(&wire->random) < soft_process.link.loss;
	flight->left_ns =
		later(pass(&soft_process.lines.leaving_ns, sent, now_ns), pace(wire, sent, now_ns));
	flight->arrives_ns = later(flight->left_ns + there_ns, wire->arrived_ns);
	wire->arrived_ns = flight->arrives_ns;
	flight->ends_ns = flight->left_ns;
	if (soft_qp_is_reliable(qp)) {
		flight->ends_ns = flight->arrives_ns;
		if (is_fetch && !flight->is_lost)
			flight->ends_ns = pass(&soft_process.lines.coming_ns, operation->length,
					       flight->arrives_ns);
		flight->ends_ns += back_ns;
	}
	flight->ends_ns = later(flight->ends_ns, wire->ended_ns);
	wire->ended_ns = flight->ends_ns;
}

/* Messages of a queue pair do not overtake each other, and neither do their answers. */
void soft_model_launch(struct soft_qp *qp, const struct soft_operation *operation,
		       struct soft_flight *flight, uint64_t now_ns)
{
	if (soft_model_is_local(operation))
		launch_local(qp->wire, flight, now_ns);
	else
		launch_message(qp, operation, flight, now_ns);
}

/* Ignore the first sample: it includes opening a window and page faults. */
#define SEEN_ONCE UINT64_MAX

static uint64_t known(uint64_t least)
{
	return least == SEEN_ONCE ? 0 : least;
}

/* If the kernel does not make the copy, no work remains after the last byte. */
static uint64_t lead_of_few(uint64_t least_ns)
{
	return least_ns < CALL_NS ? least_ns / 8 * 7 : least_ns / 3 * 2;
}

/*
 * A receiver sees nothing before the completion, which carries its due time, so the message may
 * arrive early. A WRITE is visible as soon as it is copied, so the copy starts such that it does
 * not end early. In measurements, the last byte was never visible in the first 4/5 of the kernel's
 * time for a short copy, or 9/10 for one longer than a page. Using 2/3 is safe for all kinds of
 * short copies. An atomic reads before it writes, so 7/8 is safe.
 */
uint64_t soft_model_lead_ns(const struct soft_qp *qp, const struct soft_operation *operation,
			    const struct soft_flight *flight)
{
	const struct soft_pace *pace = &qp->wire->pace;
	uint64_t way_ns = flight->arrives_ns - flight->left_ns;
	uint64_t copy_ns = operation->length / 8;

	if (flight->is_exact || operation->opcode == IBV_WR_RDMA_READ)
		return 0;
	if (soft_model_is_fetch(operation))
		return known(pace->least_atomic_ns) / 8 * 7;
	if (operation->opcode == IBV_WR_RDMA_WRITE ||
	    operation->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		return operation->length <= FEW_BYTES
			       ? lead_of_few(known(pace->least_ns))
			       : operation->length * known(pace->least_ps) / 1000;
	if (way_ns > SOFT_FLIGHT_LEAD_NS)
		way_ns = SOFT_FLIGHT_LEAD_NS;
	return way_ns + (copy_ns < SOFT_FLIGHT_COPY_NS ? copy_ns : SOFT_FLIGHT_COPY_NS);
}

void soft_model_learn(struct soft_qp *qp, const struct soft_operation *operation, uint64_t begun_ns)
{
	const struct soft_peer *peer;
	struct soft_pace *pace = &qp->wire->pace;
	uint64_t *least = &pace->least_ns;
	uint64_t elapsed_ns;

	if (soft_model_is_fetch(operation) && operation->opcode != IBV_WR_RDMA_READ)
		least = &pace->least_atomic_ns;
	else if (operation->opcode != IBV_WR_RDMA_WRITE || !operation->length)
		return;
	elapsed_ns = soft_time_ns() - begun_ns;
	/* Copies within a process take nanoseconds, and a copy server answers much later. */
	peer = soft_peer_find(soft_image_slot(soft_qp_target_of(qp, operation)));
	if (!peer || peer->is_self || peer->copy_client)
		return;
	if (operation->length > FEW_BYTES) {
		elapsed_ns = elapsed_ns * 900 / operation->length;
		least = &pace->least_ps;
	}
	if (!*least)
		*least = SEEN_ONCE;
	else if (elapsed_ns < *least)
		*least = elapsed_ns;
}
