/* SPDX-License-Identifier: MIT */
#include "reports/history/steps.h"

#include <errno.h>
#include <stdlib.h>

/* A series with what is settled of it, and its values from the first one that is needed. */
struct state {
	sqlite3 *db;
	int64_t series;
	const struct change_points_rule *rule;
	bool is_kept;
	size_t windows; /* that were settled before */
	size_t first;
	int64_t first_run;
	int64_t *runs;
	double *values;
	size_t count;
	struct history_founds before; /* that were settled */
	struct change_points settled;
};

static int no_memory(struct error *error)
{
	return error_set_errno(error, -ENOMEM, "cannot keep a series");
}

static int history_steps_add(struct history_founds *founds, const struct history_found *found,
			     struct error *error)
{
	struct history_found *grown = reallocarray(founds->list, founds->count + 1, sizeof(*grown));

	if (!grown)
		return no_memory(error);
	founds->list = grown;
	grown[founds->count++] = *found;
	return 0;
}

static int read_steps(struct history_founds *founds, sqlite3 *db, int64_t series, int is_settled,
		      struct error *error)
{
	sqlite3_stmt *rows = sql_start(db, error,
				       "SELECT at, run, run_before, statistic, value_before, "
				       "value_after FROM steps WHERE series = ? AND settled = ? "
				       "ORDER BY at",
				       "ii", series, (int64_t)is_settled);
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		const struct history_found found = {
			.run = sqlite3_column_int64(rows, 1),
			.before = sqlite3_column_int64(rows, 2),
			.step = {.at = (size_t)sqlite3_column_int64(rows, 0),
				 .statistic = sqlite3_column_double(rows, 3),
				 .before = sqlite3_column_double(rows, 4),
				 .after = sqlite3_column_double(rows, 5)},
		};

		code = history_steps_add(founds, &found, error);
		if (code)
			break;
	}
	sqlite3_finalize(rows);
	return code;
}

/* false: all of it is there already. */
static int read_settled(struct state *state, bool *is_checked, struct error *error)
{
	sqlite3_stmt *row = sql_start(state->db, error,
				      "SELECT windows, need_at, need_run, is_checked FROM series "
				      "WHERE id = ?",
				      "i", state->series);
	int code = sql_next(row, error);

	if (code > 0) {
		state->windows = (size_t)sqlite3_column_int64(row, 0);
		state->first = (size_t)sqlite3_column_int64(row, 1);
		state->first_run = sqlite3_column_int64(row, 2);
		*is_checked = sqlite3_column_int(row, 3);
	}
	sqlite3_finalize(row);
	if (code <= 0)
		return code ? code : error_set(error, -EBADMSG, "a series has gone");
	state->settled.windows = state->windows;
	code = read_steps(&state->before, state->db, state->series, 1, error);
	for (size_t i = 0; i < state->before.count && !code; i++)
		code = change_points_add(&state->settled, &state->before.list[i].step, error);
	return code;
}

static int add_value(struct state *state, size_t *room, int64_t run, double value)
{
	if (state->count == *room) {
		size_t wanted = 2 * *room + 256;
		int64_t *runs = reallocarray(state->runs, wanted, sizeof(*runs));
		double *values;

		if (!runs)
			return -ENOMEM;
		state->runs = runs;
		values = reallocarray(state->values, wanted, sizeof(*values));
		if (!values)
			return -ENOMEM;
		state->values = values;
		*room = wanted;
	}
	state->runs[state->count] = run;
	state->values[state->count++] = value;
	return 0;
}

static int read_values(struct state *state, struct error *error)
{
	sqlite3_stmt *rows = sql_start(state->db, error,
				       "SELECT run, value FROM points WHERE series = ? AND "
				       "run >= ? ORDER BY run",
				       "ii", state->series, state->first_run);
	size_t room = 0;
	int code;

	for (code = sql_next(rows, error); code > 0; code = sql_next(rows, error)) {
		double value = sqlite3_column_double(rows, 1);

		if (!(value > 0))
			code = error_set(error, -EBADMSG, "a series has a value that is none");
		else if (add_value(state, &room, sqlite3_column_int64(rows, 0), value))
			code = no_memory(error);
		if (code < 0)
			break;
	}
	sqlite3_finalize(rows);
	return code;
}

