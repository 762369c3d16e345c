/* SPDX-License-Identifier: MIT */
/* Reads the "breakdown_ns" member of a case that has its latencies. Errors: -EINVAL, -ENOMEM. */
#ifndef REPORTS_DOCUMENT_PARSE_BREAKDOWN_H
#define REPORTS_DOCUMENT_PARSE_BREAKDOWN_H

#include "reports/result/result.h"

/* The case owns the figures. */
int parse_breakdown(struct result_case *line, const json_t *json, struct error *error);

#endif
