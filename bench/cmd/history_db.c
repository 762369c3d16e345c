/* SPDX-License-Identifier: MIT */
#include "bench/cmd/history_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the path, which the caller frees. */
static char *make_default_path(struct error *error)
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	char *path;
	int length;

	/* The XDG specification says to ignore a relative path. */
	if (data && data[0] == '/') {
		length = asprintf(&path, "%s/verbmark/history.sqlite", data);
	} else if (home && home[0] == '/') {
		length = asprintf(&path, "%s/.local/share/verbmark/history.sqlite", home);
	} else {
		error_set(
			error, -EINVAL,
			"cannot find the history: neither $XDG_DATA_HOME nor $HOME is set; use --db FILE");
		return NULL;
	}
	if (length >= 0)
		return path;
	error_set_errno(error, -ENOMEM, "cannot make the path of the history");
	return NULL;
}

int history_db_open(struct history *history, const char *path, enum history_use use,
		    struct error *error)
{
	char *own = NULL;
	int code;

	*history = (struct history){0};
	if (!path)
		path = own = make_default_path(error);
	code = path ? history_open(history, path, use, error) : error->code;
	free(own);
	return code;
}
