/* SPDX-License-Identifier: MIT */
#include "reports/fleet/compare_show.h"

#include <math.h>

#include "core/base/compiler.h"
#include "reports/io/json_make.h"
#include "reports/io/json_member.h"
#include "reports/page/html.h"
#include "reports/page/table.h"
#include "reports/table/markdown_writer.h"
#include "reports/verdict/sentences.h"

/* Rows for readers; CSV and JSON have all. */
#define ROWS_MOST 50

#define TITLE "NEW against BASE"

#define SENTENCE 512

/* Formats the ratios of a case: "send/lat/8: median ratio 1.002, spread 0.4 %: 2 worse, 54 same". */
static void describe_shift(char text[static SENTENCE], const struct fleet_comparison *comparison,
			   const struct fleet_shift *shift)
{
	const char *id = comparison->now->cases[shift->number].id;
	char verdicts[128];

	verdict_list(verdicts, sizeof(verdicts), shift->n_verdicts);
	if (!shift->count)
		snprintf(text, SENTENCE, "%.100s: %s", id, verdicts);
	else
		snprintf(text, SENTENCE, "%.100s: median ratio %.3f, spread %.1f %%: %s", id,
			 shift->median, 100 * shift->spread, verdicts);
}

static void sum(char text[static SENTENCE], const struct fleet_comparison *comparison)
{
	char verdicts[128];

	verdict_list(verdicts, sizeof(verdicts), comparison->n_verdicts);
	snprintf(text, SENTENCE, "%zu figures compared: %s", comparison->n_changes, verdicts);
}

static bool is_listed(const struct fleet_change *change)
{
	return change->verdict != VERDICT_SAME;
}

static size_t count_listed(const struct fleet_comparison *comparison)
{
	return comparison->n_changes - comparison->n_verdicts[VERDICT_SAME];
}

/* Words that stand before the figures of a change. */
static void put_link(struct grid *grid, const struct fleet_comparison *comparison,
		     const struct fleet_change *change)
{
	const struct fleet_figure *figure = &change->figure;
	char view[FLEET_VIEW_TEXT];

	fleet_view_text(view, comparison->now, &figure->view);
	grid_put(grid, "%s", verdict_name(change->verdict));
	grid_put(grid, "%s", comparison->now->nodes[figure->from].name);
	grid_put(grid, "%s", comparison->now->nodes[figure->to].name);
	grid_put(grid, "%s", view);
}

static const char *reason_of(const struct fleet_change *change)
{
	if (isnan(change->figure.value))
		return change->error ? change->error : "failed";
	return isnan(change->base) ? "failed in BASE" : "";
}

/* Lists the changes, worst first. Returns the number of those that did not fit. */
static size_t fill_grid(struct grid *grid, const struct table_unit *unit,
			const struct fleet_comparison *comparison)
{
	static const char *const titles[] = {"verdict", "from", "to", "case"};
	static const char *const reason[] = {"reason"};
	static const struct grid_column columns[] = {
		{"BASE",  GRID_FIGURES, 0},
                {"NEW",   GRID_FIGURES, 0},
                {"ratio", GRID_FIGURES, 0}
        };
	size_t rows = 0;

	grid_open(grid);
	grid_words(grid, titles, 4);
	grid_add_columns(grid, columns, 3);
	grid_words(grid, reason, 1);
	for (size_t i = 0; i < comparison->n_changes && rows < ROWS_MOST; i++) {
		const struct fleet_change *change = &comparison->changes[i];
		const struct fleet_case *line = &comparison->now->cases[change->figure.view.number];
		char text[FLEET_TEXT];

		if (!is_listed(change))
			continue;
		rows++;
		put_link(grid, comparison, change);
		grid_put(grid, "%s", fleet_value_text(text, line, unit, change->base));
		grid_put(grid, "%s", fleet_value_text(text, line, unit, change->figure.value));
		if (isnan(change->ratio))
			grid_put(grid, "-");
		else
			grid_put(grid, "%.3f", change->ratio);
		grid_put(grid, "%s", reason_of(change));
	}
	return count_listed(comparison) - rows;
}

