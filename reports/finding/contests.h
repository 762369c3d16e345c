/* SPDX-License-Identifier: MIT */
/*
 * The comparisons of a summary: the fastest operation with the others, events with polling, and
 * two-sided with one-sided operations. They compare cases whose ids differ in one word, by their
 * trials, and are judged as one family.
 */
#ifndef REPORTS_FINDING_CONTESTS_H
#define REPORTS_FINDING_CONTESTS_H

#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/verdict/verdict.h"

#define CONTESTS_MOST 64

enum contests_size {
	CONTESTS_SMALLEST, /* or 64 bytes */
	CONTESTS_MIDDLE,   /* 4 to 64 KiB */
	CONTESTS_LARGEST,
	CONTESTS_SIZES,
};

/* Two cases, compared by a figure. The ratio is that of line to rival. */
struct contest {
	const struct result_case *line;
	const struct result_case *rival;
	const struct compared_figure *figure;
	struct judged_ratio judged;
};

/* Consecutive contests of one case. */
struct contest_list {
	size_t first;
	size_t count; /* 0: nothing to compare */
};

struct contests {
	const struct result *result;
	double *values; /* by case; NAN: unknown */
	struct contest contest[CONTESTS_MOST];
	size_t count;
	struct contest_list latency[CONTESTS_SIZES]; /* the fastest operation with the others */
	struct contest_list bandwidth[CONTESTS_SIZES];
	struct contest_list events; /* latency, then the client's CPU time */
	struct contest_list sides;  /* two-sided with one-sided */
};

/* Finds and judges all comparisons of a result. Returns 0 or -ENOMEM. */
int contests_open(struct contests *contests, const struct result *result);
void contests_close(struct contests *contests);

/* Returns the median latency in ns, or the rate of bytes, as all reports show them; NAN: unknown. */
double contests_value(const struct contests *contests, const struct result_case *line);

/* Returns whether a case is faster than another of the same metric. */
bool contests_is_faster(const struct contests *contests, const struct result_case *line,
			const struct result_case *other);

#endif
