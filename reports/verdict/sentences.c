/* SPDX-License-Identifier: MIT */
#include "reports/verdict/sentences.h"

#include <math.h>
#include <stdio.h>

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* Rounds up, but ignores the rounding error of a double. */
static double round_up(double percent)
{
	return ceil(percent - 1e-6);
}

void verdict_cell(char *text, size_t size, const struct judged_ratio *judged)
{
	double detectable = verdict_detectable(judged);

	if (judged->verdict == VERDICT_UNCLEAR && isfinite(detectable))
		snprintf(text, size, "%s (detects %.0f %%)", verdict_name(judged->verdict),
			 round_up(100 * detectable));
	else
		snprintf(text, size, "%s", verdict_name(judged->verdict));
}

static size_t describe_interval(char *text, size_t size, const struct judged_ratio *judged)
{
	double change = percent(judged->ratio);
	int length = snprintf(text, size, "%.1f %% %s", fabs(change), change < 0 ? "less" : "more");

	if (isfinite(judged->low) && isfinite(judged->high) && (size_t)length < size)
		length += snprintf(text + length, size - (size_t)length, " (%+.1f to %+.1f %%)",
				   percent(judged->low), percent(judged->high));
	return (size_t)length;
}

void verdict_describe(char *text, size_t size, const struct judged_ratio *judged)
{
	double detectable = verdict_detectable(judged);
	size_t length = describe_interval(text, size, judged);

	if (judged->verdict != VERDICT_UNCLEAR || length >= size)
		return;
	if (isfinite(detectable))
		snprintf(text + length, size - length,
			 "; the smallest difference that the data could have shown is %.0f %%",
			 round_up(100 * detectable));
	else
		snprintf(text + length, size - length,
			 "; there are too few runs to show any difference");
}

void verdict_list(char *text, size_t size, const size_t counts[static VERDICTS])
{
	const char *before = "";
	size_t length = (size_t)snprintf(text, size, "%s", "");

	for (size_t i = VERDICTS; i-- > 0 && length < size;) {
		if (!counts[i])
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%zu %s", before,
					   counts[i], verdict_name((enum verdict)i));
		before = ", ";
	}
	if (!length)
		snprintf(text, size, "nothing");
}
