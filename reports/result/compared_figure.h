/* SPDX-License-Identifier: MIT */
/*
 * What of a trial is compared with another one's: a row each, which all that compares
 * walks alike.
 */
#ifndef REPORTS_RESULT_COMPARED_FIGURE_H
#define REPORTS_RESULT_COMPARED_FIGURE_H

#include "reports/result/result.h"

struct figure {
	const char *key; /* in documents */
	const char *title;
	const char *measure; /* what the value is in, such as ns */
	double unit;         /* that tables have it in */
	bool more_is_good;   /* else less is */
	/* NAN: not known. */
	double (*value)(const struct result_trial *trial);
};

/*
 * Of a run one value: the median over its trials. That of a tail is steadier than the tail of
 * all messages together, which one bad trial makes. NAN if it is not known of all trials, and
 * above 0 in all of them. -ENOMEM.
 */
int figure_over_trials(double *median, const struct result_case *line, const struct figure *figure,
		       struct error *error);

extern const struct figure figure_median;
extern const struct figure figure_tail; /* the 99th percentile */
/* Where a trial has too few messages for a median. */
extern const struct figure figure_mean;
extern const struct figure figure_bytes;
extern const struct figure figure_messages;
/* Processor time for a message. */
extern const struct figure figure_client_cpu;
extern const struct figure figure_server_cpu;

#endif
