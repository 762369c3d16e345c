/* SPDX-License-Identifier: MIT */
#include "bench/client/case_results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/control/protocol.h"

void case_results_note_skipped(const struct plan_case *wanted, struct result_case *found)
{
	if (!wanted->skipped[0])
		return;
	found->status = RESULT_SKIPPED;
	snprintf(found->error, sizeof(found->error), "%s", wanted->skipped);
}

static void make_case(const struct plan *plan, const struct plan_case *wanted,
		      struct result_case *found)
{
	const struct parameters *p = &wanted->parameters;

	snprintf(found->id, sizeof(found->id), "%s", wanted->id);
	found->op = operation_names[wanted->parameters.op];
	found->metric = parameter_word("metric", p->metric);
	found->cq = parameter_word("cq", p->cq);
	found->server_cq = parameter_word("cq", p->server_cq);
	found->transport = parameter_word("transport", p->transport);
	found->size = p->size;
	found->kind = p->metric == METRIC_LAT ? wanted->kind : RESULT_COMPLETION;
	found->parameters = json_object();
	parameters_encode(p, found->parameters);
	if (wanted->by) {
		snprintf(found->beside, sizeof(found->beside), "%s",
			 plan->cases[wanted->beside].id);
		found->by = wanted->by->option.name;
	}
	case_results_note_skipped(wanted, found);
}

int case_results_make(const struct plan *plan, struct result *result, struct error *error)
{
	result->cases = calloc(plan->n_cases, sizeof(*result->cases));
	if (!result->cases)
		return error_set_errno(error, -ENOMEM, "cannot store the results");
	result->n_cases = plan->n_cases;
	for (size_t i = 0; i < plan->n_cases; i++)
		make_case(plan, &plan->cases[i], &result->cases[i]);
	return 0;
}

enum result_status case_results_status(const struct error *error)
{
	if (!error->code)
		return RESULT_COMPLETE;
	/* The run was ended by the user or the server; the case itself did not fail. */
	if (error->code == -EINTR || error->code == -ESHUTDOWN)
		return RESULT_INTERRUPTED;
	/* The device lacks a feature: the case is skipped, as if the transport lacked it. */
	if (error->code == -EOPNOTSUPP || error->code == PROTOCOL_UNSUPPORTED)
		return RESULT_SKIPPED;
	return RESULT_FAILED;
}
