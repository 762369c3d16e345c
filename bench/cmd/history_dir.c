/* SPDX-License-Identifier: MIT */
#include "bench/cmd/history_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int history_dir(char **folder, struct error *error)
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	int length;

	*folder = NULL;
	/* Others than whole paths are to be ignored, says its specification. */
	if (data && data[0] == '/')
		length = asprintf(folder, "%s/verbmark/history", data);
	else if (home && home[0] == '/')
		length = asprintf(folder, "%s/.local/share/verbmark/history", home);
	else
		return error_set(
			error, -EINVAL,
			"the folder of the history is missing, and there is no $HOME to look "
			"for it");
	if (length >= 0)
		return 0;
	*folder = NULL;
	return error_set_errno(error, -ENOMEM, "cannot keep the name of the folder");
}
