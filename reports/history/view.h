/* SPDX-License-Identifier: MIT */
/*
 * What a history has, to be shown: its runs, its setups, and series with their steps. It is
 * plain data, so that the history itself need not be held while it is shown.
 */
#ifndef REPORTS_HISTORY_VIEW_H
#define REPORTS_HISTORY_VIEW_H

#include <stdbool.h>

#include "reports/history/history.h"
#include "reports/history/name.h"
#include "reports/result/compared_figure.h"
#include "reports/stats/change_points.h"

struct history_run {
	int64_t number; /* they are sorted by it */
	char name[HISTORY_NAME];
	char started[32];
	char *version;
	char *revision;
	char *status;
	size_t setup;
	size_t newer; /* runs of its setup */
};

struct history_setup {
	int64_t id;
	char *title;
	char *banner; /* empty: none */
	size_t n_runs;
	bool is_current; /* one of its runs is among the newest of all */
};

struct history_point {
	size_t run;
	double value;
};

struct history_step {
	size_t run;    /* the first one behind it */
	size_t before; /* the last one before it */
	double value_before;
	double value_after;
};

/* More of it is left out. */
#define HISTORY_DIFFERS 256

struct history_series {
	int64_t id;
	size_t setup;
	char *case_id;
	char *kind;    /* of a latency; else empty */
	char *variant; /* how it was run */
	char *differs; /* what of that others of its id have otherwise, with commas before */
	const struct compared_figure *figure;
	struct history_point *points; /* the newest, in their order */
	size_t n_points;
	size_t n_left_out; /* before those */
	struct history_step *steps;
	size_t n_steps;
};

/* What is looked for; the caller's. */
struct history_choice {
	const char *const *cases; /* patterns of ids, as a shell has them; of all: none */
	size_t n_cases;
	size_t newest;    /* points of a series; 0: all */
	size_t recent;    /* runs of all among which a current setup has one */
	bool with_points; /* else steps alone */
	const struct change_points_rule *rule;
};

struct history_view {
	struct history_choice choice;
	struct history_run *runs;
	size_t n_runs;
	struct history_setup *setups;
	size_t n_setups;
	struct history_series *series;
	size_t n_series;
	size_t n_skipped;
};

/* A history_work: of is the view, which has its choice, and is filled anew. */
int history_view_fill(struct history *history, void *of, struct error *error);

/* More figures than a case has. */
#define HISTORY_FIGURES 8

/* Series of one case of a setup, which are neighbours, run by run. Begins zeroed. */
struct history_walk {
	const struct history_series *series;
	size_t count;
	size_t next[HISTORY_FIGURES];
	size_t run;
	const struct history_point *points[HISTORY_FIGURES]; /* NULL: that run has none */
};

/* How many there are from that one on. */
size_t history_view_group(const struct history_view *view, size_t first);

/* The next run that one of them has; false: there are no more. */
bool history_walk(struct history_walk *walk);

/* NULL: no step came at that run. */
const struct history_step *history_step_at(const struct history_series *series, size_t run);

/* NULL: there is none. Of the first setup that has one: what heads all that is shown. */
const char *history_view_banner(const struct history_view *view);

/* Whether a step came in the newest runs of its setup, which is in use. */
bool history_step_is_recent(const struct history_view *view, const struct history_step *step);

/* Whether it is one for the worse. */
bool history_step_is_worse(const struct history_series *series, const struct history_step *step);

void history_view_finish(struct history_view *view);

#endif
