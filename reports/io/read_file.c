/* SPDX-License-Identifier: MIT */
#include "reports/io/read_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Enough to see how a file begins. */
#define START_BYTES 4096

/* Reads on. Doubles the buffer as it reads, since the length of a pipe is unknown. */
static int read_stream(FILE *in, size_t most, char **text, size_t *length, struct error *error)
{
	size_t room = (1 << 16) + 1;

	while (*length <= most && !feof(in)) {
		char *grown = realloc(*text, room);

		if (!grown)
			return error_set_errno(error, -ENOMEM, "cannot keep the text");
		*text = grown;
		errno = 0;
		*length += fread(*text + *length, 1, room - *length, in);
		if (ferror(in))
			return error_set_errno(error, errno ? -errno : -EIO, "read failed");
		room = 2 * room < most ? 2 * room : most + 1;
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

static bool begins_with(const char *text, size_t length, const char *start)
{
	for (size_t i = 0; i < length && *start; i++) {
		if (isspace((unsigned char)text[i]))
			continue;
		if (text[i] != *start++)
			return false;
	}
	return !*start;
}

static const struct read_kind *find_kind(const struct read_kind *kinds, const char *text,
					 size_t length)
{
	while (kinds->start && !begins_with(text, length, kinds->start))
		kinds++;
	return kinds;
}

/* Reads from an open file, whose first bytes show its kind. */
static int read_kinds(FILE *in, const struct read_kind *kinds, char **text, size_t *length,
		      struct error *error)
{
	const struct read_kind *kind;
	int code = read_stream(in, START_BYTES, text, length, error);

	if (code)
		return code;
	kind = find_kind(kinds, *text, *length);
	if (is_longer(in, kind->most))
		*length = kind->most + 1;
	else
		code = read_stream(in, kind->most, text, length, error);
	if (code || *length <= kind->most)
		return code;
	error_set(error, -EFBIG, "too long for %s; the maximum is %zu %s", kind->is,
		  kind->most >> 20 ? kind->most >> 20 : kind->most >> 10,
		  kind->most >> 20 ? "MiB" : "KiB");
	for (; kinds->start; kinds++)
		if (kinds->most > kind->most)
			error_append(error, "%s may have %zu MiB if it begins with %s", kinds->is,
				     kinds->most >> 20, kinds->start);
	return -EFBIG;
}

int read_file_of_kinds(const char *path, const struct read_kind *kinds, char **text, size_t *length,
		       struct error *error)
{
	bool is_standard = !strcmp(path, "-");
	FILE *in = is_standard ? stdin : fopen(path, "re");
	int code;

	*text = NULL;
	*length = 0;
	if (!in)
		return error_set_errno(error, -errno, "cannot read %s", path);
	code = read_kinds(in, kinds, text, length, error);
	if (!is_standard)
		fclose(in);
	return code ? error_wrap(error, "%s", read_file_name(path)) : 0;
}

int read_whole_file(const char *path, const char *is, size_t most, char **text, size_t *length,
		    struct error *error)
{
	const struct read_kind kind = {.is = is, .most = most};

	return read_file_of_kinds(path, &kind, text, length, error);
}
