/* SPDX-License-Identifier: MIT */
#include "reports/history/index.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare/same_setup.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/result/compared_figure.h"
#include "reports/result/run_settings.h"
#include "reports/table/cells.h"

/*
 * Of a series: windows, settled_run, need_at and need_run tell how far it is settled and
 * where the values begin that are needed to go on; is_checked, whether its steps with settled
 * = 0 are those of all its values.
 */
static const char *const tables[] = {
	"CREATE TABLE setups(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
	"title TEXT NOT NULL, banner TEXT NOT NULL)",
	"CREATE TABLE runs(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
	"setup INTEGER NOT NULL, started TEXT NOT NULL, status TEXT NOT NULL, "
	"version TEXT NOT NULL, revision TEXT NOT NULL, size INTEGER NOT NULL, "
	"changed_ns INTEGER NOT NULL, label_size INTEGER NOT NULL, "
	"label_changed_ns INTEGER NOT NULL)",
	"CREATE INDEX runs_of_setup ON runs(setup, id)",
	"CREATE TABLE skipped(name TEXT PRIMARY KEY, why TEXT NOT NULL, size INTEGER NOT NULL, "
	"changed_ns INTEGER NOT NULL, label_size INTEGER NOT NULL, "
	"label_changed_ns INTEGER NOT NULL, program TEXT NOT NULL) WITHOUT ROWID",
	"CREATE TABLE series(id INTEGER PRIMARY KEY, setup INTEGER NOT NULL, "
	"case_id TEXT NOT NULL, kind TEXT NOT NULL, figure TEXT NOT NULL, "
	"variant TEXT NOT NULL, windows INTEGER NOT NULL DEFAULT 0, "
	"settled_run INTEGER NOT NULL DEFAULT 0, "
	"need_at INTEGER NOT NULL DEFAULT 0, need_run INTEGER NOT NULL DEFAULT 0, "
	"is_checked INTEGER NOT NULL DEFAULT 0, UNIQUE(setup, case_id, kind, figure, variant))",
	"CREATE TABLE points(series INTEGER NOT NULL, run INTEGER NOT NULL, value REAL NOT NULL, "
	"PRIMARY KEY(series, run)) WITHOUT ROWID",
	"CREATE TABLE steps(series INTEGER NOT NULL, settled INTEGER NOT NULL, "
	"at INTEGER NOT NULL, run INTEGER NOT NULL, run_before INTEGER NOT NULL, "
	"statistic REAL NOT NULL, value_before REAL NOT NULL, value_after REAL NOT NULL, "
	"PRIMARY KEY(series, settled, at)) WITHOUT ROWID",
};

#define TEXT_OF(number)     #number
#define SET_VERSION(number) "PRAGMA user_version = " TEXT_OF(number)

int history_index_create(sqlite3 *db, struct error *error)
{
	int code = sql_do(db, error, "BEGIN IMMEDIATE", "");

	for (size_t i = 0; i < ARRAY_LENGTH(tables) && !code; i++)
		code = sql_do(db, error, tables[i], "");
	if (!code)
		code = sql_do(db, error, SET_VERSION(HISTORY_INDEX_VERSION), "");
	return code ? code : sql_do(db, error, "COMMIT", "");
}

int history_index_check(sqlite3 *db, struct error *error)
{
	int64_t version;
	int64_t count;
	int code = sql_number(db, error, &version, "PRAGMA user_version");

	if (!code)
		code = sql_number(db, error, &count, "SELECT count(*) FROM sqlite_master");
	if (code)
		return code;
	if (!count && !version)
		return 1;
	if (version != HISTORY_INDEX_VERSION)
		return error_set(error, -EPROTO, "the index is of version %lld, and this is %d",
				 (long long)version, HISTORY_INDEX_VERSION);
	return 0;
}

/* What a case is followed by: a bandwidth in messages is the same in another unit. */
static size_t pick_figures(const struct compared_figure *picked[static 3], double values[static 3],
			   const struct result_case *line, int *code, struct error *error)
{
	static const struct compared_figure *const rates[] = {&compared_figure_bytes,
							      &compared_figure_messages, NULL};
	static const struct compared_figure *const middles[] = {&compared_figure_median,
								&compared_figure_mean, NULL};
	static const struct compared_figure *const tails[] = {&compared_figure_tail, NULL};
	static const struct compared_figure *const loads[] = {&compared_figure_messages, NULL};
	bool is_rate = cells_table(line) == CELLS_BANDWIDTH;
	const struct compared_figure *const *const wanted[] = {
		is_rate ? rates : middles,
		is_rate ? NULL : tails,
		cells_table(line) == CELLS_LOAD ? loads : NULL,
	};
	size_t count = 0;

	/* Of each the first one that is known. */
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
		for (size_t j = 0; wanted[i] && wanted[i][j] && !*code; j++) {
			*code = compared_figure_over_trials(&values[count], line, wanted[i][j],
							    error);
			if (*code || isnan(values[count]))
				continue;
			picked[count++] = wanted[i][j];
			break;
		}
	return count;
}

