/* SPDX-License-Identifier: MIT */
/*
 * One case of a document, for load.c: its parameters, its trials, and its figures,
 * which have to be what the trials add up to.
 */
#ifndef REPORTS_DOCUMENT_PARSE_CASE_H
#define REPORTS_DOCUMENT_PARSE_CASE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* line is zeroed; words are added to texts. Where it fails, line is half full. */
int parse_case(struct result_case *line, json_t *json, json_t *texts, struct error *error);

/* "complete" and so on, of a case or of a run. */
int parse_status(enum result_status *status, const json_t *object, struct error *error);

#endif
