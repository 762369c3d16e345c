/* SPDX-License-Identifier: MIT */
/*
 * Timed set-up and tear-down calls on the client, one after another, each undone before the next.
 * A sample is the time of the call alone.
 */
#ifndef BENCH_OP_TIMED_CALL_H
#define BENCH_OP_TIMED_CALL_H

#include "bench/loop/loop.h"

struct timed_call {
	const struct lane *lane;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_context *verbs;
	struct post_work receive; /* posted repeatedly */
	uint64_t posted;          /* receives posted since the queue was empty */
};

typedef int call(struct timed_call *calling, struct error *error);

struct call_kind {
	call *before; /* or NULL */
	call *timed;
	call *after; /* or NULL */
};

int timed_call_run(struct lane *lane, const struct loop_run *run, const struct call_kind *kind,
		   struct error *error);

/*
 * Returns the attributes of the queue pair that a call creates, with exactly the depths of the
 * parameters.
 */
struct ibv_qp_init_attr timed_call_queue(const struct lane *lane);

/* Shared by several operations. */
call calling_register;
call calling_deregister;

#endif
