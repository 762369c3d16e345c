/* SPDX-License-Identifier: MIT */
#include "reports/history/view.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "reports/history/sql.h"
#include "reports/result/run_settings.h"

static const struct compared_figure *const figures[] = {
	&compared_figure_median, &compared_figure_tail,     &compared_figure_mean,
	&compared_figure_bytes,  &compared_figure_messages,
};

static int no_memory(struct error *error)
{
	return error_set_errno(error, -ENOMEM, "cannot load the history");
}

static char *copy(sqlite3_stmt *row, int column)
{
	return strdup(sql_text(row, column));
}

static int read_setups(struct history_view *view, sqlite3 *db, struct error *error)
{
	sqlite3_stmt *rows = sql_start(db, error,
				       "SELECT id, title, banner FROM setups ORDER BY "
				       "(SELECT min(runs.id) FROM runs WHERE setup = setups.id)",
				       "");
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		struct history_setup *setup =
			reallocarray(view->setups, view->n_setups + 1, sizeof(*setup));

		if (!setup) {
			code = no_memory(error);
			break;
		}
		view->setups = setup;
		setup += view->n_setups++;
		*setup = (struct history_setup){.id = sqlite3_column_int64(rows, 0),
						.title = copy(rows, 1),
						.banner = copy(rows, 2)};
		if (setup->title && setup->banner)
			continue;
		code = no_memory(error);
		break;
	}
	sqlite3_finalize(rows);
	return code;
}

static int find_setup(const struct history_view *view, int64_t id, size_t *number,
		      struct error *error)
{
	for (*number = 0; *number < view->n_setups; ++*number)
		if (view->setups[*number].id == id)
			return 0;
	return error_set(error, -EBADMSG, "a run has no setup");
}

static int read_run(struct history_run *run, const struct history_view *view, sqlite3_stmt *row,
		    struct error *error)
{
	*run = (struct history_run){.number = sqlite3_column_int64(row, 0),
				    .version = copy(row, 3),
				    .revision = copy(row, 4),
				    .status = copy(row, 5)};
	snprintf(run->name, sizeof(run->name), "%s", sql_text(row, 1));
	snprintf(run->started, sizeof(run->started), "%s", sql_text(row, 2));
	if (!run->version || !run->revision || !run->status)
		return no_memory(error);
	return find_setup(view, sqlite3_column_int64(row, 6), &run->setup, error);
}

static int read_runs(struct history_view *view, sqlite3 *db, struct error *error)
{
	sqlite3_stmt *rows = sql_start(db, error,
				       "SELECT id, name, started, version, revision, status, setup "
				       "FROM runs ORDER BY id",
				       "");
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		struct history_run *runs =
			reallocarray(view->runs, view->n_runs + 1, sizeof(*runs));

		if (runs) {
			view->runs = runs;
			code = read_run(&runs[view->n_runs++], view, rows, error);
		} else {
			code = no_memory(error);
		}
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	return code;
}

static void count_runs(struct history_view *view)
{
	/* Without setups there are no runs. */
	if (!view->setups)
		return;
	for (size_t i = view->n_runs; i > 0; i--) {
		struct history_run *run = &view->runs[i - 1];
		struct history_setup *setup = &view->setups[run->setup];

		run->newer = setup->n_runs++;
		if (view->n_runs - i < view->choice.recent)
			setup->is_current = true;
	}
}

static bool is_chosen(const struct history_choice *choice, const char *id)
{
	for (size_t i = 0; i < choice->n_cases; i++)
		if (!fnmatch(choice->cases[i], id, 0))
			return true;
	return !choice->n_cases;
}

static const struct compared_figure *find_figure(const char *key)
{
	for (size_t i = 0; i < ARRAY_LENGTH(figures); i++)
		if (!strcmp(figures[i]->key, key))
			return figures[i];
	return NULL;
}

static int read_one(struct history_view *view, sqlite3_stmt *row, struct error *error)
{
	struct history_series *series =
		reallocarray(view->series, view->n_series + 1, sizeof(*series));

	if (!series)
		return no_memory(error);
	view->series = series;
	series += view->n_series++;
	*series = (struct history_series){.id = sqlite3_column_int64(row, 0),
					  .case_id = copy(row, 2),
					  .kind = copy(row, 3),
					  .figure = find_figure(sql_text(row, 4)),
					  .variant = copy(row, 5)};
	if (!series->case_id || !series->kind || !series->variant)
		return no_memory(error);
	if (!series->figure)
		return error_set(error, -EBADMSG, "a series has an unknown figure");
	return find_setup(view, sqlite3_column_int64(row, 1), &series->setup, error);
}

