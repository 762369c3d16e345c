/* SPDX-License-Identifier: MIT */
/* Decides which parameters affect an operation. All others keep their defaults in its cases. */
#ifndef BENCH_PLAN_APPLICABLE_H
#define BENCH_PLAN_APPLICABLE_H

#include "bench/plan/operation.h"

/* Resets parameters that do not affect the operation, so that they do not create distinct cases. */
void applicable_keep(const struct operation *op, struct parameters *wanted);

/* Whether the operation uses the client's, or the server's, chosen kind of memory. */
bool applicable_memory(const struct operation *op, const struct parameters *unused);
bool applicable_server_memory(const struct operation *op, const struct parameters *unused);

bool applicable_breakdown(const struct operation *op, const struct parameters *wanted);
bool applicable_registration(const struct operation *op, const struct parameters *wanted);

bool applicable_receives(const struct operation *op, const struct parameters *wanted);
bool applicable_rate_limit(const struct operation *op, const struct parameters *unused);
bool applicable_moderation(const struct operation *op, const struct parameters *wanted);

/* Returns whether a device writes to the operation's memory, or the operation registers memory. */
bool applicable_ordering(const struct operation *op, const struct parameters *wanted);

#endif
