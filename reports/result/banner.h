/* SPDX-License-Identifier: MIT */
/*
 * The heading of everything shown about the software device, so that no reader mistakes its
 * figures for those of RDMA hardware.
 */
#ifndef REPORTS_RESULT_BANNER_H
#define REPORTS_RESULT_BANNER_H

#include "reports/result/result.h"

#define BANNER_SOFT "SOFTWARE DEVICE: CPUs copy the data; not a measurement of RDMA hardware"

/* Returns the banner if the client or the server used the software device, otherwise NULL. */
const char *banner_of(const struct result *result);

/*
 * Returns whether tables show times. They do not if the software device ran tips or --needs: its
 * speed must not decide how to write a program.
 */
bool banner_allows_times(const struct result *result);

#endif
