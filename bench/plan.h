/* SPDX-License-Identifier: MIT */
/*
 * What was asked: options as they were parsed, and the cases that are their
 * product. Const once it is made.
 */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include "bench/op.h"
#include "bench/option.h"

#define PLAN_LIST 64

struct plan_ops {
	const struct op *item[PLAN_LIST];
	size_t count;
};

struct plan_sizes {
	uint64_t item[PLAN_LIST];
	size_t count;
};

struct plan_modes {
	enum rdma_wait_mode item[PLAN_LIST];
	size_t count;
};

/* One case. Its figures are those of this and nothing else. */
struct plan_case {
	const struct op *op;
	uint64_t size;
	enum rdma_wait_mode cq;
	enum rdma_wait_mode server_cq;
	uint64_t messages;
};

struct plan {
	const char *host;
	const char *device;
	const char *server_device;
	const char *metric;
	const char *json;
	uint16_t port;
	unsigned int wait_ms;
	uint64_t messages;
	struct plan_ops ops;
	struct plan_sizes sizes;
	struct plan_modes cqs;
	struct plan_modes server_cqs; /* none: the same as the client's */
	struct plan_case *cases;
	size_t n_cases;
};

extern const struct option_table plan_options;

/* Parses a command line into a plan and makes its cases. 1: --help was asked for. */
int plan_open(struct plan *plan, int argc, char *argv[], struct error *error);
void plan_close(struct plan *plan);

const char *plan_mode_name(enum rdma_wait_mode mode);

/* Whether the name is that of a mode; if so it is put there. */
bool plan_find_mode(const char *name, enum rdma_wait_mode *mode);

/* The id of a case: a path with every parameter that is not the default. */
void plan_case_id(const struct plan_case *wanted, char *id, size_t size);

#endif
