/* SPDX-License-Identifier: MIT */
/*
 * The modelled link as a queue pair meets it. A message leaves when what this process
 * sent before it has left, takes its length times the rate to do so, and arrives one
 * latency later; its answer takes the same way back. What is read is sent by the other
 * end, one message after the other, too. Nothing waits at who receives from several.
 * Under the queue pair's private lock; two queue pairs share what a process may send.
 */
#ifndef CORE_SOFT_LINK_MODEL_H
#define CORE_SOFT_LINK_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/op/send.h"

struct soft_qp;

/* One message on its way. */
struct soft_flight {
	uint64_t left_ns;
	uint64_t arrives_ns;
	uint64_t ends_ns; /* when its sender hears of it */
	int outcome;
	bool is_lost;
	bool is_exact; /* nothing of it is done before it arrives */
};

/* What changing the target's memory takes at the least; 0: not known yet. */
struct soft_pace {
	uint64_t least_ns;
	uint64_t least_ps; /* of a byte, where there are many */
	uint64_t least_atomic_ns;
};

/* Of a queue pair. Indices are the send queue's: head <= executed <= launched <= tail. */
struct soft_model {
	struct soft_flight *flight;
	uint32_t launched;
	uint32_t executed;
	uint32_t fetches;  /* that were launched, and have not ended */
	uint64_t retry_ns; /* nothing is launched before */
	uint64_t arrived_ns;
	uint64_t ended_ns;
	uint64_t stayed_ns; /* when a post last waited for its write */
	uint64_t random;
	bool has_failed;
	struct soft_pace pace;
};

/* Of a process: until when what it sends, and what it reads, is under way. */
struct soft_lines {
	_Atomic uint64_t leaving_ns;
	_Atomic uint64_t coming_ns;
	_Atomic uint32_t qps; /* that there were */
};

/* Returns 0 or a positive errno. Without a link there is nothing to be made. */
int soft_model_init(struct soft_qp *qp);
void soft_model_finish(struct soft_qp *qp);

/* Forgets what is under way. */
void soft_model_reset(struct soft_qp *qp);

/* What becomes of an operation that is launched now. */
void soft_model_launch(struct soft_qp *qp, const struct soft_operation *operation,
		       struct soft_flight *flight, uint64_t now_ns);

/* How long before its arrival it is to be executed, so that it is done then. */
uint64_t soft_model_lead_ns(const struct soft_qp *qp, const struct soft_operation *operation,
			    const struct soft_flight *flight);

/* An operation that was begun then has been executed now. */
void soft_model_learn(struct soft_qp *qp, const struct soft_operation *operation,
		      uint64_t begun_ns);

/* Whether it brings something back. */
static inline bool soft_model_is_fetch(const struct soft_operation *operation)
{
	return operation->opcode == IBV_WR_RDMA_READ ||
	       operation->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       operation->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static inline struct soft_flight *soft_model_at(const struct soft_model *wire, uint32_t size,
						uint32_t index)
{
	return &wire->flight[index & (size - 1)];
}

#endif
