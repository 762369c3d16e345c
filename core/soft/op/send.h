/* SPDX-License-Identifier: MIT */
/*
 * The send queue of a queue pair: private to its process, and emptied in order. What is
 * posted is done at once where it can be; what must wait for the other end stays, and is
 * tried again by whoever comes next: a post, a poll, the service thread's timer. All
 * under the queue pair's private lock.
 */
#ifndef CORE_SOFT_OP_SEND_H
#define CORE_SOFT_OP_SEND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct soft_qp;

/* What was posted; its pieces of memory, or its inline data, follow. */
struct soft_operation {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;
	uint32_t imm;
	uint32_t rkey;
	uint64_t remote_address;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t count;
	uint32_t is_inline;
	uint64_t length;
	/* Of a datagram. */
	uint32_t remote_qp;
	uint32_t remote_qkey;
	union ibv_gid gid;
	uint32_t sgid_index;
	uint32_t traffic_class;
	struct ibv_sge sge[];
};

struct soft_sends {
	unsigned char *ring;
	uint32_t size;
	uint32_t stride;
	uint32_t head;
	uint32_t tail;
	uint32_t silences; /* of the first, how often nothing answered */
	uint32_t refusals; /* how often there was no receive */
	/* Of a plan of faults: */
	uint32_t counted; /* the last that it knows of, from 1 */
	bool is_twice;
};

/* 0 or a positive errno; the capabilities are what was made of them. */
int soft_send_init(struct soft_sends *sends, struct ibv_qp_cap *cap);
void soft_send_finish(struct soft_sends *sends);

static inline struct soft_operation *soft_send_at(const struct soft_sends *sends, uint32_t index)
{
	return (void *)(sends->ring + (size_t)(index & (sends->size - 1)) * sends->stride);
}

/* Where the next operation is written: counted when soft_send_add() is called; NULL: full. */
static inline struct soft_operation *soft_send_next(struct soft_sends *sends)
{
	return sends->tail - sends->head < sends->size ? soft_send_at(sends, sends->tail) : NULL;
}

static inline void soft_send_add(struct soft_sends *sends)
{
	sends->tail++;
}

/* Does what can be done. */
void soft_send_run(struct soft_qp *qp);

/* Completes an operation of that queue pair, if it is one that completes. */
void soft_send_complete(struct soft_qp *qp, const struct soft_operation *operation,
			enum ibv_wc_status status);

/* After an error: reliable ones stop altogether, of others only the sending. */
void soft_send_fail(struct soft_qp *qp);

/*
 * Nothing answered the first, or, with a timer, there was no receive for it: false if that was
 * so too often, else it is looked at again after a delay.
 */
bool soft_send_may_retry(struct soft_qp *qp, bool is_refused, uint32_t rnr_timer,
			 uint64_t *delay_ns);

/* Whether nothing has answered the first as often as may be: it is not sent once more. */
bool soft_send_has_given_up(const struct soft_qp *qp);

/* Tells it, where somebody wants to know. */
void soft_send_drained(struct soft_qp *qp);

static inline void *soft_send_inline_data(struct soft_operation *operation)
{
	return operation->sge;
}

/* Appends inline data, of which the queue pair takes so many bytes at most; false: too long. */
static inline bool soft_send_add_inline(struct soft_operation *operation, uint32_t most,
					const void *from, size_t size)
{
	if (size > most - operation->length)
		return false;
	memcpy((char *)soft_send_inline_data(operation) + operation->length, from, size);
	operation->length += size;
	return true;
}

/* Sets where a datagram goes. */
static inline void soft_send_set_target(struct soft_operation *operation,
					const struct ibv_global_route *route, uint32_t number,
					uint32_t qkey)
{
	operation->remote_qp = number;
	operation->remote_qkey = qkey;
	operation->gid = route->dgid;
	operation->sgid_index = route->sgid_index;
	operation->traffic_class = route->traffic_class;
}

#endif