struct adding {
	sqlite3 *db;
	int64_t run;
	int64_t setup;
	sqlite3_stmt *add_series;
	sqlite3_stmt *add_point;
};

static int add_case(struct adding *adding, const struct result_case *line, struct error *error)
{
	const char *kind = cells_table(line) == CELLS_BANDWIDTH ? "" : result_kind_name(line->kind);
	const struct compared_figure *picked[3];
	double values[3];
	int code = 0;
	size_t count = pick_figures(picked, values, line, &code, error);

	char *variant = run_settings_of(line);

	if (!code && !variant)
		code = error_set_errno(error, -ENOMEM, "cannot keep how a case was run");
	for (size_t i = 0; i < count && !code; i++) {
		code = sql_again(adding->add_series, error, "itttt", adding->setup, line->id, kind,
				 picked[i]->key, variant);
		if (!code)
			code = sql_again(adding->add_point, error, "iditttt", adding->run,
					 values[i], adding->setup, line->id, kind, picked[i]->key,
					 variant);
	}
	free(variant);
	return code;
}

/* A load in per cent of what can be sent, which is another load in each run. */
static bool is_of_a_share(const struct result_case *line)
{
	return strchr(line->id, '%') != NULL;
}

static int add_cases(struct adding *adding, const struct result *result, struct error *error)
{
	int code = 0;

	adding->add_series = sql_start(adding->db, error,
				       "INSERT INTO series(setup, case_id, kind, figure, variant) "
				       "VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
				       "");
	adding->add_point = sql_start(adding->db, error,
				      "INSERT OR IGNORE INTO points(series, run, value) "
				      "SELECT id, ?, ? FROM series WHERE setup = ? AND "
				      "case_id = ? AND kind = ? AND figure = ? AND variant = ?",
				      "");
	for (size_t i = 0; i < result->n_cases && !code; i++)
		if (cells_has_figures(&result->cases[i]) && !is_of_a_share(&result->cases[i]))
			code = add_case(adding, &result->cases[i], error);
	sqlite3_finalize(adding->add_series);
	sqlite3_finalize(adding->add_point);
	return code;
}

#define HAS_RUN "EXISTS (SELECT 1 FROM points WHERE points.series = series.id AND run = ?)"

