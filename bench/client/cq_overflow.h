/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a completion queue that is too short: one is made, filled by more
 * completions than it has room for, and watched.
 */
#ifndef BENCH_CLIENT_CQ_OVERFLOW_H
#define BENCH_CLIENT_CQ_OVERFLOW_H

#include "reports/result/result.h"

/*
 * On the client's device, by queue pairs of its own. *seen: what documents have of it, if
 * only why it could not be tried.
 */
void cq_overflow_note(const struct result_end *end, json_t **seen);

#endif
