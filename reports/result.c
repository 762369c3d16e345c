/* SPDX-License-Identifier: MIT */
#include "reports/result.h"

#include <stdlib.h>

const char *result_status_name(enum result_status status)
{
	static const char *const names[] = {
		[RESULT_INTERRUPTED] = "interrupted",
		[RESULT_COMPLETE] = "complete",
		[RESULT_FAILED] = "failed",
	};

	return names[status];
}

const char *result_kind_name(enum result_kind kind)
{
	static const char *const names[] = {
		[RESULT_HALF] = "half",
		[RESULT_FULL] = "full",
		[RESULT_COMPLETION] = "completion",
	};

	return names[kind];
}

void result_finish(struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++)
		free(result->cases[i].latency);
	free(result->cases);
	json_decref(result->command);
	*result = (struct result){0};
}
