/* SPDX-License-Identifier: MIT */
/*
 * The loops of each operation: a const op_NAME, in its own file, for each line of OPERATION_LIST.
 * They are loop shapes bound to the operation's constants.
 */
#ifndef BENCH_OP_OP_H
#define BENCH_OP_OP_H

#include "bench/loop/loop.h"
#include "bench/plan/operation.h"

/* A loop, as LOOP_BIND defines it. */
typedef int op_loop(struct lane *lane, const struct loop_run *run, struct error *error);

struct op_loops {
	op_loop *latency;    /* for client and server */
	op_loop *completion; /* instead of latency where the kind is RESULT_COMPLETION */
	/* For the client; NULL if the rules reject the metric. */
	op_loop *bandwidth; /* many operations in flight */
	op_loop *load;      /* at a given rate */
};

#define OP_DECLARE(number, name, ...) extern const struct op_loops op_##name;
OPERATION_LIST(OP_DECLARE)

const struct op_loops *op_loops_of(const struct operation *op);

/* Returns the client's loop for latencies of that kind. */
op_loop *op_latency(const struct operation *op, enum result_kind kind);

#endif
