/* SPDX-License-Identifier: MIT */
/*
 * Compares the results that report shows with a baseline. Results that cannot be compared are
 * still shown; the reason takes the place of the comparison.
 */
#ifndef BENCH_CMD_REPORT_BASELINE_H
#define BENCH_CMD_REPORT_BASELINE_H

#include "bench/cmd/compare_sides.h"
#include "reports/table/cells.h"

struct report_baseline {
	struct comparison comparison;
	struct error refused; /* why the results are not compared; code 0: they are */
	enum command_status status;
};

/* Loads the results of BASE. */
void report_baseline_open(struct report_baseline *base, const struct compare_sides *sides);

/* Adds a result of NEW; the comparison takes ownership. */
void report_baseline_add(struct report_baseline *base, struct result *result, const char *path);

/*
 * Prints the comparison as a section of a page. If results cannot be compared, prints the reason
 * there and to standard error. Returns the exit status.
 */
enum command_status report_baseline_print(FILE *out, const struct table_unit *unit,
					  struct report_baseline *base);

void report_baseline_close(struct report_baseline *base);

#endif
