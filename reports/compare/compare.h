/* SPDX-License-Identifier: MIT */
/*
 * Compares runs of a base with new runs: cases of the same id, figure by figure. A verdict says
 * whether a ratio differs by more than the spread between runs; it cannot tell a change of the
 * machine between the runs from the change under test. Plain data, owned by the comparison; prints
 * nothing.
 */
#ifndef REPORTS_COMPARE_COMPARE_H
#define REPORTS_COMPARE_COMPARE_H

#include "core/base/error.h"
#include "reports/result/compared_figure.h"
#include "reports/result/result.h"
#include "reports/stats/ratio.h"
#include "reports/verdict/verdict.h"

/* Ratios of bytes and of messages that differ by less are the same ratio. */
#define COMPARE_ROUNDING 1e-6

#define COMPARE_FIGURES 7

enum compare_side {
	COMPARE_BASE,
	COMPARE_NEW,
	COMPARE_SIDES,
};

/* A case, sorted by id. */
struct compare_id {
	const struct result_case *line;
};

/* The figures kept of a case of a run. */
struct compare_known {
	bool has_figures;               /* the case is complete */
	double values[COMPARE_FIGURES]; /* medians over trials; NAN: unknown */
	double steps[COMPARE_FIGURES];  /* step of the values; 0: unknown */
	double rate;                    /* offered rate of a load; else 0 */
	bool is_saturated;              /* load cases: the schedule was not kept */
};

/* A result without its histograms and trials. */
struct compare_run {
	struct result result;
	char *name;                  /* the file name */
	struct compare_known *known; /* by case */
	struct compare_id *sorted;   /* the cases by id */
};

struct compare_runs {
	struct compare_run *runs;
	size_t count;
};

/* One figure of a case. */
struct compare_cell {
	const struct result_case *line; /* in the first run */
	const struct compared_figure *figure;
	size_t n_runs[COMPARE_SIDES];
	struct ratio ratio;
	struct judged_ratio judged;
	double chance;    /* of a ratio this far beyond the threshold; NAN: unknown */
	double corrected; /* the chance, corrected for the number of figures */
	bool is_repeat;   /* repeats the cell before in another unit: not a test of its own */
};

/* A case that is missing, incomplete or different in some runs. */
struct compare_gap {
	const struct result_case *line;
	char why[512];
	bool is_compared; /* compared anyway: from the other runs, or forced */
	bool is_excused;  /* skipped by both sides, or forced */
};

/* A figure that is unknown in some runs of a case that is compared. */
struct compare_unknown {
	const struct result_case *line;
	size_t number; /* of the figure */
	char why[128];
};

struct comparison {
	bool is_forced; /* set by the caller: compare different setups */
	bool with_cpu;  /* set by the caller: compare CPU time per message as well */
	struct compare_runs sides[COMPARE_SIDES];
	char difference[256]; /* the first difference that is_forced ignored; empty: none */
	struct compare_cell *cells;
	size_t n_cells;
	size_t n_compared; /* cases with cells */
	struct compare_gap *gaps;
	size_t n_gaps;
	struct compare_unknown *unknown;
	size_t n_unknown;
	size_t n_tests;              /* cells with a known spread, without repeats */
	size_t n_verdicts[VERDICTS]; /* cells without repeats */
};

/*
 * Adds a run to a side. Takes over *result, even on failure; its texts live in result->texts or
 * have static storage. -EXDEV: its setup differs from a run already added, and is_forced is not
 * set. -EEXIST: the side already has this run. The error says why.
 */
int compare_add(struct comparison *comparison, enum compare_side side, struct result *result,
		const char *name, struct error *error);

/*
 * Judges all figures once all runs are added. -ENODATA: no case could be compared; the gaps say
 * why. -EEXIST: the sides share a run, and are not both that single run.
 */
int compare_judge(struct comparison *comparison, struct error *error);

/* Computes the verdicts of all cells, as the last step of compare_judge. -ENOMEM. */
int compare_decide(struct comparison *comparison, struct error *error);

/* Returns the figure with that index in values. */
const struct compared_figure *compare_figure(size_t number);

const char *compare_side_name(enum compare_side side);

/* Whether every figure of every case is compared and is the same or better. */
bool compare_has_passed(const struct comparison *comparison);

/* Whether both sides are one and the same run. */
bool compare_is_itself(const struct comparison *comparison);

/* Returns -EEXIST if the sides share a run, unless each is just that run. */
int compare_check_sides(const struct comparison *comparison, struct error *error);

/* Whether all runs of one side are older than those of the other. */
bool compare_is_apart(const struct comparison *comparison);

/* Releases a comparison in any state. */
void compare_close(struct comparison *comparison);

#endif
