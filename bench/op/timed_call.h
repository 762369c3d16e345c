/* SPDX-License-Identifier: MIT */
/*
 * Calls that set something up, or take it away: made by the end that drives, one after
 * another, each undone before the next. A sample is the time of the call alone.
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
	struct post_work receive; /* that is posted again and again, */
	uint64_t posted;          /* so often since there was none */
};

typedef int call(struct timed_call *calling, struct error *error);

struct call_kind {
	call *before; /* or NULL */
	call *timed;
	call *after; /* or NULL */
};

int timed_call_run(struct lane *lane, const struct loop_run *run, const struct call_kind *kind,
		   struct error *error);

/* The queue pair that such a call makes: as the parameters have it, and nothing more. */
struct ibv_qp_init_attr timed_call_queue(const struct lane *lane);

/* What several of them do. */
call calling_register;
call calling_deregister;

#endif
