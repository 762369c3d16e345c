/* SPDX-License-Identifier: MIT */
#include "bench/cmd/compare_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/inputs.h"
#include "bench/cmd/history_dir.h"
#include "reports/history/before.h"

static void say(void *owner, const char *text)
{
	fprintf(stderr, "verbmark: %s\n", text);
}

static enum command_status add_run(struct comparison *comparison, const char *folder,
				   const char *name, struct error *error)
{
	enum command_status status = COMMAND_FAILED;
	struct result result;
	char *path;

	if (asprintf(&path, "%s/runs/%s.json", folder, name) < 0) {
		error_set_errno(error, -ENOMEM, "cannot keep the name of a run");
		return status;
	}
	if (!inputs_load(&result, path, error))
		status = compare_sides_add(comparison, COMPARE_BASE, &result, path, error);
	free(path);
	return status;
}

/* The oldest one first, as files would be named. */
static enum command_status add_runs(struct comparison *comparison, const char *folder,
				    const struct history_before *before, struct error *error)
{
	enum command_status status = COMMAND_GOOD;

	for (size_t i = before->count; i > 0 && status == COMMAND_GOOD; i--)
		status = add_run(comparison, folder, before->names[i - 1], error);
	return status;
}

/* What is older than it is older than all that is new. */
static const struct result *oldest(const struct compare_runs *side)
{
	const struct result *result = &side->runs[0].result;

	for (size_t i = 1; i < side->count; i++)
		if (strcmp(side->runs[i].result.started, result->started) < 0)
			result = &side->runs[i].result;
	return result;
}

static int no_run(const char *folder, const struct result *result, struct error *error)
{
	if (!result->started[0])
		return error_set(
			error, -ENODATA,
			"NEW does not tell when it was measured: import it with --started");
	return error_set(error, -ENODATA,
			 "%s has no run of that setup from before NEW: verbmark history list tells "
			 "what it has",
			 folder);
}

static enum command_status add_before(struct comparison *comparison, const char *folder,
				      size_t most, struct error *error)
{
	struct history history = {.folder = folder, .version = VERBMARK_VERSION, .say = say};
	struct history_before before = {
		.result = oldest(&comparison->sides[COMPARE_NEW]),
		.most = most,
	};
	enum command_status status = COMMAND_FAILED;

	if (!history_do(&history, HISTORY_READ, history_before_fill, &before, error))
		status = add_runs(comparison, folder, &before, error);
	if (status == COMMAND_GOOD && !before.count) {
		no_run(folder, before.result, error);
		status = COMMAND_INVALID;
	}
	history_before_finish(&before);
	return status;
}

enum command_status compare_history_load(struct comparison *comparison, const char *folder,
					 size_t most, struct error *error)
{
	enum command_status status = COMMAND_FAILED;
	char *own = NULL;

	if (folder || !history_dir(&own, error))
		status = add_before(comparison, folder ? folder : own, most, error);
	free(own);
	return status;
}
