/* SPDX-License-Identifier: MIT */
#include "bench/cli/inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reports/document/parse.h"
#include "reports/export/xml.h"
#include "reports/io/save.h"

/* into and text may be the same. */
static void make_printable(char *into, size_t size, const char *text)
{
	size_t at = 0;

	while (*text) {
		size_t length = xml_measure(text);
		size_t read = length ? length : 1;

		if (at + read >= size)
			break;
		if (length)
			memmove(into + at, text, length);
		else
			into[at] = '?';
		at += read;
		text += read;
	}
	into[at] = '\0';
}

void inputs_name(char name[static INPUTS_NAME], const char *path)
{
	make_printable(name, INPUTS_NAME, path);
}

void inputs_name_error(struct error *error)
{
	make_printable(error->text, sizeof(error->text), error->text);
}

int inputs_load(struct result *result, const char *path, struct error *error)
{
	int code = parse_file(result, path, error);

	if (code)
		inputs_name_error(error);
	return code;
}

const char *inputs_add(const char **paths, size_t *count, const char *path)
{
	for (size_t i = 0; i < *count; i++)
		if (save_is_same(paths[i], path))
			return "is given twice";
	paths[(*count)++] = path;
	return NULL;
}

int inputs_require(size_t count, const char *what, struct error *error)
{
	return count ? 0
		     : error_set(error, -EINVAL,
				 "%s is missing: give a result that 'verbmark run' saved", what);
}

int inputs_spare(const char *const *paths, size_t count, const char *option, const char *output,
		 struct error *error)
{
	if (!output || !strcmp(output, "-"))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (save_is_same(output, paths[i]))
			return error_set(error, -EINVAL,
					 "%s: '%s' is an input file and would be overwritten",
					 option, output);
	return 0;
}
