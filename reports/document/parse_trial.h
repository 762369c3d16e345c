/* SPDX-License-Identifier: MIT */
/*
 * Parses a trial of a case, for parse_case.c, and its costs on both sides. Missing or invalid
 * members are rejected with -EINVAL and an error.
 */
#ifndef REPORTS_DOCUMENT_PARSE_TRIAL_H
#define REPORTS_DOCUMENT_PARSE_TRIAL_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"
#include "reports/result/result.h"

/*
 * Parses a trial into a zeroed struct. It has latencies and rates if the case (of_case) has them.
 * An imported trial has no warm-up and no costs, and its duration may be unknown.
 */
int parse_trial(struct result_trial *trial, const json_t *json, const json_t *of_case,
		bool is_imported, struct error *error);

/* Parses the "cpu" member of a trial or a case. */
int parse_trial_costs(struct result_cost *client, struct result_cost *server, const json_t *from,
		      struct error *error);

#endif