/* What was found in the series of a run, if not all of it is of those before. */
static int forget_found(sqlite3 *db, int64_t setup, int64_t run, struct error *error)
{
	int code =
		sql_do(db, error, "UPDATE series SET is_checked = 0 WHERE setup = ? AND " HAS_RUN,
		       "ii", setup, run);

	if (!code)
		code = sql_do(db, error,
			      "UPDATE series SET windows = 0, settled_run = 0, need_at = 0, "
			      "need_run = 0 WHERE setup = ? AND settled_run >= ? AND " HAS_RUN,
			      "iii", setup, run, run);
	if (!code)
		code = sql_do(db, error,
			      "DELETE FROM steps WHERE settled = 1 AND series IN "
			      "(SELECT id FROM series WHERE setup = ? AND windows = 0)",
			      "i", setup);
	return code;
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* As people find it again: names are not part of what has to be alike. */
static void make_title(char text[static CELLS_HEAD], const struct result *result)
{
	const struct result_end *near = &result->client;
	const struct result_end *far = &result->server;
	uint64_t mbps = lesser(near->rate_mbps, far->rate_mbps);
	unsigned int mtu = (unsigned int)lesser(near->mtu, far->mtu);
	char ends[CELLS_ENDS];
	char rate[32] = "";
	char most[24] = "";

	if (result->imported) {
		cells_head(text, result);
		return;
	}
	cells_pair(ends, result);
	/* 0 is what nobody knows. */
	if (mbps)
		snprintf(rate, sizeof(rate), " %g Gb/s", (double)mbps / 1000);
	if (mtu)
		snprintf(most, sizeof(most), " MTU %u", mtu);
	snprintf(text, CELLS_HEAD, "%s  %s%s%s", ends, near->link_layer, rate, most);
}

static int find_setup(sqlite3 *db, const char *key, int64_t *setup, struct error *error)
{
	sqlite3_stmt *found = sql_start(db, error, "SELECT id FROM setups WHERE key = ?", "t", key);
	int code = sql_next(found, error);

	*setup = code > 0 ? sqlite3_column_int64(found, 0) : 0;
	sqlite3_finalize(found);
	return code < 0 ? code : 0;
}

/* It is called as its newest run calls it. */
static int add_setup(sqlite3 *db, const struct history_file *file, const struct result *result,
		     int64_t *setup, struct error *error)
{
	const char *banner = banner_of(result) ? banner_of(result) : "";
	char key[SAME_SETUP_KEY];
	char title[CELLS_HEAD];
	int code = same_setup_key(key, result, error);

	make_title(title, result);
	if (!code)
		code = sql_do(db, error,
			      "INSERT INTO setups(key, title, banner) VALUES(?, ?, ?) "
			      "ON CONFLICT DO NOTHING",
			      "ttt", key, title, banner);
	if (!code)
		code = find_setup(db, key, setup, error);
	if (!code)
		code = sql_do(db, error,
			      "UPDATE setups SET title = ? WHERE id = ? AND NOT EXISTS "
			      "(SELECT 1 FROM runs WHERE setup = ? AND id > ?)",
			      "tiii", title, *setup, *setup, file->number);
	return code;
}

/* Facts may have anything; what could not be shown, in a spreadsheet too, is none. */
static void take_revision(char text[static HISTORY_LABEL], const struct result *result)
{
	struct error ignored = {0};

	if (json_member_text(json_object_get(result->client.facts, "tool"), "revision", text,
			     HISTORY_LABEL, &ignored) ||
	    json_member_is_formula(text))
		text[0] = '\0';
}

int history_index_add(sqlite3 *db, const struct history_file *file, const struct result *result,
		      const struct history_label *label, struct error *error)
{
	/* What has imported it has not measured it. */
	const char *own = result->imported ? "" : result->version;
	const char *version = label->version[0] ? label->version : own;
	struct adding adding = {.db = db, .run = file->number};
	char revision[HISTORY_LABEL];
	int code = add_setup(db, file, result, &adding.setup, error);

	if (label->commit[0])
		memcpy(revision, label->commit, sizeof(revision));
	else
		take_revision(revision, result);

	if (!code)
		code = sql_do(db, error, "INSERT INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			      "itittttiiii", file->number, file->name, adding.setup,
			      result->started, result_status_name(result->status), version,
			      revision, file->size, file->changed_ns, file->label_size,
			      file->label_changed_ns);
	if (!code)
		code = add_cases(&adding, result, error);
	return code ? code : forget_found(db, adding.setup, adding.run, error);
}

int history_index_skip(sqlite3 *db, const struct history_file *file, const char *version,
		       const char *why, struct error *error)
{
	return sql_do(db, error, "INSERT OR REPLACE INTO skipped VALUES(?, ?, ?, ?, ?, ?, ?)",
		      "ttiiiit", file->name, why, file->size, file->changed_ns, file->label_size,
		      file->label_changed_ns, version);
}

static int remove_points(sqlite3 *db, int64_t setup, int64_t run, struct error *error)
{
	int code = forget_found(db, setup, run, error);

	if (!code)
		code = sql_do(db, error,
			      "DELETE FROM points WHERE run = ? AND series IN "
			      "(SELECT id FROM series WHERE setup = ?)",
			      "ii", run, setup);
	if (!code)
		code = sql_do(db, error,
			      "DELETE FROM steps WHERE series IN (SELECT id FROM series WHERE "
			      "setup = ? AND NOT EXISTS (SELECT 1 FROM points WHERE "
			      "points.series = series.id))",
			      "i", setup);
	if (!code)
		code = sql_do(db, error,
			      "DELETE FROM series WHERE setup = ? AND NOT EXISTS "
			      "(SELECT 1 FROM points WHERE points.series = series.id)",
			      "i", setup);
	return code;
}

int history_index_remove(sqlite3 *db, const struct history_file *file, struct error *error)
{
	sqlite3_stmt *found =
		sql_start(db, error, "SELECT setup FROM runs WHERE id = ?", "i", file->number);
	int code = sql_next(found, error);
	int64_t setup = code > 0 ? sqlite3_column_int64(found, 0) : 0;

	sqlite3_finalize(found);
	if (code > 0)
		code = remove_points(db, setup, file->number, error);
	if (!code)
		code = sql_do(db, error, "DELETE FROM runs WHERE id = ?", "i", file->number);
	if (!code)
		code = sql_do(db, error,
			      "DELETE FROM setups WHERE NOT EXISTS "
			      "(SELECT 1 FROM runs WHERE runs.setup = setups.id)",
			      "");
	if (!code)
		code = sql_do(db, error, "DELETE FROM skipped WHERE name = ?", "t", file->name);
	return code;
}
