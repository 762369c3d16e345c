/* SPDX-License-Identifier: MIT */
#include "reports/compare/json.h"

#include "reports/compare/sentences.h"
#include "reports/io/json_make.h"

#define CONFIDENCE 0.95

static json_t *make_end(const struct result_end *end)
{
	return json_pack("{s:s, s:s, s:i, s:s*, s:s*}", "host", end->host, "device", end->device,
			 "port", (int)end->port, "kind", end->kind, "hard_fingerprint",
			 end->fingerprint[0] ? end->fingerprint : NULL);
}

static json_t *make_run(const struct compare_run *run)
{
	const struct result *result = &run->result;

	return json_pack("{s:o, s:s, s:s, s:s, s:s, s:o, s:o}", "file", json_make_text(run->name),
			 "version", result->version, "started", result->started, "finished",
			 result->finished, "status", result_status_name(result->status), "client",
			 make_end(&result->client), "server", make_end(&result->server));
}

static json_t *make_side(const struct compare_runs *runs)
{
	json_t *made = json_array();

	for (size_t i = 0; i < runs->count; i++)
		json_array_append_new(made, make_run(&runs->runs[i]));
	return json_pack("{s:o}", "runs", made);
}

static json_t *make_interval(const struct ratio *ratio)
{
	json_t *low = json_make_number(ratio->low);
	json_t *high = json_make_number(ratio->high);

	if (low && high)
		return json_pack("{s:o, s:o, s:f}", "low", low, "high", high, "confidence",
				 CONFIDENCE);
	json_decref(low);
	json_decref(high);
	return NULL;
}

static json_t *make_cell(const struct compare_cell *cell)
{
	const struct ratio *ratio = &cell->ratio;
	bool is_unclear = cell->judged.verdict == VERDICT_UNCLEAR;

	return json_pack("{s:s, s:s, s:s, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:i, s:i, s:b, s:f, "
			 "s:s, s:o*}",
			 "case", cell->line->id, "figure", cell->figure->key, "unit",
			 cell->figure->measure, "base", json_make_number(ratio->base), "new",
			 json_make_number(ratio->now), "ratio", json_make_number(ratio->ratio),
			 "interval", make_interval(ratio), "p", json_make_number(cell->chance),
			 "p_corrected", json_make_number(cell->corrected), "base_runs",
			 (int)cell->n_runs[COMPARE_BASE], "new_runs",
			 (int)cell->n_runs[COMPARE_NEW], "tested_with_the_one_before",
			 cell->is_repeat, "threshold", cell->figure->threshold, "verdict",
			 verdict_name(cell->judged.verdict), "detectable",
			 is_unclear ? json_make_number(verdict_detectable(&cell->judged)) : NULL);
}

static json_t *make_gap(const struct compare_gap *gap)
{
	return json_pack("{s:s, s:o, s:b}", "case", gap->line->id, "reason",
			 json_make_text(gap->why), "compared", gap->is_compared);
}

static json_t *make_unknown(const struct compare_unknown *unknown)
{
	return json_pack("{s:s, s:s, s:s}", "case", unknown->line->id, "figure",
			 compare_figure(unknown->number)->key, "reason", unknown->why);
}

static void say(void *owner, const char *text)
{
	json_array_append_new(owner, json_string(text));
}

static json_t *make_counts(const struct comparison *comparison)
{
	const size_t *verdicts = comparison->n_verdicts;

	json_t *made = json_pack("{s:i, s:i}", "cases", (int)comparison->n_compared, "tests",
				 (int)comparison->n_tests);

	for (enum verdict verdict = 0; verdict < VERDICTS; verdict++)
		json_object_set_new(made, verdict_name(verdict),
				    json_integer((json_int_t)verdicts[verdict]));
	return made;
}

static void add_lists(json_t *made, const struct comparison *comparison)
{
	json_t *cells = json_array();
	json_t *gaps = json_array();
	json_t *unknown = json_array();
	json_t *notes = json_array();

	for (size_t i = 0; i < comparison->n_cells; i++)
		json_array_append_new(cells, make_cell(&comparison->cells[i]));
	for (size_t i = 0; i < comparison->n_gaps; i++)
		json_array_append_new(gaps, make_gap(&comparison->gaps[i]));
	for (size_t i = 0; i < comparison->n_unknown; i++)
		json_array_append_new(unknown, make_unknown(&comparison->unknown[i]));
	compare_say_notes(comparison, say, notes);
	json_object_set_new(made, "figures", cells);
	json_object_set_new(made, "missing", gaps);
	json_object_set_new(made, "unknown", unknown);
	json_object_set_new(made, "notes", notes);
}

json_t *compare_make(const struct comparison *comparison, const char *version)
{
	char text[COMPARE_TEXT];
	bool is_forced = compare_forced(comparison, text);
	json_t *made = json_pack("{s:s, s:{s:s, s:s}, s:s*, s:o*, s:o, s:o, s:f, s:s, s:o}",
				 "schema", COMPARE_SCHEMA, "tool", "name", "verbmark", "version",
				 version, "banner", compare_banner(comparison), "forced",
				 is_forced ? json_make_text(text) : NULL, "base",
				 make_side(&comparison->sides[COMPARE_BASE]), "new",
				 make_side(&comparison->sides[COMPARE_NEW]), "level", VERDICT_LEVEL,
				 "verdict", verdict_name(verdict_worst(comparison->n_verdicts)),
				 "counts", make_counts(comparison));

	if (made)
		add_lists(made, comparison);
	return made;
}
