/* SPDX-License-Identifier: MIT */
/*
 * The contents of a history as plain data: runs, setups, and series with their change points. The
 * database may be closed once the view is filled.
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
	int64_t number; /* sort key */
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
	char *banner; /* of the software device, or empty */
	size_t n_runs;
	bool is_current; /* its runs include some of the newest */
};

struct history_point {
	size_t run;
	double value;
};

struct history_change {
	size_t run;    /* the first run after the change */
	size_t before; /* the last run before it */
	double value_before;
	double value_after;
};

/* Longer texts are truncated. */
#define HISTORY_DIFFERS 256

struct history_series {
	int64_t id;
	size_t setup;
	char *case_id;
	char *kind;    /* of a latency, or empty */
	char *variant; /* settings that the id omits */
	char *differs; /* the settings in which series of the same id differ, each after a comma */
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
	size_t newest;            /* values per series to show; 0: all */
	size_t recent;            /* the number of newest runs whose setups are current */
	const struct change_points_rule *rule; /* NULL: load no values, find no change points */
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

/* Fills a view whose choice is set. The caller calls history_view_finish, even on failure. */
int history_view_fill(struct history_view *view, struct history *history, struct error *error);

/* More than the figures of a case. */
#define HISTORY_FIGURES 8

/* Iterates over the adjacent series of a case, run by run. Initialize the rest to zero. */
struct history_walk {
	const struct history_series *series;
	size_t count;
	size_t next[HISTORY_FIGURES];
	size_t run;
	const struct history_point *points[HISTORY_FIGURES]; /* NULL: no value in this run */
};

/* Returns the number of series of the case, starting at that one. */
size_t history_view_group(const struct history_view *view, size_t first);

/* Moves to the next run that any of the series has. Returns false at the end. */
bool history_walk(struct history_walk *walk);

/* Returns the change point at that run, or NULL. */
const struct history_change *history_change_at(const struct history_series *series, size_t run);

/* Returns the first setup's banner, or NULL; it heads every report. */
const char *history_view_banner(const struct history_view *view);

/* Whether the change is in the newest runs of a current setup. */
bool history_change_is_recent(const struct history_view *view, const struct history_change *change);

/* Returns better or worse; a change point is always a difference. */
enum verdict history_change_verdict(const struct history_series *series,
				    const struct history_change *change);

void history_view_finish(struct history_view *view);

#endif