static int by_place(const void *left, const void *right)
{
	const struct history_series *one = left;
	const struct history_series *other = right;
	int order = (one->setup > other->setup) - (one->setup < other->setup);

	if (!order)
		order = strverscmp(one->case_id, other->case_id);
	if (!order)
		order = strcmp(one->kind, other->kind);
	if (!order)
		order = strcmp(one->variant, other->variant);
	for (size_t i = 0; i < ARRAY_LENGTH(figures) && !order; i++)
		order = (other->figure == figures[i]) - (one->figure == figures[i]);
	return order;
}

static int read_series(struct history_view *view, sqlite3 *db, struct error *error)
{
	sqlite3_stmt *rows = sql_start(
		db, error, "SELECT id, setup, case_id, kind, figure, variant FROM series", "");
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		if (!is_chosen(&view->choice, sql_text(rows, 2)))
			continue;
		code = read_one(view, rows, error);
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	if (!code && view->n_series)
		qsort(view->series, view->n_series, sizeof(*view->series), by_place);
	return code;
}

static bool is_of_case(const struct history_series *one, const struct history_series *other)
{
	return one->setup == other->setup && !strcmp(one->case_id, other->case_id) &&
	       !strcmp(one->kind, other->kind);
}

/* Relies on the series of a case being adjacent. */
static int describe_differences(struct history_view *view, struct error *error)
{
	size_t first = 0;

	for (size_t i = 0; i < view->n_series; i++) {
		struct history_series *series = &view->series[i];
		char text[HISTORY_DIFFERS] = "";

		if (!is_of_case(&view->series[first], series))
			first = i;
		for (size_t j = first; j < view->n_series && is_of_case(series, &view->series[j]);
		     j++)
			run_settings_tell(text, sizeof(text), series->variant,
					  view->series[j].variant);
		series->differs = strdup(text);
		if (!series->differs)
			return no_memory(error);
	}
	return 0;
}

static int by_number(const void *key, const void *element)
{
	int64_t number = *(const int64_t *)key;
	const struct history_run *run = element;

	return (number > run->number) - (number < run->number);
}

static int find_run(const struct history_view *view, int64_t number, size_t *found,
		    struct error *error)
{
	const struct history_run *run = view->n_runs ? bsearch(&number, view->runs, view->n_runs,
							       sizeof(*view->runs), by_number)
						     : NULL;

	if (!run)
		return error_set(error, -EBADMSG, "a value has no run");
	*found = (size_t)(run - view->runs);
	return 0;
}

static int add_point(struct history_series *series, const struct history_point *point,
		     struct error *error)
{
	struct history_point *grown =
		reallocarray(series->points, series->n_points + 1, sizeof(*grown));

	if (!grown)
		return no_memory(error);
	series->points = grown;
	grown[series->n_points++] = *point;
	return 0;
}

static int read_points(const struct history_view *view, struct history_series *series, sqlite3 *db,
		       struct error *error)
{
	sqlite3_stmt *rows =
		sql_start(db, error, "SELECT run, value FROM points WHERE series = ? ORDER BY run",
			  "i", series->id);
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		struct history_point point = {.value = sqlite3_column_double(rows, 1)};

		code = find_run(view, sqlite3_column_int64(rows, 0), &point.run, error);
		if (!code)
			code = add_point(series, &point, error);
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	return code;
}

static int add_changes(struct history_series *series, const struct change_points *found,
		       struct error *error)
{
	series->changes = calloc(found->count + 1, sizeof(*series->changes));
	if (!series->changes)
		return no_memory(error);
	for (size_t i = 0; i < found->count; i++) {
		const struct change_point *point = &found->list[i];

		series->changes[series->n_changes++] = (struct history_change){
			.run = series->points[point->at].run,
			.before = series->points[point->at - 1].run,
			.value_before = point->before,
			.value_after = point->after,
		};
	}
	return 0;
}

static int find_changes(struct history_series *series, const struct change_points_rule *rule,
			struct error *error)
{
	double *values = malloc((series->n_points + 1) * sizeof(*values));
	struct change_points found;
	int code;

