/* SPDX-License-Identifier: MIT */
/*
 * An operation: a const descriptor in a file of its own, and a line in OP_TABLE. Its
 * loops are shapes bound to the operation's constants.
 */
#ifndef BENCH_OP_OP_H
#define BENCH_OP_OP_H

#include "bench/loop/loop.h"
#include "bench/plan/parameters.h"
#include "reports/result/result.h"

/* What LOOP_BIND makes. */
typedef int op_loop(struct lane *lane, const struct loop_run *run, struct error *error);

/* What a call that is timed is told of what messages have, a bit each. */
#define OP_TAKES_SIZE   (1U << 0)
#define OP_TAKES_CQ     (1U << 1)
#define OP_TAKES_TX     (1U << 2)
#define OP_TAKES_RX     (1U << 3)
#define OP_TAKES_INLINE (1U << 4)
#define OP_TAKES_SGE    (1U << 5)
#define OP_TAKES_SRQ    (1U << 6)
/* Whatever a queue pair is made of. */
#define OP_TAKES_PAIR (OP_TAKES_TX | OP_TAKES_RX | OP_TAKES_INLINE | OP_TAKES_SGE | OP_TAKES_SRQ)

struct op {
	const char *name;
	const char *summary;
	unsigned int transports; /* a bit for each one that has it */
	struct lane_shape shape;
	unsigned int takes; /* OP_TAKES_..., of calls */
	bool is_received;   /* each, or each that rings, takes a receive of the other end */
	/* What a latency is, with both ends waiting so. */
	enum result_kind (*kind)(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
	op_loop *latency;    /* at either end */
	op_loop *completion; /* instead of it, where the kind is RESULT_COMPLETION */
	/* NULL where the rules refuse it. */
	op_loop *bandwidth; /* many at once, at the end that drives */
	op_loop *load;      /* at a rate, there too */
};

#define OP_ON(transport) (1U << (transport))

/* All of them in their order: EACH(NAME, WORD) for op_NAME, which users know as WORD. */
#define OP_TABLE(EACH)                     \
	EACH(send, "send")                 \
	EACH(write, "write")               \
	EACH(read, "read")                 \
	EACH(write_imm, "write-imm")       \
	EACH(fetch_add, "fetch-add")       \
	EACH(compare_swap, "compare-swap") \
	EACH(write_notify, "write-notify") \
	EACH(read_notify, "read-notify")   \
	EACH(doorbell, "doorbell")         \
	EACH(alloc, "alloc")               \
	EACH(register, "register")         \
	EACH(deregister, "deregister")     \
	EACH(create_qp, "create-qp")       \
	EACH(create_cq, "create-cq")       \
	EACH(open_device, "open-device")   \
	EACH(alloc_pd, "alloc-pd")         \
	EACH(post_send, "post-send")       \
	EACH(post_recv, "post-recv")       \
	EACH(poll_cq, "poll-cq")           \
	EACH(connect, "connect")

#define OP_DECLARE(name, word) extern const struct op op_##name;
OP_TABLE(OP_DECLARE)

extern const struct op *const ops[];
/* Their names in the same order, NULL-terminated. */
extern const char *const op_names[];

/* The kinds of operations of which they are always the same. */
enum result_kind op_is_full(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
enum result_kind op_is_half(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
enum result_kind op_is_call(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);

/* Whether what is timed is a call of the end that drives. */
static inline bool op_is_timed_call(const struct op *op)
{
	return op->kind == op_is_call;
}

/* The loop of such a latency, at the end that drives. */
static inline op_loop *op_latency(const struct op *op, enum result_kind kind)
{
	return kind == RESULT_COMPLETION ? op->completion : op->latency;
}

/* Whether the other end's program takes part: it says the same, grants, or accepts. */
static inline bool op_is_answered(const struct op *op, enum result_kind kind)
{
	return kind == RESULT_HALF || op->shape.is_granted || op->shape.connects;
}

#endif
