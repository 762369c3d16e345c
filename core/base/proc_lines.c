/* SPDX-License-Identifier: MIT */
#include "core/base/proc_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool proc_lines_text(const char *path, const char *name, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(name);
	bool is_found = false;
	char line[256];

	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file)) {
		is_found = !strncmp(line, name, length);
		if (is_found)
			snprintf(text, size, "%s", line + length);
	}
	fclose(file);
	return is_found;
}

bool proc_lines_number(const char *path, const char *name, uint64_t *value)
{
	char text[256];

	return proc_lines_text(path, name, text, sizeof(text)) &&
	       sscanf(text, "%" SCNu64, value) == 1; // NOLINT(cert-err34-c)
}
