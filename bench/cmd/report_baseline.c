/* SPDX-License-Identifier: MIT */
#include "bench/cmd/report_baseline.h"

#include <errno.h>
#include <stdio.h>

#include "reports/compare/page.h"

void report_baseline_open(struct report_baseline *base, const struct compare_sides *sides)
{
	*base = (struct report_baseline){0};
	base->status = compare_sides_load(&base->comparison, sides, COMPARE_BASE, &base->refused);
}

void report_baseline_add(struct report_baseline *base, struct result *result, const char *path)
{
	if (base->status == COMMAND_GOOD)
		base->status = compare_sides_add(&base->comparison, COMPARE_NEW, result, path,
						 &base->refused);
	else
		result_finish(result);
}

enum command_status report_baseline_print(FILE *out, const struct table_unit *unit,
					  struct report_baseline *base)
{
	struct comparison *comparison = &base->comparison;
	int code;

	if (base->refused.code == -EXDEV)
		error_append(&base->refused, "'verbmark compare --force' compares them anyway");
	if (base->status == COMMAND_GOOD) {
		code = compare_judge(comparison, &base->refused);
		if (code)
			base->status = code == -ENOMEM ? COMMAND_FAILED : COMMAND_INVALID;
		/* Show which cases could not be compared, even if that is all of them. */
		if (!code || code == -ENODATA)
			compare_page(out, unit, comparison);
		else
			compare_page_refused(out, base->refused.text);
	} else {
		compare_page_refused(out, base->refused.text);
	}
	if (base->status != COMMAND_GOOD)
		fprintf(stderr, "verbmark: --baseline: %s\n", base->refused.text);
	return base->status;
}

void report_baseline_close(struct report_baseline *base)
{
	compare_close(&base->comparison);
}