/* Calls say with each sentence below the table. */
static void say_rest(const struct fleet_comparison *comparison, size_t left_out,
		     void (*say)(void *owner, const char *text), void *owner)
{
	const json_t *entry;
	char text[SENTENCE];
	size_t i;

	if (left_out) {
		snprintf(text, sizeof(text), "%zu more changes: --format csv lists all", left_out);
		say(owner, text);
	}
	for (i = 0; i < comparison->n_shifts; i++) {
		describe_shift(text, comparison, &comparison->shifts[i]);
		say(owner, text);
	}
	json_array_foreach(comparison->notes, i, entry)
		say(owner, json_string_value(entry) ? json_string_value(entry) : "");
	if (comparison->n_unmatched) {
		snprintf(text, sizeof(text), "%zu figures of NEW have no counterpart in BASE",
			 comparison->n_unmatched);
		say(owner, text);
	}
	if (comparison->n_vanished) {
		snprintf(text, sizeof(text), "%zu figures of BASE have no counterpart in NEW",
			 comparison->n_vanished);
		say(owner, text);
	}
}

static void say_item(void *owner, const char *text)
{
	html_element(owner, "li", text);
}

void fleet_comparison_table(const struct terminal *terminal, const struct table_unit *unit,
			    const struct fleet_comparison *comparison)
{
	struct terminal shown = *terminal;
	char text[SENTENCE];
	struct grid grid;
	size_t left_out = fill_grid(&grid, unit, comparison);

	if (grid.n_cells)
		grid_text(terminal, &grid);
	grid_close(&grid);
	say_rest(comparison, left_out, terminal_say, &shown);
	sum(text, comparison);
	terminal_say(&shown, text);
}

void fleet_comparison_page(FILE *out, const struct table_unit *unit,
			   const struct fleet_comparison *comparison)
{
	char text[SENTENCE];
	struct grid grid;
	size_t left_out = fill_grid(&grid, unit, comparison);

	fputs("<section>\n<h2>" TITLE "</h2>\n", out);
	sum(text, comparison);
	html_element(out, "p", text);
	if (grid.n_cells)
		page_table(out, &grid);
	grid_close(&grid);
	fputs("<ul>\n", out);
	say_rest(comparison, left_out, say_item, out);
	fputs("</ul>\n</section>\n", out);
}

void fleet_comparison_markdown(FILE *out, const struct table_unit *unit,
			       const struct fleet_comparison *comparison, size_t room)
{
	struct markdown page = {.out = out, .room = room};
	char text[SENTENCE];
	struct grid grid;
	size_t left_out = fill_grid(&grid, unit, comparison);

	fputs("## " TITLE "\n\n", out);
	sum(text, comparison);
	markdown_say(&page, text);
	say_rest(comparison, left_out, markdown_say, &page);
	markdown_grid(&page, &grid);
	grid_close(&grid);
}

void fleet_comparison_csv(FILE *out, const struct fleet_comparison *comparison)
{
	static const char *const titles[] = {"verdict", "from", "to", "case"};
	static const char *const reason[] = {"reason"};
	static const struct grid_column columns[] = {
		{"from_rail", GRID_FIGURES, 0},
                {"to_rail",   GRID_FIGURES, 0},
		{"base",      GRID_FIGURES, 0},
                {"new",       GRID_FIGURES, 0},
		{"ratio",     GRID_FIGURES, 0},
                {"z",         GRID_FIGURES, 0}
        };
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, 4);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	grid_words(&grid, reason, 1);
	for (size_t i = 0; i < comparison->n_changes; i++) {
		const struct fleet_change *change = &comparison->changes[i];
		const struct fleet_figure *figure = &change->figure;

		grid_put(&grid, "%s", verdict_name(change->verdict));
		grid_put(&grid, "%s", comparison->now->nodes[figure->from].name);
		grid_put(&grid, "%s", comparison->now->nodes[figure->to].name);
		grid_put(&grid, "%s", comparison->now->cases[figure->view.number].id);
		grid_put(&grid, "%u", figure->view.from_rail);
		grid_put(&grid, "%u", figure->view.to_rail);
		grid_put_exact(&grid, change->base);
		grid_put_exact(&grid, figure->value);
		grid_put_exact(&grid, change->ratio);
		grid_put_exact(&grid, change->z);
		/* Text of a peer must not begin like a formula of a spreadsheet. */
		grid_put(&grid, "%s%s", json_member_is_formula(reason_of(change)) ? " " : "",
			 reason_of(change));
	}
	grid_csv(out, &grid);
	grid_close(&grid);
}

