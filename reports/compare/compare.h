/* SPDX-License-Identifier: MIT */
/*
 * Runs of a base against runs of what is new: cases of the same id, figure by figure. What is
 * told is whether a ratio is beyond what runs differ by anyway, and no more: runs of two times
 * have seen two machines. Plain data, owned by the comparison; nothing is printed here.
 */
#ifndef REPORTS_COMPARE_COMPARE_H
#define REPORTS_COMPARE_COMPARE_H

#include "core/base/error.h"
#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/ratio.h"

/* Of all tests together, as Holm corrects them: how often there is a false alarm. */
#define COMPARE_LEVEL 0.05

/*
 * Below it nothing differs, however sure it is: where code and memory happen to lie, and the
 * rate of a clock, make as much between two builds or boots of the same, and no number of
 * runs of one build or boot sees it in its own spread.
 */
#define COMPARE_FLOOR 0.01
/* Ratios of bytes and of messages that are one ratio. */
#define COMPARE_ROUNDING 1e-6

#define COMPARE_FIGURES 7

enum compare_side {
	COMPARE_BASE,
	COMPARE_NEW,
	COMPARE_SIDES,
};

enum compare_verdict {
	COMPARE_UNKNOWN, /* the spread from run to run is */
	COMPARE_SAME,
	COMPARE_DIFFERS,
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
	double corrected;  /* the chance, among that of all others; NAN: unknown */
	double resolution; /* of its values, as a part of them; 0: that of a number */
	enum compare_verdict verdict;
	bool is_repeat; /* of the cell before, in another unit: no test of its own */
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
	size_t n_tests;                         /* cells without repeats, of known spread */
	size_t n_verdicts[COMPARE_DIFFERS + 1]; /* cells without repeats */
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

/* The last part of it: the verdicts of all cells. */
int compare_decide(struct comparison *comparison, struct error *error);

/* What figures there are, by their number in values. */
const struct compared_figure *compare_figure(size_t number);

const char *compare_side_name(enum compare_side side);
const char *compare_verdict_name(enum compare_verdict verdict);

/*
 * Nothing is shown to differ, and nothing is missing or unknown: neither a case, nor a figure of
 * one, nor a verdict. An interval may be as wide as it likes.
 */
bool compare_is_same(const struct comparison *comparison);

/* The run is that of both sides, each of which has no other. */
bool compare_is_itself(const struct comparison *comparison);

/* Whether no run of several is of both sides; -EEXIST: one is. */
int compare_check_sides(const struct comparison *comparison, struct error *error);

/* All runs of one side are older than those of the other one. */
bool compare_is_apart(const struct comparison *comparison);

/* From zeroed to judged. */
void compare_close(struct comparison *comparison);

#endif
