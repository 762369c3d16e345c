/* SPDX-License-Identifier: MIT */
/*
 * The head of all that is shown of the software device: no reader is to take its figures
 * for those of RDMA hardware.
 */
#ifndef REPORTS_RESULT_BANNER_H
#define REPORTS_RESULT_BANNER_H

#include "reports/result/result.h"

#define BANNER_SOFT "SOFTWARE DEVICE: processors copy memory; not a measurement of RDMA hardware"

/* NULL: it is not of the software device. */
const char *banner_of(const struct result *result);

#endif
