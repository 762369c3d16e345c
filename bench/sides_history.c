/* SPDX-License-Identifier: MIT */
#include "bench/sides_history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/history_dir.h"
#include "bench/inputs.h"
#include "reports/history_before.h"

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
		status = sides_add(comparison, COMPARE_BASE, &result, path, error);
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

static enum command_status add_before(struct comparison *comparison, const char *folder,
				      size_t most, struct error *error)
{
	struct history history = {.folder = folder, .version = VERBMARK_VERSION, .say = say};
	struct history_before before = {
		.result = &comparison->sides[COMPARE_NEW].runs[0].result,
		.most = most,
	};
	enum command_status status = COMMAND_FAILED;

	if (!history_do(&history, HISTORY_READ, history_before_fill, &before, error))
		status = add_runs(comparison, folder, &before, error);
	if (status == COMMAND_GOOD && !before.count) {
		error_set(error, -ENODATA,
			  "%s has no run of that setup from before NEW: verbmark history list "
			  "tells what it has",
			  folder);
		status = COMMAND_INVALID;
	}
	history_before_finish(&before);
	return status;
}

enum command_status sides_load_history(struct comparison *comparison, const char *folder,
				       size_t most, struct error *error)
{
	enum command_status status = COMMAND_FAILED;
	char *own = NULL;

	if (!folder && history_dir(&own, error))
		error_append(error, "--history=FOLDER names one");
	else
		status = add_before(comparison, folder ? folder : own, most, error);
	free(own);
	return status;
}
