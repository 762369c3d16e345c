/* SPDX-License-Identifier: MIT */
/*
 * What goes together: which operation, metric and transport, and which parameters
 * with them. Decided when the plan is made, before anything runs.
 */
#ifndef BENCH_RULES_H
#define BENCH_RULES_H

#include "bench/op.h"

/* Puts a value where nobody asked for one. */
void rules_choose(const struct op *op, struct parameters *parameters);

/* Why that cannot be, as a sentence without its end; NULL: it can. */
const char *rules_refuse(const struct op *op, const struct parameters *parameters);

#endif
