/* SPDX-License-Identifier: MIT */
/*
 * Guesses why a case failed from the cases that passed before it.
 */
#ifndef BENCH_CLIENT_FAILURE_HINT_H
#define BENCH_CLIENT_FAILURE_HINT_H

#include "reports/result/result.h"

/*
 * If no packet of case `number` was acknowledged although the same operation passed with sizes
 * below one packet of mtu bytes, appends a hint about the path MTU to fault.
 */
void failure_hint_size(const struct result *result, size_t number, unsigned int mtu,
		       struct error *fault);

#endif
