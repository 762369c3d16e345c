/* SPDX-License-Identifier: MIT */
#include "reports/result/trials.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int trials_interval_of(struct interval *interval, const struct result_case *line,
		       trials_value *value, const void *of, struct error *error)
{
	double *values = calloc(line->n_trials + 1, sizeof(*values));
	bool is_known = line->n_trials;
	int code;

	*interval = (struct interval){0};
	if (!values)
		return error_set_errno(error, -ENOMEM, "cannot keep the figures of trials");
	for (size_t i = 0; i < line->n_trials && is_known; i++) {
		values[i] = value(&line->trials[i], of);
		is_known = !isnan(values[i]);
	}
	code = is_known ? interval_median(interval, values, line->n_trials, error)
			: error_set(error, -ENODATA, "not all trials have that figure");
	free(values);
	return code;
}

static double member(const struct result_trial *trial, const void *of)
{
	double value;

	memcpy(&value, (const char *)trial + *(const size_t *)of, sizeof(value));
	return value;
}

int trials_interval(struct interval *interval, const struct result_case *line, const double *first,
		    struct error *error)
{
	size_t offset = (size_t)((const char *)first - (const char *)line->trials);

	return trials_interval_of(interval, line, member, &offset, error);
}
