/* SPDX-License-Identifier: MIT */
#include "bench/cmd/compare_history.h"

#include <errno.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cmd/history_db.h"
#include "reports/history/baseline.h"

static enum command_status add_run(struct comparison *comparison, struct history *history,
				   const struct history_name *name, struct error *error)
{
	struct result result;

	if (history_baseline_load(&result, history, name, error)) {
		inputs_name_error(error);
		return COMMAND_FAILED;
	}
	return compare_sides_add(comparison, COMPARE_BASE, &result, name->text, error);
}

/* Returns the oldest run of a side. */
static const struct result *oldest(const struct compare_runs *side)
{
	const struct result *result = &side->runs[0].result;

	for (size_t i = 1; i < side->count; i++)
		if (strcmp(side->runs[i].result.started, result->started) < 0)
			result = &side->runs[i].result;
	return result;
}

static int no_run(const struct history *history, const struct result *result, struct error *error)
{
	if (!result->started[0])
		return error_set(error, -ENODATA,
				 "NEW has no start time; import it again with --started TIME");
	return error_set(error, -ENODATA,
			 "%s has no earlier run of the same setup; see 'verbmark history list'",
			 history->path);
}

static enum command_status add_baseline(struct comparison *comparison, struct history *history,
					size_t most, struct error *error)
{
	const struct result *result = oldest(&comparison->sides[COMPARE_NEW]);
	struct history_baseline baseline;
	enum command_status status = COMMAND_GOOD;

	if (history_baseline_find(&baseline, history, result, most, error))
		status = COMMAND_FAILED;
	for (size_t i = 0; i < baseline.count && status == COMMAND_GOOD; i++)
		status = add_run(comparison, history, &baseline.names[i], error);
	if (status == COMMAND_GOOD && !baseline.count) {
		no_run(history, result, error);
		status = COMMAND_INVALID;
	}
	history_baseline_finish(&baseline);
	return status;
}

enum command_status compare_history_load(struct comparison *comparison, const char *path,
					 size_t most, struct error *error)
{
	enum command_status status = COMMAND_FAILED;
	struct history history;

	if (!history_db_open(&history, path, HISTORY_READ, error))
		status = add_baseline(comparison, &history, most, error);
	history_close(&history);
	return status;
}