static json_t *make_counts(const size_t counts[static VERDICTS])
{
	json_t *made = json_object();

	for (enum verdict verdict = 0; verdict < VERDICTS; verdict++)
		json_object_set_new(made, verdict_name(verdict),
				    json_integer((json_int_t)counts[verdict]));
	return made;
}

static json_t *make_change(const struct fleet_comparison *comparison,
			   const struct fleet_change *change)
{
	const struct fleet_figure *figure = &change->figure;
	const struct fleet *now = comparison->now;
	const char *reason = reason_of(change);

	return json_pack("{s:s, s:o, s:i, s:o, s:i, s:o*, s:o*, s:o*, s:o*, s:s, s:o*}", "case",
			 now->cases[figure->view.number].id, "from",
			 json_make_text(now->nodes[figure->from].name), "from_rail",
			 (int)figure->view.from_rail, "to",
			 json_make_text(now->nodes[figure->to].name), "to_rail",
			 (int)figure->view.to_rail, "base", json_make_number(change->base), "new",
			 json_make_number(figure->value), "ratio", json_make_number(change->ratio),
			 "z", json_make_number(change->z), "verdict", verdict_name(change->verdict),
			 "reason", *reason ? json_make_text(reason) : NULL);
}

static json_t *make_shift(const struct fleet_comparison *comparison,
			  const struct fleet_shift *shift)
{
	return json_pack("{s:s, s:I, s:o*, s:o*, s:o}", "case",
			 comparison->now->cases[shift->number].id, "ratios",
			 (json_int_t)shift->count, "median_ratio", json_make_number(shift->median),
			 "spread", json_make_number(shift->count ? shift->spread : (double)NAN),
			 "counts", make_counts(shift->n_verdicts));
}

/* Makes everything except the figures. */
static json_t *make_head(const struct fleet_comparison *comparison, const char *version)
{
	json_t *cases = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->n_shifts; i++)
		failed |= json_array_append_new(cases,
						make_shift(comparison, &comparison->shifts[i]));
	if (failed) {
		json_decref(cases);
		return NULL;
	}
	return json_pack(
		"{s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:o, s:I, s:I, s:o, s:O}", "schema",
		FLEET_COMPARISON_SCHEMA, "tool", "name", "verbmark", "version", version,
		"base_started", comparison->base->started, "new_started", comparison->now->started,
		"verdict", verdict_name(verdict_worst(comparison->n_verdicts)), "counts",
		make_counts(comparison->n_verdicts), "unmatched",
		(json_int_t)comparison->n_unmatched, "vanished", (json_int_t)comparison->n_vanished,
		"cases", cases, "notes", comparison->notes);
}

json_t *fleet_comparison_make(const struct fleet_comparison *comparison, const char *version)
{
	json_t *made = make_head(comparison, version);
	json_t *changes = json_array();
	int failed = 0;

	for (size_t i = 0; i < comparison->n_changes && !failed; i++)
		failed = json_array_append_new(changes,
					       make_change(comparison, &comparison->changes[i]));
	failed |= json_object_set_new(made, "figures", changes);
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}
