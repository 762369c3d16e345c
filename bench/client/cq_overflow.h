/* SPDX-License-Identifier: MIT */
/*
 * Tests what a device does when a CQ overflows: creates a short CQ, adds more completions than
 * it can hold, and watches.
 */
#ifndef BENCH_CLIENT_CQ_OVERFLOW_H
#define BENCH_CLIENT_CQ_OVERFLOW_H

#include "reports/result/result.h"

/*
 * Uses the client's device and queue pairs of its own. Sets *seen to the object for the document;
 * if the test could not run, the object holds the reason.
 */
void cq_overflow_note(const struct result_end *end, json_t **seen);

#endif
