/* SPDX-License-Identifier: MIT */
#include "core/test/lib/exempt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_meant(const char *wanted, const char *name)
{
	size_t length = strlen(wanted);

	return !strncmp(name, wanted, length) && (!name[length] || name[length] == ' ');
}

static size_t take_out(struct CMUnitTest *tests, size_t n, const char *wanted)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_meant(wanted, tests[i].name))
			tests[left++] = tests[i];
	return left;
}

static void tell(const char *reason, size_t count)
{
	if (count)
		printf("# %zu exempt: %s\n", count, reason);
}

/* Returns the test that a line names for this program, or NULL. */
static const char *find_own(const char *line, const char *program)
{
	size_t length = strlen(program);

	return !strncmp(line, program, length) && line[length] == ' ' ? line + length + 1 : NULL;
}

/* A program linked with the device has the prefix "soft_", but shares the list. */
static const char *find_test(const char *line)
{
	const char *program = program_invocation_short_name;
	const char *test = find_own(line, program);

	return test || strncmp(program, "soft_", 5) != 0 ? test : find_own(line, program + 5);
}

static int read_list(FILE *list, struct CMUnitTest *tests, size_t n)
{
	char reason[256] = "";
	char line[256];
	size_t count = 0;

	while (fgets(line, sizeof(line), list)) {
		const char *test;
		size_t left;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '[') {
			tell(reason, count);
			count = 0;
			snprintf(reason, sizeof(reason), "%.*s", (int)strcspn(line + 1, "]"),
				 line + 1);
		}
		test = find_test(line);
		if (!test)
			continue;
		left = take_out(tests, n, test);
		if (left == n) {
			print_error("no such test to exempt: %s\n", line);
			return -1;
		}
		count += n - left;
		n = left;
	}
	tell(reason, count);
	return (int)n;
}

int exempt(struct CMUnitTest *tests, size_t n)
{
	const char *path = getenv("EXEMPT");
	FILE *list;
	int left;

	if (!path)
		return (int)n;
	list = fopen(path, "re");
	if (!list) {
		print_error("%s: %s\n", path, strerror(errno));
		return -1;
	}
	left = read_list(list, tests, n);
	fclose(list);
	return left;
}
