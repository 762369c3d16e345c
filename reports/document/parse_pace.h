/* SPDX-License-Identifier: MIT */
/* Reads the "load" member of a case and of a trial from a document. Errors: -EINVAL, -ENOMEM. */
#ifndef REPORTS_DOCUMENT_PARSE_PACE_H
#define REPORTS_DOCUMENT_PARSE_PACE_H

#include "reports/result/result.h"

/* Reads the figures of a case that has its trials. The case owns them. */
int parse_pace(struct result_case *line, const json_t *json, struct error *error);

int parse_pace_trial(struct pace_trial *trial, const json_t *json, struct error *error);

#endif
