/* SPDX-License-Identifier: MIT */
#include "reports/verdict/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/stats/holm.h"

/* Values exactly one step apart are not a difference, however their ratio is rounded. */
#define ROUNDING 1e-6

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = {
		[VERDICT_BETTER] = "better",   [VERDICT_SAME] = "same",
		[VERDICT_UNCLEAR] = "unclear", [VERDICT_INVALID] = "invalid",
		[VERDICT_WORSE] = "worse",
	};

	return names[verdict];
}

double verdict_distance(const struct judged_ratio *judged)
{
	return fmax(judged->threshold, judged->resolution * (1 + ROUNDING));
}

double verdict_detectable(const struct judged_ratio *judged)
{
	return (1 + verdict_distance(judged)) * exp(judged->reach) - 1;
}

static bool has_interval(const struct judged_ratio *judged)
{
	return judged->low > 0 && isfinite(judged->high);
}

/* Returns unclear if the corrected chance is above VERDICT_LEVEL. */
static enum verdict verdict_beyond(const struct judged_ratio *judged, bool is_more)
{
	bool is_better = is_more == judged->more_is_good;
	double chance = is_better ? judged->better : judged->worse;

	if (!(chance <= VERDICT_LEVEL))
		return VERDICT_UNCLEAR;
	return is_better ? VERDICT_BETTER : VERDICT_WORSE;
}

enum verdict verdict_of(const struct judged_ratio *judged)
{
	double beyond = 1 + verdict_distance(judged);
	double within = 1 + judged->threshold;

	if (judged->is_invalid)
		return VERDICT_INVALID;
	if (!has_interval(judged))
		return VERDICT_UNCLEAR;
	if (judged->low > beyond || judged->high < 1 / beyond)
		return verdict_beyond(judged, judged->low > beyond);
	/* Values in steps larger than the threshold hide a difference of that size. */
	if (judged->resolution <= judged->threshold && judged->low > 1 / within &&
	    judged->high < within)
		return VERDICT_SAME;
	return VERDICT_UNCLEAR;
}

static bool is_test(const struct judged_ratio *judged)
{
	return !judged->is_invalid && has_interval(judged);
}

int verdict_judge(struct judged_ratio *const *family, size_t count, struct error *error)
{
	double *better = calloc(2 * count + 1, sizeof(*better));
	double *worse = better + count;
	size_t n = 0;
	int code;

	if (!better)
		return error_set_errno(error, -ENOMEM, "cannot judge %zu figures", count);
	for (size_t i = 0; i < count; i++)
		if (is_test(family[i])) {
			better[n] = family[i]->better;
			worse[n++] = family[i]->worse;
		}
	code = holm_correct(better, n, error);
	if (!code)
		code = holm_correct(worse, n, error);
	n = 0;
	for (size_t i = 0; i < count && !code; i++) {
		if (is_test(family[i])) {
			family[i]->better = better[n];
			family[i]->worse = worse[n++];
		}
		family[i]->verdict = verdict_of(family[i]);
	}
	free(better);
	return code;
}

enum verdict verdict_worst(const size_t counts[static VERDICTS])
{
	for (size_t i = VERDICTS; i-- > 0;)
		if (counts[i])
			return (enum verdict)i;
	return VERDICT_INVALID;
}
