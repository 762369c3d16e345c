/* SPDX-License-Identifier: MIT */
/*
 * The facts of hosts side by side, as a table of a page: of both ends of a result, with what
 * they differ in, or of several results only that.
 */
#ifndef REPORTS_PAGE_HOST_FACTS_H
#define REPORTS_PAGE_HOST_FACTS_H

#include <stdio.h>

#include "reports/result/result.h"

/* All of them; nothing where neither end has told any. */
void host_facts_print(FILE *out, const struct result *result);

/* As many as a page is wide for; of more it is said how many. */
#define HOST_FACTS_MOST 8

struct host_facts_of {
	const struct result *result;
	const char *name; /* of its file */
};

/* What of either end is not the same in all of them; nothing of fewer than two. */
void host_facts_print_differing(FILE *out, const struct host_facts_of *results, size_t count);

#endif
