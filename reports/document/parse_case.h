/* SPDX-License-Identifier: MIT */
/*
 * Parses a case of a document, for parse.c: its parameters, trials and figures. The figures must
 * be consistent with the trials.
 */
#ifndef REPORTS_DOCUMENT_PARSE_CASE_H
#define REPORTS_DOCUMENT_PARSE_CASE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* line is zeroed; words are added to texts. On failure line is partly filled. */
int parse_case(struct result_case *line, json_t *json, json_t *texts, struct error *error);

/* Parses the status of a case or a run, such as "complete". */
int parse_status(enum result_status *status, const json_t *object, struct error *error);

#endif
