/* SPDX-License-Identifier: MIT */
/*
 * The content of a history as plain data: runs, setups, and series with their change points.
 * Nobody has to keep the database open while it is shown.
 */
#ifndef REPORTS_HISTORY_VIEW_H
#define REPORTS_HISTORY_VIEW_H

#include <stdbool.h>

#include "reports/history/database.h"
#include "reports/history/name.h"
#include "reports/result/compared_figure.h"
#include "reports/stats/change_points.h"
#include "reports/verdict/verdict.h"

struct history_run {
	int64_t number; /* they are sorted by it */
	char name[HISTORY_NAME];
	char started[32];
	char *version;
	char *revision;
	char *status;
	size_t setup;
	size_t newer; /* newer runs of its setup */
};

struct history_setup {
	int64_t id;
	char *title;
	char *banner; /* of the software device; else empty */
	size_t n_runs;
	bool is_current; /* in use: it has one of the newest runs */
};

struct history_point {
	size_t run;
	double value;
};

struct history_change {
	size_t run;    /* the first one after it */
	size_t before; /* the last one before it */
	double value_before;
	double value_after;
};

/* Longer texts are cut. */
#define HISTORY_DIFFERS 256

struct history_series {
	int64_t id;
	size_t setup;
	char *case_id;
	char *kind;    /* of a latency; else empty */
	char *variant; /* settings that the id does not name */
	char *differs; /* those in which series of the same id differ, each after a comma */
	const struct compared_figure *figure;
	struct history_point *points; /* the newest, oldest first */
	size_t n_points;
	size_t n_left_out; /* older points */
	struct history_change *changes;
	size_t n_changes;
};

/* Selects what to show. The caller owns it. */
struct history_choice {
	const char *const *cases; /* shell patterns of ids */
	size_t n_cases;           /* 0: all cases */
	size_t newest;            /* points of a series; 0: all */
	size_t recent;            /* a setup is in use if one of so many newest runs is its */
	const struct change_points_rule *rule; /* NULL: no values, no change points */
};

struct history_view {
	struct history_choice choice;
	struct history_run *runs;
	size_t n_runs;
	struct history_setup *setups;
	size_t n_setups;
	struct history_series *series;
	size_t n_series;
};

/* Fills a view that has its choice. The caller calls history_view_finish, also where it fails. */
int history_view_fill(struct history_view *view, struct history *history, struct error *error);

/* More figures than a case has. */
#define HISTORY_FIGURES 8

/* A walk over the series of one case, which are neighbors, run by run. Begins zeroed. */
struct history_walk {
	const struct history_series *series;
	size_t count;
	size_t next[HISTORY_FIGURES];
	size_t run;
	const struct history_point *points[HISTORY_FIGURES]; /* NULL: that run has no value */
};

/* Returns the number of series of one case from that one on. */
size_t history_view_group(const struct history_view *view, size_t first);

/* Moves to the next run in any of the series. false: all have ended. */
bool history_walk(struct history_walk *walk);

/* Returns the change point at that run, or NULL. */
const struct history_change *history_change_at(const struct history_series *series, size_t run);

/* Returns the banner of the first setup that has one, or NULL: it heads all that is shown. */
const char *history_view_banner(const struct history_view *view);

/* Returns whether it lies in the newest runs of a setup that is in use. */
bool history_change_is_recent(const struct history_view *view, const struct history_change *change);

/* Returns better or worse: its test has shown that the values differ. */
enum verdict history_change_verdict(const struct history_series *series,
				    const struct history_change *change);

void history_view_finish(struct history_view *view);

#endif
