/* SPDX-License-Identifier: MIT */
/* The figures of a trial that can be compared, one row each. */
#ifndef REPORTS_RESULT_COMPARED_FIGURE_H
#define REPORTS_RESULT_COMPARED_FIGURE_H

#include "reports/result/result.h"

struct compared_figure {
	const char *key; /* in documents */
	const char *title;
	const char *measure; /* what the value is in, such as ns */
	double unit;         /* that tables have it in */
	bool more_is_good;   /* else less is */
	double threshold;    /* of a difference that counts, as a part */
	/* NAN: not known. */
	double (*value)(const struct result_trial *trial);
};

/*
 * Of a run one value: the median over its trials. That of a tail is steadier than the tail of
 * all messages together, which one bad trial makes. NAN if it is not known of all trials, and
 * above 0 in all of them. -ENOMEM.
 */
int compared_figure_over_trials(double *median, const struct result_case *line,
				const struct compared_figure *figure, struct error *error);

extern const struct compared_figure compared_figure_median;
extern const struct compared_figure compared_figure_tail; /* the 99th percentile */
/* Where a trial has too few messages for a median. */
extern const struct compared_figure compared_figure_mean;
extern const struct compared_figure compared_figure_bytes;
extern const struct compared_figure compared_figure_messages;
/* Processor time for a message. */
extern const struct compared_figure compared_figure_client_cpu;
extern const struct compared_figure compared_figure_server_cpu;

#endif
