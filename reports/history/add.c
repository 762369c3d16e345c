/* SPDX-License-Identifier: MIT */
#include "reports/history/add.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "reports/compare/same_setup.h"
#include "reports/history/sql.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/result/compared_figure.h"
#include "reports/result/run_settings.h"
#include "reports/table/cells.h"

/* Picks the figures to follow. With a bandwidth, the message rate would be redundant. */
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

	/* Picks the first figure of each list that all trials have. */
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
		for (size_t j = 0; wanted[i] && wanted[i][j] && !*code; j++) {
			*code = compared_figure_over_trials(&values[count], line, wanted[i][j],
							    error);
			/* NAN: a trial lacks the figure. */
			if (*code || !(values[count] > 0))
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
		code = error_set_errno(error, -ENOMEM, "cannot describe the settings of a case");
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

/* A percentage of the maximum is a different load in each run. */
static bool is_relative_load(const struct result_case *line)
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
		if (cells_has_figures(&result->cases[i]) && !is_relative_load(&result->cases[i]))
			code = add_case(adding, &result->cases[i], error);
	sqlite3_finalize(adding->add_series);
	sqlite3_finalize(adding->add_point);
	return code;
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Describes a setup by the hosts of this run. */
static void make_title(char text[static CELLS_HEAD], const struct result *result)
{
	const struct result_end *client = &result->client;
	const struct result_end *server = &result->server;
	uint64_t mbps = lesser(client->rate_mbps, server->rate_mbps);
	unsigned int mtu = (unsigned int)lesser(client->mtu, server->mtu);
	char ends[CELLS_ENDS];
	char rate[32] = "";
	char most[24] = "";

	if (result->imported) {
		cells_head(text, result);
		return;
	}
	cells_pair(ends, result);
	/* 0: unknown. */
	if (mbps)
		snprintf(rate, sizeof(rate), " %g Gb/s", (double)mbps / 1000);
	if (mtu)
		snprintf(most, sizeof(most), " MTU %u", mtu);
	snprintf(text, CELLS_HEAD, "%s  %s%s%s", ends, client->link_layer, rate, most);
}

static int find_setup(sqlite3 *db, const char *key, int64_t *setup, struct error *error)
{
	sqlite3_stmt *found = sql_start(db, error, "SELECT id FROM setups WHERE key = ?", "t", key);
	int code = sql_next(found, error);

	*setup = code > 0 ? sqlite3_column_int64(found, 0) : 0;
	sqlite3_finalize(found);
	return code < 0 ? code : 0;
}

/* Adds the setup if it is new. It has the title of its newest run. */
static int add_setup(sqlite3 *db, const struct history_entry *entry, int64_t *setup,
		     struct error *error)
{
	const struct result *result = entry->result;
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
			      "tiii", title, *setup, *setup, entry->name->number);
	return code;
}

/* Omits a revision that is not printable or that a spreadsheet would take for a formula. */
static void take_revision(char text[static HISTORY_LABEL], const struct result *result)
{
	struct error ignored = {0};

	if (json_member_text(json_object_get(result->client.facts, "tool"), "revision", text,
			     HISTORY_LABEL, &ignored) ||
	    json_member_is_formula(text))
		text[0] = '\0';
}

/* Updates the label of a known run. Returns 1 if the run is known. */
static int relabel(enum history_added *added, struct history *history,
		   const struct history_entry *entry, struct error *error)
{
	const struct history_label *label = entry->label;
	sqlite3_stmt *found = sql_start(history->db, error, "SELECT 1 FROM runs WHERE name = ?",
					"t", entry->name->text);
	int code = sql_next(found, error);

	sqlite3_finalize(found);
	if (code <= 0)
		return code;
	code = sql_do(history->db, error,
		      "UPDATE runs SET version = CASE ?2 WHEN '' THEN version ELSE ?2 END, "
		      "revision = CASE ?3 WHEN '' THEN revision ELSE ?3 END WHERE name = ?1 AND "
		      "(?2 NOT IN ('', version) OR ?3 NOT IN ('', revision))",
		      "ttt", entry->name->text, label->version, label->commit);
	if (code)
		return code;
	*added = sqlite3_changes(history->db) ? HISTORY_RELABELED : HISTORY_KNOWN;
	return 1;
}

static int add_run(struct history *history, const struct history_entry *entry, int64_t setup,
		   struct error *error)
{
	const struct result *result = entry->result;
	/* An imported result has the version of the importer. */
	const char *own = result->imported ? "" : result->version;
	const char *version = entry->label->version[0] ? entry->label->version : own;
	uLongf size = compressBound(entry->length);
	unsigned char *packed = malloc(size);
	char revision[HISTORY_LABEL];
	int code;

	if (!packed || compress(packed, &size, (const unsigned char *)entry->document,
				entry->length) != Z_OK) {
		free(packed);
		return error_set_errno(error, -ENOMEM, "cannot compress the document");
	}
	if (entry->label->commit[0])
		memcpy(revision, entry->label->commit, sizeof(revision));
	else
		take_revision(revision, result);
	code = sql_do(history->db, error, "INSERT INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
		      "itittttib", entry->name->number, entry->name->text, setup, result->started,
		      result_status_name(result->status), version, revision, (int64_t)entry->length,
		      packed, (size_t)size);
	free(packed);
	return code;
}

static int add_result(enum history_added *added, struct history *history,
		      const struct history_entry *entry, struct error *error)
{
	struct adding adding = {.db = history->db, .run = entry->name->number};
	int code = relabel(added, history, entry, error);

	if (code)
		return code < 0 ? code : 0;
	*added = HISTORY_ADDED;
	code = add_setup(history->db, entry, &adding.setup, error);
	if (!code)
		code = add_run(history, entry, adding.setup, error);
	return code ? code : add_cases(&adding, entry->result, error);
}

int history_add(enum history_added *added, struct history *history,
		const struct history_entry *entry, struct error *error)
{
	int code = history_begin(history, HISTORY_WRITE, error);

	if (code)
		return code;
	code = add_result(added, history, entry, error);
	return history_end(history, HISTORY_WRITE, code, error);
}
