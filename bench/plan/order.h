/* SPDX-License-Identifier: MIT */
/* Rules for transports whose messages arrive and complete in any order. */
#ifndef BENCH_PLAN_ORDER_H
#define BENCH_PLAN_ORDER_H

#include "bench/plan/operation.h"

/* Returns why the case needs an order that its transport does not give, or NULL. */
const char *order_refuse(const struct operation *op, const struct parameters *parameters);

#endif
