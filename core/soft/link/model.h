/* SPDX-License-Identifier: MIT */
/*
 * The link model, as seen by one queue pair. Messages of a process are transmitted one after the
 * other. Transmission takes the length of the message divided by the bandwidth, and the message
 * arrives one latency later. The answer needs one latency, too; the data of READs is transmitted
 * one after the other, like messages. There is no contention at a receiver with several senders. A
 * queue pair with a rate limit has a model even without a link: its messages take no other time.
 * Protected by the queue pair's private lock; queue pairs share the process's bandwidth.
 */
#ifndef CORE_SOFT_LINK_MODEL_H
#define CORE_SOFT_LINK_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/soft/op/send.h"

struct soft_qp;

/* A message in flight. */
struct soft_flight {
	uint64_t left_ns;
	uint64_t arrives_ns;
	uint64_t ends_ns; /* when the sender sees its result */
	int outcome;
	bool is_lost;
	bool is_exact; /* nothing is executed before it arrives */
};

/* Minimum time to change the target's memory; 0: not known yet. */
struct soft_pace {
	uint64_t least_ns;
	uint64_t least_ps; /* per byte, for long messages */
	uint64_t least_atomic_ns;
};

/* Per queue pair. Indices are into the send queue: head <= executed <= launched <= tail. */
struct soft_model {
	struct soft_flight *flight;
	uint32_t launched;
	uint32_t executed;
	uint32_t fetches;  /* launched READs and atomics that have not ended */
	uint64_t retry_ns; /* nothing is launched before this time */
	uint64_t arrived_ns;
	uint64_t ended_ns;
	uint64_t waited_ns; /* when a post last waited for its write */
	uint64_t limit;     /* bits per second of this queue pair; 0: unlimited */
	uint64_t paced_ns;  /* until when its messages occupy that rate */
	uint64_t random;
	bool has_failed;
	struct soft_pace pace;
};

/* Per process: the times until which its sends and its incoming READ data occupy the line. */
struct soft_lines {
	_Atomic uint64_t leaving_ns;
	_Atomic uint64_t coming_ns;
	_Atomic uint32_t qps; /* created so far */
};

/* Returns 0 or a positive errno. Does nothing without a link. */
int soft_model_init(struct soft_qp *qp);
void soft_model_finish(struct soft_qp *qp);

/*
 * Limits the rate at which a queue pair sends; 0: no limit. Returns 0 or a positive errno. Call with
 * the private lock held.
 */
int soft_model_limit(struct soft_qp *qp, uint32_t kilobits_per_second);

/* Forgets everything in flight. */
void soft_model_reset(struct soft_qp *qp);

/* Computes the times of an operation launched now, and whether it is lost. */
void soft_model_launch(struct soft_qp *qp, const struct soft_operation *operation,
		       struct soft_flight *flight, uint64_t now_ns);

/* Returns how long before its arrival to execute an operation, so that it is done on arrival. */
uint64_t soft_model_lead_ns(const struct soft_qp *qp, const struct soft_operation *operation,
			    const struct soft_flight *flight);

/* Learns from the duration of an operation that began at begun_ns and has just been executed. */
void soft_model_learn(struct soft_qp *qp, const struct soft_operation *operation,
		      uint64_t begun_ns);

/* Returns whether the operation returns data, or an answer after it is executed. */
static inline bool soft_model_is_fetch(const struct soft_operation *operation)
{
	return operation->opcode == IBV_WR_RDMA_READ ||
	       operation->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       operation->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       operation->opcode == SOFT_ATOMIC_WRITE;
}

/* Returns whether the operation sends nothing. */
static inline bool soft_model_is_local(const struct soft_operation *operation)
{
	return operation->opcode == IBV_WR_BIND_MW || operation->opcode == IBV_WR_LOCAL_INV;
}

static inline struct soft_flight *soft_model_at(const struct soft_model *wire, uint32_t size,
						uint32_t index)
{
	return &wire->flight[index & (size - 1)];
}

#endif
