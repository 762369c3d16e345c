/* SPDX-License-Identifier: MIT */
/*
 * What a case that failed may owe to, judged by those that went well before it.
 */
#ifndef BENCH_CLIENT_FAILURE_HINT_H
#define BENCH_CLIENT_FAILURE_HINT_H

#include "reports/result/result.h"

/*
 * Where nothing was acknowledged, and messages of smaller sizes than one packet of mtu
 * bytes were: puts that behind the fault of the case of that number.
 */
void failure_hint_size(const struct result *result, size_t number, unsigned int mtu,
		       struct error *fault);

#endif
