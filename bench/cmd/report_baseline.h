/* SPDX-License-Identifier: MIT */
/*
 * What report shows, held against a baseline: results are taken once they were shown, and then
 * compared. Whatever is not comparable is no reason not to show them: it is told in its place.
 */
#ifndef BENCH_CMD_REPORT_BASELINE_H
#define BENCH_CMD_REPORT_BASELINE_H

#include "bench/cmd/compare_sides.h"
#include "reports/table/cells.h"

struct against {
	struct comparison comparison;
	struct error refused; /* why it is not compared; no code: it is */
	enum command_status status;
};

/* Those of BASE. */
void against_open(struct against *against, const struct sides *sides);

/* It is the comparison's from here on. */
void against_add(struct against *against, struct result *result, const char *path);

/* As a section of a page, and refused is told to standard error; what report is to return. */
enum command_status against_print(FILE *out, const struct table_unit *unit,
				  struct against *against);

void against_close(struct against *against);

#endif
