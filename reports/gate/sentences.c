/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"

#include <math.h>
#include <stdio.h>

#include "reports/verdict/sentences.h"

static void put_bounds(struct grid *grid, const struct judge_finding *finding)
{
	if (isfinite(finding->judged.low) && isfinite(finding->judged.high))
		grid_put(grid, "%.3f..%.3f", finding->judged.low, finding->judged.high);
	else
		grid_put(grid, "-");
}

/* Returns the confirmation if the cell was run again, else the first measurement. */
static const struct judge_finding *last_of(const struct judge_cell *cell)
{
	return cell->again.count ? &cell->confirmed : &cell->finding;
}

/* A cell that is unclear for a reason other than its interval detects nothing. */
static struct judged_ratio judged_of(const struct judge_cell *cell)
{
	struct judged_ratio judged = last_of(cell)->judged;

	judged.verdict = cell->verdict;
	if (cell->why[0])
		judged.reach = (double)NAN;
	return judged;
}

static void add_cell(struct grid *grid, const struct gate_record *gate,
		     const struct judge_cell *cell)
{
	const struct judge_finding *finding = last_of(cell);
	struct judged_ratio shown = judged_of(cell);
	char text[64];

	grid_put(grid, "%s", cell->id);
	grid_put(grid, "%s", cell->figure->title);
	for (enum gate_side side = 0; side < GATE_SIDES; side++) {
		double value = finding->medians[side] / cell->figure->unit;

		if (!finding->pairs)
			grid_put(grid, "-");
		else if (cell->figure->more_is_good)
			cells_put_amount(grid, value);
		else
			cells_put_us(grid, value);
	}
	grid_put(grid, finding->pairs ? "%.3f" : "-", finding->judged.ratio);
	put_bounds(grid, finding);
	grid_put(grid, cell->again.count ? "%zu+%zu" : "%zu", cell->finding.pairs,
		 cell->confirmed.pairs);
	shown.verdict = gate_verdict(gate, cell);
	verdict_cell(text, sizeof(text), &shown);
	grid_put(grid, "%s", text);
}

void gate_grid(struct grid *grid, const struct gate_record *gate)
{
	static const struct grid_column columns[] = {
		{"CASE",    GRID_WORDS,   0},
                {"figure",  GRID_WORDS,   0},
                {"base",    GRID_FIGURES, 0},
		{"head",    GRID_FIGURES, 0},
                {"ratio",   GRID_FIGURES, 0},
                {"98 %",    GRID_FIGURES, 0},
		{"pairs",   GRID_FIGURES, 0},
                {"verdict", GRID_WORDS,   0},
	};

	grid_open(grid);
	grid_add_columns(grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < gate->n_cells; i++)
		add_cell(grid, gate, &gate->cells[i]);
}

void gate_describe_cell(char text[static GATE_TEXT], const struct judge_cell *cell)
{
	const struct judged_ratio judged = judged_of(cell);
	char detail[256] = "";

	if (cell->why[0])
		snprintf(detail, sizeof(detail), "%s", cell->why);
	else
		verdict_describe(detail, sizeof(detail), &judged);
	snprintf(text, GATE_TEXT, "%s %s: %s: %s", cell->id, cell->figure->title,
		 verdict_name(cell->verdict), detail);
}

static void say_side(const struct gate_record *gate, enum gate_side number, said *say, void *owner)
{
	const struct gate_side_record *side = &gate->sides[number];
	char text[GATE_TEXT];

	snprintf(text, sizeof(text), "%s: %.512s%s%s%s%s%s", gate_side_name(number), side->words,
		 side->version[0] ? " (verbmark " : "", side->version,
		 side->revision[0] ? ", " : "", side->revision, side->version[0] ? ")" : "");
	say(owner, text);
}

void gate_say_head(const struct gate_record *gate, said *say, void *owner)
{
	if (gate->banner)
		say(owner, gate->banner);
	for (enum gate_side side = 0; side < GATE_SIDES; side++)
		say_side(gate, side, say, owner);
}

/* Whether the cell has too few pairs only because the gate ended early, as all others do. */
static bool is_short(const struct gate_record *gate, const struct judge_cell *cell)
{
	return gate->n_rounds < JUDGE_ROUNDS_LEAST && !cell->fault && !cell->broken;
}

static void say_short(const struct gate_record *gate, said *say, void *owner)
{
	for (size_t i = 0; i < gate->n_cells; i++)
		if (is_short(gate, &gate->cells[i])) {
			say(owner, gate->cells[i].why);
			return;
		}
}

/* Reports ratios that look like regressions in the table but are not confirmed. */
static void say_unproven(const struct gate_record *gate, said *say, void *owner)
{
	const struct judge_cell *such = NULL;
	char text[GATE_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < gate->n_cells; i++) {
		const struct judge_cell *cell = &gate->cells[i];

		if (cell->verdict != VERDICT_WORSE || cell->broken)
			continue;
		such = cell;
		count++;
	}
	if (!count)
		return;
	snprintf(
		text, sizeof(text),
		"%zu of %zu figures, such as %s %s, were worse both times, which proves nothing in "
		"an invalid gate",
		count, gate->n_cells, such->id, such->figure->title);
	say(owner, text);
}

bool gate_is_listed(const struct gate_record *gate, const struct judge_cell *cell)
{
	if (gate->invalid[0])
		return cell->why[0] && (cell->fault || cell->broken);
	return cell->verdict > VERDICT_SAME;
}

void gate_say_others(const struct gate_record *gate, said *say, void *owner)
{
	if (!gate->invalid[0])
		return;
	say_short(gate, say, owner);
	say_unproven(gate, say, owner);
}

void gate_say_notes(const struct gate_record *gate, said *say, void *owner)
{
	char text[GATE_TEXT];
	size_t i;
	json_t *note;

	for (size_t j = 0; j < gate->n_cells; j++) {
		if (!gate_is_listed(gate, &gate->cells[j]))
			continue;
		gate_describe_cell(text, &gate->cells[j]);
		say(owner, text);
	}
	gate_say_others(gate, say, owner);
	json_array_foreach(gate->notes, i, note) say(owner, json_string_value(note));
	if (gate->invalid[0])
		say(owner, gate->invalid);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

void gate_sum(const struct gate_record *gate, char text[static GATE_TEXT])
{
	size_t counts[VERDICTS] = {0};
	char list[128];
	size_t length;

	for (size_t i = 0; i < gate->n_cells; i++)
		counts[gate_verdict(gate, &gate->cells[i])]++;
	verdict_list(list, sizeof(list), counts);
	length = (size_t)snprintf(
		text, GATE_TEXT, "%s: %zu figure%s of %zu case%s in %zu pair%s of runs: %s",
		verdict_name(gate_end(gate)), gate->n_cells, plural(gate->n_cells), gate->n_cases,
		plural(gate->n_cases), gate->n_rounds, plural(gate->n_rounds), list);
	if (gate->n_again && length < GATE_TEXT)
		snprintf(text + length, GATE_TEXT - length,
			 "; %zu more pairs to confirm what was worse", gate->n_again);
}
