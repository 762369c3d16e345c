/* SPDX-License-Identifier: MIT */
/*
 * What a case is to reach, as people write it: 90%line, 50Gb/s, 10GB/s or 1.2Mmsg/s,
 * below which a bandwidth fails, and p99=5us or max=1ms, above which a latency does.
 * A figure that is not known, for want of samples, holds nothing: it fails as well.
 */
#ifndef REPORTS_FINDING_THRESHOLD_H
#define REPORTS_FINDING_THRESHOLD_H

#include "core/base/error.h"
#include "reports/result/result.h"

#define THRESHOLDS_MOST 16

struct limit_unit;

struct threshold {
	char text[32];                     /* the bound as it was written: 5us */
	double bound;                      /* in its unit */
	const struct limit_unit *unit;     /* says what it is a bound of */
	const struct statistic *statistic; /* of a latency; NULL: of a bandwidth */
};

struct threshold_list {
	struct threshold limit[THRESHOLDS_MOST];
	size_t count;
};

/*
 * Options' parsers: they add what the text has, separated by commas, to a struct
 * limits. Returns what is wrong with the text, or NULL.
 */
const char *threshold_parse_below(const char *text, void *limits);
const char *threshold_parse_above(const char *text, void *limits);

/* Whether it says anything of such a case: a latency's nothing of a bandwidth. */
bool threshold_applies(const struct threshold *limit, const struct result_case *line);

/*
 * 0: the case keeps to it, or is none that it applies to, or did not end well, which is
 * another matter. -ERANGE: the error says how far it is from that.
 */
int threshold_check(const struct threshold *limit, const struct result *result,
		    const struct result_case *line, struct error *error);

/* -ENOENT: it applies to none of the complete cases, and has said nothing at all. */
int threshold_check_use(const struct threshold *limit, const struct result *result,
			struct error *error);

#endif
