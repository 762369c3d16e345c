/* SPDX-License-Identifier: MIT */
/* Sentences about a result, the same in all outputs. Each is passed to a callback. */
#ifndef REPORTS_TABLE_SENTENCES_H
#define REPORTS_TABLE_SENTENCES_H

#include <stdio.h>

#include "reports/result/result.h"

typedef void said(void *owner, const char *text);

/* Reports the knees of sweeps over load and over the number of queue pairs. */
void said_knees(const struct result *result, said *say, void *owner);

/* Reports the fairness of threads, queue pairs and flows. */
void said_shares(const struct result *result, said *say, void *owner);

/* Reports what the kinds of latency are if there are several. */
void said_kinds(const struct result *result, said *say, void *owner);

/* Reports the summary, without its heading, and which precision was reached. */
void said_summary(const struct result *result, said *say, void *owner);

/* Reports the mean of imported cases that have no median. */
void said_means(const struct result *result, said *say, void *owner);

/*
 * Reports what invalidates the measurement, most important first; the same about several hosts
 * once.
 */
void said_warnings(const struct result *result, said *say, void *owner);

/* Reports each line that print writes as a sentence. */
void said_printed(const struct result *result,
		  void (*print)(FILE *out, const struct result *result), said *say, void *owner);

#endif
