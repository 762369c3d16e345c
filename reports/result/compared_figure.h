/* SPDX-License-Identifier: MIT */
/* The figures of a trial that can be compared. */
#ifndef REPORTS_RESULT_COMPARED_FIGURE_H
#define REPORTS_RESULT_COMPARED_FIGURE_H

#include "reports/result/result.h"

struct compared_figure {
	const char *key; /* in documents */
	const char *title;
	const char *measure; /* unit of the value, such as ns */
	double unit;         /* unit in tables, in units of the value */
	bool more_is_good;   /* otherwise less is */
	double threshold;    /* the smallest relative difference that counts */
	/* Returns NAN if unknown. */
	double (*value)(const struct result_trial *trial);
};

/*
 * Sets the value of a run: the median over its trials. For a tail percentile this is more stable
 * than the percentile over all messages, which a single bad trial determines. Sets NAN unless the
 * value is known and above 0 in all trials. Returns 0 or -ENOMEM.
 */
int compared_figure_over_trials(double *median, const struct result_case *line,
				const struct compared_figure *figure, struct error *error);

extern const struct compared_figure compared_figure_median;
extern const struct compared_figure compared_figure_tail; /* the 99th percentile */
/* For trials with too few messages for a median. */
extern const struct compared_figure compared_figure_mean;
extern const struct compared_figure compared_figure_bytes;
extern const struct compared_figure compared_figure_messages;
/* CPU time per message. */
extern const struct compared_figure compared_figure_client_cpu;
extern const struct compared_figure compared_figure_server_cpu;

#endif
