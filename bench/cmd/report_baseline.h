/* SPDX-License-Identifier: MIT */
/*
 * What report shows, held against a baseline: results are taken once they were shown, and then
 * compared. Whatever is not comparable is no reason not to show them: it is told in its place.
 */
#ifndef BENCH_CMD_REPORT_BASELINE_H
#define BENCH_CMD_REPORT_BASELINE_H

#include "bench/cmd/compare_sides.h"
#include "reports/table/cells.h"

struct report_baseline {
	struct comparison comparison;
	struct error refused; /* why it is not compared; no code: it is */
	enum command_status status;
};

/* Those of BASE. */
void report_baseline_open(struct report_baseline *base, const struct compare_sides *sides);

/* It is the comparison's from here on. */
void report_baseline_add(struct report_baseline *base, struct result *result, const char *path);

/* As a section of a page, and refused is told to standard error; what report is to return. */
enum command_status report_baseline_print(FILE *out, const struct table_unit *unit,
					  struct report_baseline *base);

void report_baseline_close(struct report_baseline *base);

#endif
