/* SPDX-License-Identifier: MIT */
/*
 * Limits on results, as given to options: a bandwidth below 90%line, 50Gb/s, 10GB/s or 1.2Mmsg/s
 * fails, and so does a latency above p99=5us or max=1ms. A figure that is unknown, for lack of
 * samples, fails as well.
 */
#ifndef REPORTS_FINDING_THRESHOLD_H
#define REPORTS_FINDING_THRESHOLD_H

#include "core/base/error.h"
#include "reports/result/result.h"

#define THRESHOLDS_MOST 16

struct limit_unit;

struct threshold {
	char text[32];                     /* as given, e.g. "5us" */
	double bound;                      /* in its unit */
	const struct limit_unit *unit;     /* latency, bits, bytes or messages */
	const struct statistic *statistic; /* the latency statistic; NULL: a bandwidth limit */
};

struct threshold_list {
	struct threshold limit[THRESHOLDS_MOST];
	size_t count;
};

/*
 * Option parsers: add the comma-separated limits of the text to a struct threshold_list. They
 * return what is wrong with the text, or NULL.
 */
const char *threshold_parse_below(const char *text, void *limits);
const char *threshold_parse_above(const char *text, void *limits);

/* Whether the limit is for this kind of case: a latency limit ignores bandwidth cases. */
bool threshold_applies(const struct threshold *limit, const struct result_case *line);

/*
 * Returns 0 if the case meets the limit, is of another kind, or is not complete (reported
 * elsewhere). -ERANGE: the error states the value and the limit.
 */
int threshold_check(const struct threshold *limit, const struct result *result,
		    const struct result_case *line, struct error *error);

/* -ENOENT: the limit applies to no complete case, so it has checked nothing. */
int threshold_check_use(const struct threshold *limit, const struct result *result,
			struct error *error);

#endif
