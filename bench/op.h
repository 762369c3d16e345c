/* SPDX-License-Identifier: MIT */
/*
 * An operation: a const descriptor in a file of its own, and a line in OP_TABLE. Its
 * loops are shapes bound to the operation's constants.
 */
#ifndef BENCH_OP_H
#define BENCH_OP_H

#include "bench/loop.h"
#include "bench/parameters.h"
#include "reports/result.h"

/* What LOOP_BIND makes. */
typedef int op_loop(struct lane *lane, const struct loop_run *run, struct error *error);

struct op {
	const char *name;
	const char *summary;
	unsigned int transports; /* a bit for each one that has it */
	struct lane_shape shape;
	bool is_received; /* each, or each that rings, takes a receive of the other end */
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
