/* SPDX-License-Identifier: MIT */
#include "reports/io/read_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Doubles the buffer as it reads, since the length of a pipe is unknown. */
static int read_stream(FILE *in, size_t most, char **text, size_t *length, struct error *error)
{
	size_t room = (1 << 16) + 1;

	for (*length = 0; *length <= most; room = 2 * room < most ? 2 * room : most + 1) {
		char *grown = realloc(*text, room);

		if (!grown)
			return error_set_errno(error, -ENOMEM, "cannot keep the text");
		*text = grown;
		errno = 0;
		*length += fread(*text + *length, 1, room - *length, in);
		if (ferror(in))
			return error_set_errno(error, errno ? -errno : -EIO, "read failed");
		if (*length < room)
			break;
	}
	return 0;
}

/* Whether a regular file is too long, by its size alone. */
static bool is_longer(FILE *in, size_t most)
{
	struct stat seen;

	return !fstat(fileno(in), &seen) && S_ISREG(seen.st_mode) && seen.st_size > (off_t)most;
}

const char *read_file_name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard input";
}

int read_whole_file(const char *path, const char *is, size_t most, char **text, size_t *length,
		    struct error *error)
{
	bool is_standard = !strcmp(path, "-");
	FILE *in = is_standard ? stdin : fopen(path, "re");
	int code = 0;

	*text = NULL;
	*length = 0;
	if (!in)
		return error_set_errno(error, -errno, "cannot read %s", path);
	if (!is_longer(in, most))
		code = read_stream(in, most, text, length, error);
	else
		*length = most + 1;
	if (!is_standard)
		fclose(in);
	if (!code && *length > most)
		code = error_set(error, -EFBIG, "too long for %s; the maximum is %zu %s", is,
				 most >> 20 ? most >> 20 : most >> 10, most >> 20 ? "MiB" : "KiB");
	return code ? error_wrap(error, "%s", read_file_name(path)) : 0;
}
