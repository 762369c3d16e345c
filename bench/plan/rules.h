/* SPDX-License-Identifier: MIT */
/*
 * What goes together: which operation, metric and transport, and which parameters
 * with them. Decided when the plan is made, before anything runs.
 */
#ifndef BENCH_PLAN_RULES_H
#define BENCH_PLAN_RULES_H

#include "bench/plan/operation.h"

/* Of all threads: more than any device is faster for. */
#define RULES_QUEUE_PAIRS 16384
/* And of those that are connected by hand: as many as a control message holds. */
#define RULES_PAIRS_BY_HAND 4096

/* Bytes in front of a payload that hold the message's number, where messages may be lost. */
#define RULES_VERIFY_NAME 8U

/* Puts a value where nobody asked for one. */
void rules_choose(const struct operation *op, struct parameters *parameters);

/* Whether messages go to places at random, asked for or chosen. */
bool rules_is_random(const struct operation *op, const struct parameters *parameters);

/* Why that cannot be, as a sentence without its end; NULL: it can. */
const char *rules_refuse(const struct operation *op, const struct parameters *parameters);

#endif
