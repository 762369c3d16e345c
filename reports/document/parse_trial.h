/* SPDX-License-Identifier: MIT */
/*
 * One trial of a case in a document, for parse_case.c, and what it cost both ends. What
 * is missing or no such figure is refused with -EINVAL and a sentence.
 */
#ifndef REPORTS_DOCUMENT_PARSE_TRIAL_H
#define REPORTS_DOCUMENT_PARSE_TRIAL_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"
#include "reports/result/result.h"

/*
 * trial is zeroed. It has latencies and rates if the case of_case has; what is imported has
 * no warm-up and no costs, and need not have taken a time that is known.
 */
int parse_trial(struct result_trial *trial, const json_t *json, const json_t *of_case,
		bool is_imported, struct error *error);

/* From "cpu" of a trial or of a case. */
int parse_trial_costs(struct result_cost *client, struct result_cost *server, const json_t *from,
		      struct error *error);

#endif
