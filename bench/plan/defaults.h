/* SPDX-License-Identifier: MIT */
/* The values of parameters that were not given. */
#ifndef BENCH_PLAN_DEFAULTS_H
#define BENCH_PLAN_DEFAULTS_H

#include "bench/plan/operation.h"

/* The default of --trials: a confidence interval needs six. */
#define DEFAULTS_TRIALS 6

/* Chooses values for parameters that were not given. */
void defaults_choose(const struct operation *op, struct parameters *parameters);

/* Returns whether messages go to random places, by request or by default. */
bool defaults_is_random(const struct operation *op, const struct parameters *parameters);

#endif