/* A step of values that are there no more was settled before, and kept its runs. */
static int name_runs(struct history_found *found, const struct state *state, struct error *error)
{
	size_t at = found->step.at;

	if (at > state->first && at - state->first < state->count) {
		found->run = state->runs[at - state->first];
		found->before = state->runs[at - state->first - 1];
		return 0;
	}
	for (size_t i = 0; i < state->before.count; i++) {
		if (state->before.list[i].step.at != at)
			continue;
		found->run = state->before.list[i].run;
		found->before = state->before.list[i].before;
		return 0;
	}
	return error_set(error, -EBADMSG, "a step of a series has no run");
}

static int name_all(struct history_founds *founds, const struct state *state,
		    const struct change_points *steps, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < steps->count && !code; i++) {
		struct history_found found = {.step = steps->list[i]};

		code = name_runs(&found, state, error);
		if (!code)
			code = history_steps_add(founds, &found, error);
	}
	return code;
}

static int keep_steps(const struct state *state, const struct history_founds *founds,
		      int is_settled, struct error *error)
{
	int code = sql_do(state->db, error, "DELETE FROM steps WHERE series = ? AND settled = ?",
			  "ii", state->series, (int64_t)is_settled);

	for (size_t i = 0; i < founds->count && !code; i++) {
		const struct history_found *found = &founds->list[i];

		code = sql_do(state->db, error, "INSERT INTO steps VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
			      "iiiiiddd", state->series, (int64_t)is_settled,
			      (int64_t)found->step.at, found->run, found->before,
			      found->step.statistic, found->step.before, found->step.after);
	}
	return code;
}

static int keep_settled(const struct state *state, struct error *error)
{
	size_t need = change_points_need(&state->settled, state->rule);
	size_t end = change_points_settled(&state->settled, state->rule);
	struct history_founds settled = {0};
	int code = name_all(&settled, state, &state->settled, error);

	if (!code)
		code = keep_steps(state, &settled, 1, error);
	if (!code)
		code = sql_do(state->db, error,
			      "UPDATE series SET windows = ?, settled_run = ?, need_at = ?, "
			      "need_run = ? WHERE id = ?",
			      "iiiii", (int64_t)state->settled.windows,
			      state->runs[end - 1 - state->first], (int64_t)need,
			      state->runs[need - state->first], state->series);
	history_founds_finish(&settled);
	return code;
}

static int keep(const struct state *state, const struct history_founds *founds, struct error *error)
{
	int code = 0;

	if (state->settled.windows > state->windows)
		code = keep_settled(state, error);
	if (!code)
		code = keep_steps(state, founds, 0, error);
	return code ? code
		    : sql_do(state->db, error, "UPDATE series SET is_checked = 1 WHERE id = ?", "i",
			     state->series);
}

static int history_steps_look(struct history_founds *founds, struct state *state,
			      struct error *error)
{
	struct change_points found = {0};
	struct change_points_values values;
	int code = read_values(state, error);

	values = (struct change_points_values){state->values, state->first,
					       state->first + state->count};
	if (!code)
		code = change_points_settle(&state->settled, state->rule, &values, error);
	if (!code)
		code = change_points_find(&found, &state->settled, state->rule, &values, error);
	if (!code)
		code = name_all(founds, state, &found, error);
	change_points_finish(&found);
	if (!code && state->is_kept)
		code = keep(state, founds, error);
	return code;
}

int history_find(struct history_founds *founds, sqlite3 *db, int64_t series,
		 const struct change_points_rule *rule, struct error *error)
{
	struct state state = {
		.db = db, .series = series, .rule = rule, .is_kept = change_points_is_usual(rule)};
	bool is_checked = false;
	int code = state.is_kept ? read_settled(&state, &is_checked, error) : 0;

	*founds = (struct history_founds){0};
	if (!code)
		code = is_checked ? read_steps(founds, db, series, 0, error)
				  : history_steps_look(founds, &state, error);
	if (code)
		history_founds_finish(founds);
	free(state.runs);
	free(state.values);
	history_founds_finish(&state.before);
	change_points_finish(&state.settled);
	return code;
}

void history_founds_finish(struct history_founds *founds)
{
	free(founds->list);
	*founds = (struct history_founds){0};
}
