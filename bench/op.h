/* SPDX-License-Identifier: MIT */
/*
 * An operation: a const descriptor in a file of its own, and a line in ops.c. Its
 * functions bind a loop shape to the operation's constants.
 */
#ifndef BENCH_OP_H
#define BENCH_OP_H

#include "bench/loop.h"
#include "bench/parameters.h"
#include "reports/result.h"

struct op {
	const char *name;
	const char *summary;
	unsigned int transports; /* a bit for each one that has it */
	struct lane_shape shape;
	bool is_received; /* each takes a receive of the other end */
	/* What a latency is, with both ends waiting so. */
	enum result_kind (*kind)(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
	/* Runs a latency loop at either end. */
	int (*latency)(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		       struct error *error);
	/* Runs many at once, at the end that drives. */
	int (*bandwidth)(struct lane *lane, const struct loop_run *run, struct error *error);
};

#define OP_ON(transport) (1U << (transport))

#define OPS 8

extern const struct op *const ops[OPS];
/* Their names in the same order, NULL-terminated. */
extern const char *const op_names[];

extern const struct op op_send;
extern const struct op op_write;
extern const struct op op_read;
extern const struct op op_write_imm;
extern const struct op op_fetch_add;
extern const struct op op_compare_swap;
extern const struct op op_write_notify;
extern const struct op op_read_notify;

/* The kinds of operations of which they are always the same. */
enum result_kind op_is_full(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
enum result_kind op_is_half(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);

/* Whether the other end's program takes part: only then is the latency half of anything. */
static inline bool op_is_answered(enum result_kind kind)
{
	return kind == RESULT_HALF;
}

#endif
