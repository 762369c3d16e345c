/* SPDX-License-Identifier: MIT */
/*
 * The send queue of a queue pair, private to its process and processed in order. An operation is
 * executed when posted if possible. One that must wait for the target stays queued and is retried
 * by the next post, poll or timer of the service thread. All functions need the queue pair's
 * private lock.
 */
#ifndef CORE_SOFT_OP_SEND_H
#define CORE_SOFT_OP_SEND_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct soft_qp;

/* An atomic write, whose name older versions of verbs.h lack. Programs can post it by ibv_wr_*. */
#define SOFT_ATOMIC_WRITE 15

/* A posted work request. Its scatter/gather list, or its inline data, follows. */
struct soft_operation {
	uint64_t wr_id;
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;
	uint32_t imm; /* or the key to invalidate */
	uint32_t rkey;
	uint64_t remote_address;
	union {
		uint64_t compare_add;
		struct ibv_mw *mw; /* to bind */
	};
	uint64_t swap;
	uint32_t count;
	uint32_t is_inline;
	uint64_t length;
	union {
		/* Only if each request names its peer: see soft_qp_is_addressed(). */
		struct {
			uint32_t remote_qp;
			uint32_t remote_qkey;
			uint64_t dc_key;
			union ibv_gid gid;
			uint32_t sgid_index;
			uint32_t traffic_class;
		};
		uint32_t remote_srq;           /* XRC only */
		struct ibv_mw_bind_info bound; /* to a memory window */
	};
	struct ibv_sge sge[];
};

/* The value of rnr_retry that means no limit. */
#define SOFT_SEND_FOR_EVER 7

struct soft_sends {
	unsigned char *ring;
	uint32_t size;
	uint32_t stride;
	uint32_t head;
	uint32_t tail;
	uint32_t unanswered; /* of the first operation: attempts without an answer */
	uint32_t rnr_naks;   /* attempts without a receive at the target */
	/* For fault plans: */
	uint32_t counted; /* the last operation that the plan has counted, from 1 */
	bool is_duplicated;
};

/* Returns 0 or a positive errno. Updates the capabilities to the actual sizes. */
int soft_send_init(struct soft_sends *sends, struct ibv_qp_cap *cap);
void soft_send_finish(struct soft_sends *sends);

static inline struct soft_operation *soft_send_at(const struct soft_sends *sends, uint32_t index)
{
	return (void *)(sends->ring + (size_t)(index & (sends->size - 1)) * sends->stride);
}

/*
 * Returns where to write the next operation, or NULL if the queue is full. It is queued by
 * soft_send_add().
 */
static inline struct soft_operation *soft_send_next(struct soft_sends *sends)
{
	return sends->tail - sends->head < sends->size ? soft_send_at(sends, sends->tail) : NULL;
}

static inline void soft_send_add(struct soft_sends *sends)
{
	sends->tail++;
}

/* Executes what can be executed. */
void soft_send_run(struct soft_qp *qp);

/*
 * Puts the completion of an operation, unless it is successful and unsignaled. time_ns is when the
 * operation completed; 0: now.
 */
void soft_send_complete(struct soft_qp *qp, const struct soft_operation *operation,
			enum ibv_wc_status status, uint64_t time_ns);

/*
 * Handles a failed operation: a reliable queue pair enters the error state, others only stop
 * sending.
 */
void soft_send_fail(struct soft_qp *qp);

/*
 * Counts a failed attempt at the first operation: no receive at the target (is_refused), or no
 * answer. Returns false if RNR retries are exhausted, else sets the delay before the next attempt.
 */
bool soft_send_may_retry(struct soft_qp *qp, bool is_refused, uint32_t rnr_timer,
			 uint64_t *delay_ns);

/* Returns whether the first operation has exhausted its retries without an answer. */
bool soft_send_has_given_up(const struct soft_qp *qp);

/* Reports that the send queue is drained, if requested. */
void soft_send_drained(struct soft_qp *qp);

static inline void *soft_send_inline_data(struct soft_operation *operation)
{
	return operation->sge;
}

/* Appends inline data. Returns false if that would exceed `most` bytes. */
static inline bool soft_send_add_inline(struct soft_operation *operation, uint32_t most,
					const void *from, size_t size)
{
	if (size > most - operation->length)
		return false;
	memcpy((char *)soft_send_inline_data(operation) + operation->length, from, size);
	operation->length += size;
	return true;
}

/* Sets the destination of a request. */
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
