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

#endif
