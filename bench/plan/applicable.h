/* SPDX-License-Identifier: MIT */
/* Which parameters an operation hears of: the others are at their defaults in its cases. */
#ifndef BENCH_PLAN_APPLICABLE_H
#define BENCH_PLAN_APPLICABLE_H

#include "bench/plan/operation.h"

/* Drops what it is not told, so that its cases are the same whatever that is. */
void applicable_keep(const struct operation *op, struct parameters *wanted);

bool applicable_registration(const struct operation *op, const struct parameters *wanted);

/* Whether it has memory that a device writes to, or registers some. */
bool applicable_ordering(const struct operation *op, const struct parameters *wanted);

#endif
