/* SPDX-License-Identifier: MIT */
/*
 * Runs of a base against new runs: cases of the same id, figure by figure. A verdict says whether
 * a ratio differs by more than runs do anyway; it cannot tell a change of the machine between the
 * runs from one of what was to be compared. Plain data, owned by the comparison; nothing prints.
 */
#ifndef REPORTS_COMPARE_COMPARE_H
#define REPORTS_COMPARE_COMPARE_H

#include "core/base/error.h"
#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/ratio.h"
#include "reports/verdict/verdict.h"

/* Ratios of bytes and of messages that are one ratio. */
#define COMPARE_ROUNDING 1e-6

#define COMPARE_FIGURES 7

enum compare_side {
	COMPARE_BASE,
	COMPARE_NEW,
	COMPARE_SIDES,
};

/* A case by its id. */
struct compare_id {
	const struct result_case *line;
};

/* What is kept of a case of a run, or of one without figures nothing. */
struct compare_known {
	bool has_figures;               /* it is complete */
	double values[COMPARE_FIGURES]; /* medians over trials; NAN: unknown */
	double steps[COMPARE_FIGURES];  /* in which such a figure comes there; 0: unknown */
	double rate;                    /* that was offered, of a load; else 0 */
	bool is_saturated;              /* of a load: its schedule was not kept */
};

/* A result that has left its histograms and trials. */
struct compare_run {
	struct result result;
	char *name;                  /* of its file */
	struct compare_known *known; /* of each case */
	struct compare_id *sorted;   /* the cases by their ids */
};

struct compare_runs {
	struct compare_run *runs;
	size_t count;
};

/* One figure of a case. */
struct compare_cell {
	const struct result_case *line; /* as it was run first: its names */
	const struct compared_figure *figure;
	size_t n_runs[COMPARE_SIDES];
	struct ratio ratio;
	struct judged_ratio judged;
	double chance;    /* of its being so far beyond the threshold; NAN: unknown */
	double corrected; /* the same, among all figures */
	bool is_repeat;   /* of the cell before, in another unit: no test of its own */
};

/* A case that some runs do not have, not complete, or not the same one. */
struct compare_gap {
	const struct result_case *line;
	char why[512];
	bool is_compared; /* all the same: from other runs, or by force */
	bool is_excused;  /* it cannot be run at either side, or is forced */
};

/* A figure of a case that is compared without it. */
struct compare_unknown {
	const struct result_case *line;
	size_t number; /* of the figure */
	char why[128];
};

struct comparison {
	bool is_forced; /* to be set by the caller, like: */
	bool with_cpu;  /* processor time for messages as well */
	struct compare_runs sides[COMPARE_SIDES];
	char difference[256]; /* that force looked past; empty: none */
	struct compare_cell *cells;
	size_t n_cells;
	size_t n_compared; /* cases with cells */
	struct compare_gap *gaps;
	size_t n_gaps;
	struct compare_unknown *unknown;
	size_t n_unknown;
	size_t n_tests;              /* cells without repeats, of known spread */
	size_t n_verdicts[VERDICTS]; /* cells without repeats */
};

/*
 * The result is the comparison's from here on, whatever comes of it; its texts are in
 * result->texts or the program's. -EXDEV: it is not alike to those that are there, and
 * that is not forced; -EEXIST: its side has that run already; the error says why.
 */
int compare_add(struct comparison *comparison, enum compare_side side, struct result *result,
		const char *name, struct error *error);

/*
 * Once all are there. -ENODATA: nothing could be compared; the gaps tell why. -EEXIST: a run is
 * of both sides, one of which has more.
 */
int compare_judge(struct comparison *comparison, struct error *error);

/* The last part of it: the verdicts of all cells. -ENOMEM. */
int compare_decide(struct comparison *comparison, struct error *error);

/* What figures there are, by their number in values. */
const struct compared_figure *compare_figure(size_t number);

const char *compare_side_name(enum compare_side side);

/* Whether every figure of every case is compared, and is the same or better. */
bool compare_has_passed(const struct comparison *comparison);

/* The run is that of both sides, each of which has no other. */
bool compare_is_itself(const struct comparison *comparison);

/* Whether no run of several is of both sides; -EEXIST: one is. */
int compare_check_sides(const struct comparison *comparison, struct error *error);

/* All runs of one side are older than those of the other one. */
bool compare_is_apart(const struct comparison *comparison);

/* From zeroed to judged. */
void compare_close(struct comparison *comparison);

#endif
