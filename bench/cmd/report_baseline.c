/* SPDX-License-Identifier: MIT */
#include "bench/cmd/report_baseline.h"

#include <errno.h>
#include <stdio.h>

#include "reports/compare/page.h"

void against_open(struct against *against, const struct sides *sides)
{
	*against = (struct against){0};
	against->status = sides_load(&against->comparison, sides, COMPARE_BASE, &against->refused);
}

void against_add(struct against *against, struct result *result, const char *path)
{
	if (against->status == COMMAND_GOOD)
		against->status = sides_add(&against->comparison, COMPARE_NEW, result, path,
					    &against->refused);
	else
		result_finish(result);
}

enum command_status against_print(FILE *out, const struct table_unit *unit, struct against *against)
{
	struct comparison *comparison = &against->comparison;
	int code;

	if (against->refused.code == -EXDEV)
		error_append(&against->refused, "compare --force compares them all the same");
	if (against->status == COMMAND_GOOD) {
		code = compare_judge(comparison, &against->refused);
		if (code)
			against->status = code == -ENOMEM ? COMMAND_FAILED : COMMAND_INVALID;
		/* What could not be compared is shown even where nothing could. */
		if (!code || code == -ENODATA)
			compare_page(out, unit, comparison);
		else
			compare_page_refused(out, against->refused.text);
	} else {
		compare_page_refused(out, against->refused.text);
	}
	if (against->status != COMMAND_GOOD)
		fprintf(stderr, "verbmark: --baseline: %s\n", against->refused.text);
	return against->status;
}

void against_close(struct against *against)
{
	compare_close(&against->comparison);
}
