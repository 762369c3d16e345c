/* SPDX-License-Identifier: MIT */
/*
 * Host facts side by side, as a table of a page: all facts of both hosts of one result, or the
 * facts that differ between several results.
 */
#ifndef REPORTS_PAGE_HOST_FACTS_H
#define REPORTS_PAGE_HOST_FACTS_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints the facts of both hosts of a result, if any are known. */
void host_facts_print(FILE *out, const struct result *result);

/* The number of columns that fit a page; if there are more hosts, a note says so. */
#define HOST_FACTS_MOST 8

struct host_facts_of {
	const struct result *result;
	const char *name; /* of the file */
};

/* Prints the facts of client and server that differ between results, if there are two or more. */
void host_facts_print_differing(FILE *out, const struct host_facts_of *results, size_t count);

#endif
