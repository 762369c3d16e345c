/* SPDX-License-Identifier: MIT */
/*
 * Which operations, metrics, transports and parameters can be combined. Checked when the plan is
 * made, before anything runs.
 */
#ifndef BENCH_PLAN_RULES_H
#define BENCH_PLAN_RULES_H

#include "bench/plan/operation.h"

/* Limit on the queue pairs of all threads: no device gets faster with more. */
#define RULES_QUEUE_PAIRS 16384
/* Limit with --connect qp: the number of addresses that fit into a control message. */
#define RULES_PAIRS_BY_HAND 4096

/* Bytes at the start of a payload that hold the message number if messages can be lost. */
#define RULES_VERIFY_NAME 8U

/* Returns why these parameters are impossible, or NULL. */
const char *rules_refuse(const struct operation *op, const struct parameters *parameters);

#endif