	if (!values)
		return no_memory(error);
	for (size_t i = 0; i < series->n_points; i++)
		values[i] = series->points[i].value;
	code = change_points_find(&found, rule, values, series->n_points, error);
	if (!code)
		code = add_changes(series, &found, error);
	change_points_finish(&found);
	free(values);
	return code;
}

static void keep_newest(struct history_series *series, size_t most)
{
	if (!most || series->n_points <= most)
		return;
	series->n_left_out = series->n_points - most;
	series->n_points = most;
	memmove(series->points, series->points + series->n_left_out,
		most * sizeof(*series->points));
}

static int fill_series(struct history_view *view, struct history_series *series, sqlite3 *db,
		       struct error *error)
{
	int code = read_points(view, series, db, error);

	if (!code)
		code = find_changes(series, view->choice.rule, error);
	keep_newest(series, view->choice.newest);
	return code;
}

static int fill_view(struct history_view *view, sqlite3 *db, struct error *error)
{
	int code = read_setups(view, db, error);

	if (!code)
		code = read_runs(view, db, error);
	if (!code)
		code = read_series(view, db, error);
	if (!code)
		code = describe_differences(view, error);
	if (!code)
		count_runs(view);
	for (size_t i = 0; i < view->n_series && view->choice.rule && !code; i++)
		code = fill_series(view, &view->series[i], db, error);
	return code;
}

int history_view_fill(struct history_view *view, struct history *history, struct error *error)
{
	int code = history_begin(history, HISTORY_READ, error);

	if (code)
		return code;
	code = fill_view(view, history->db, error);
	return history_end(history, HISTORY_READ, code, error);
}

size_t history_view_group(const struct history_view *view, size_t first)
{
	const struct history_series *series = &view->series[first];
	size_t count = 1;

	while (first + count < view->n_series && count < HISTORY_FIGURES &&
	       is_of_case(&series[count], series) &&
	       !strcmp(series[count].variant, series->variant))
		count++;
	return count;
}

bool history_walk(struct history_walk *walk)
{
	bool has_any = false;

	for (size_t i = 0; i < walk->count; i++) {
		const struct history_series *series = &walk->series[i];

		if (walk->next[i] == series->n_points)
			continue;
		if (!has_any || series->points[walk->next[i]].run < walk->run)
			walk->run = series->points[walk->next[i]].run;
		has_any = true;
	}
	for (size_t i = 0; i < walk->count && has_any; i++) {
		const struct history_series *series = &walk->series[i];
		bool is_there = walk->next[i] < series->n_points &&
				series->points[walk->next[i]].run == walk->run;

		walk->points[i] = is_there ? &series->points[walk->next[i]++] : NULL;
	}
	return has_any;
}

const struct history_change *history_change_at(const struct history_series *series, size_t run)
{
	for (size_t i = 0; i < series->n_changes; i++)
		if (series->changes[i].run == run)
			return &series->changes[i];
	return NULL;
}

const char *history_view_banner(const struct history_view *view)
{
	for (size_t i = 0; i < view->n_setups; i++)
		if (view->setups[i].banner[0])
			return view->setups[i].banner;
	return NULL;
}

bool history_change_is_recent(const struct history_view *view, const struct history_change *change)
{
	const struct history_run *run = &view->runs[change->run];

	return run->newer < view->choice.recent && view->setups[run->setup].is_current;
}

enum verdict history_change_verdict(const struct history_series *series,
				    const struct history_change *change)
{
	bool is_more = change->value_after > change->value_before;

	return is_more == series->figure->more_is_good ? VERDICT_BETTER : VERDICT_WORSE;
}

void history_view_finish(struct history_view *view)
{
	for (size_t i = 0; i < view->n_runs; i++) {
		free(view->runs[i].version);
		free(view->runs[i].revision);
		free(view->runs[i].status);
	}
	for (size_t i = 0; i < view->n_setups; i++) {
		free(view->setups[i].title);
		free(view->setups[i].banner);
	}
	for (size_t i = 0; i < view->n_series; i++) {
		free(view->series[i].case_id);
		free(view->series[i].kind);
		free(view->series[i].variant);
		free(view->series[i].differs);
		free(view->series[i].points);
		free(view->series[i].changes);
	}
	free(view->runs);
	free(view->setups);
	free(view->series);
	*view = (struct history_view){.choice = view->choice};
}
