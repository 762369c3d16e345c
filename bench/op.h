/* SPDX-License-Identifier: MIT */
/*
 * An operation: a const descriptor in a file of its own, and a line in ops.c. Its
 * functions bind a loop shape to the operation's constants.
 */
#ifndef BENCH_OP_H
#define BENCH_OP_H

#include "bench/loop.h"
#include "reports/result.h"

struct op {
	const char *name;
	const char *summary;
	bool is_read; /* data come from the other end */
	/* What a latency is, with both ends waiting so. */
	enum result_kind (*kind)(enum rdma_wait_mode cq, enum rdma_wait_mode server_cq);
	/* Runs a latency loop at either end. */
	int (*latency)(struct lane *lane, enum result_kind kind, const struct loop_run *run,
		       struct error *error);
};

extern const struct op *const ops[];
extern const size_t n_ops;

extern const struct op op_send;
extern const struct op op_write;
extern const struct op op_read;

/* NULL for a name that is none. */
const struct op *op_find(const char *name);

/* Whether the other end's program takes part: only then is the latency half of anything. */
static inline bool op_is_answered(enum result_kind kind)
{
	return kind == RESULT_HALF;
}

#endif
