/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void gate_cells_title(struct cells *cells)
{
	cells->count = 0;
	cells_put_name(cells, "CASE");
	cells_put_name(cells, "figure");
	cells_put_title(cells, "base");
	cells_put_title(cells, "head");
	cells_put_title(cells, "ratio");
	cells_put_title(cells, "98 %");
	cells_put_title(cells, "rounds");
	cells_put_name(cells, "verdict");
}

static void put_bounds(struct cells *cells, const struct judge_finding *finding)
{
	char text[64] = "-";

	if (isfinite(finding->low) && isfinite(finding->high))
		snprintf(text, sizeof(text), "%.3f..%.3f", finding->low, finding->high);
	cells_put_title(cells, text);
}

/* Of what was run again it is the second time that counts. */
static const struct judge_finding *last_of(const struct judge_cell *cell)
{
	return cell->again.count ? &cell->confirmed : &cell->finding;
}

void gate_cells_fill(struct cells *cells, const struct gate_record *gate,
		     const struct judge_cell *cell)
{
	const struct judge_finding *finding = last_of(cell);
	char text[64];

	cells->count = 0;
	cells_put_name(cells, cell->id);
	cells_put_name(cells, cell->figure->title);
	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++) {
		double value = finding->medians[arm] / cell->figure->unit;

		if (!finding->pairs)
			cells_put_title(cells, "-");
		else if (cell->figure->more_is_good)
			cells_put_amount(cells, value);
		else
			cells_put_us(cells, value);
	}
	snprintf(text, sizeof(text), finding->pairs ? "%.3f" : "-", finding->ratio);
	cells_put_title(cells, text);
	put_bounds(cells, finding);
	snprintf(text, sizeof(text), cell->again.count ? "%zu+%zu" : "%zu", cell->finding.pairs,
		 cell->confirmed.pairs);
	cells_put_title(cells, text);
	cells_put_name(cells, judge_verdict_name(gate_verdict(gate, cell)));
}

static double per_cent(double ratio)
{
	return 100 * (ratio - 1);
}

static void tell_change(char text[static GATE_TEXT], const struct judge_cell *cell)
{
	const struct judge_finding *finding = last_of(cell);
	double change = per_cent(finding->ratio);

	snprintf(text, GATE_TEXT,
		 "%s %s of the head is %.1f %% %s than the base's (%+.1f to %+.1f %%)", cell->id,
		 cell->figure->title, fabs(change), change < 0 ? "less" : "more",
		 per_cent(finding->low), per_cent(finding->high));
}

/* What would have been found is so many times worse: of a rate that is less of it. */
static void tell_found(char *text, size_t size, const struct judge_cell *cell)
{
	double seen = cell->finding.seen;

	snprintf(text, size, ": these rounds would have found one that is %.0f %% %s",
		 fabs(per_cent(judge_worse(cell, seen))),
		 cell->figure->more_is_good ? "less" : "worse");
}

void gate_tell_cell(char text[static GATE_TEXT], const struct judge_cell *cell)
{
	size_t length;

	if (cell->why[0] && cell->verdict != JUDGE_INCONCLUSIVE) {
		snprintf(text, GATE_TEXT, "%s %s: %s", cell->id, cell->figure->title, cell->why);
		return;
	}
	tell_change(text, cell);
	length = strlen(text);
	if (cell->why[0])
		snprintf(text + length, GATE_TEXT - length, ": %s", cell->why);
	else if (cell->verdict == JUDGE_INCONCLUSIVE)
		tell_found(text + length, GATE_TEXT - length, cell);
}

static void say_arm(const struct gate_record *gate, enum gate_side number, said *say, void *owner)
{
	const struct gate_side_record *arm = &gate->arms[number];
	char text[GATE_TEXT];

	snprintf(text, sizeof(text), "%s: %.512s%s%s%s%s%s", gate_side_name(number), arm->words,
		 arm->version[0] ? " (verbmark " : "", arm->version, arm->revision[0] ? ", " : "",
		 arm->revision, arm->version[0] ? ")" : "");
	say(owner, text);
}

void gate_say_head(const struct gate_record *gate, said *say, void *owner)
{
	if (gate->banner)
		say(owner, gate->banner);
	for (enum gate_side arm = 0; arm < GATE_SIDES; arm++)
		say_arm(gate, arm, say, owner);
}

/* A gate was ended early: why that figure says nothing is the same of all. */
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

/* Whoever sees the ratios in the table is to know what they are not. */
static void say_unproven(const struct gate_record *gate, said *say, void *owner)
{
	const struct judge_cell *such = NULL;
	char text[GATE_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < gate->n_cells; i++) {
		const struct judge_cell *cell = &gate->cells[i];

		if (cell->verdict != JUDGE_REGRESSED || cell->broken)
			continue;
		such = cell;
		count++;
	}
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "%zu of %zu figures, such as %s %s, were worse than their floor both times: in a "
		 "gate that is invalid that proves nothing",
		 count, gate->n_cells, such->id, such->figure->title);
	say(owner, text);
}

bool gate_is_told(const struct gate_record *gate, const struct judge_cell *cell)
{
	if (gate->invalid[0])
		return cell->why[0] && (cell->fault || cell->broken);
	return cell->verdict != JUDGE_OK && cell->verdict != JUDGE_IMPROVED;
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
		if (!gate_is_told(gate, &gate->cells[j]))
			continue;
		gate_tell_cell(text, &gate->cells[j]);
		say(owner, text);
	}
	gate_say_others(gate, say, owner);
	json_array_foreach(gate->notes, i, note) say(owner, json_string_value(note));
	if (gate->invalid[0])
		say(owner, gate->invalid);
}

void gate_sum(const struct gate_record *gate, char text[static GATE_TEXT])
{
	size_t counts[JUDGE_INVALID + 1] = {0};
	size_t length;

	for (size_t i = 0; i < gate->n_cells; i++)
		counts[gate_verdict(gate, &gate->cells[i])]++;
	length = (size_t)snprintf(text, GATE_TEXT, "%s: %zu figures of %zu cases in %zu round%s%s",
				  gate_end_name(gate_end(gate)), gate->n_cells, gate->n_cases,
				  gate->n_rounds, gate->n_rounds == 1 ? "" : "s",
				  gate->n_cells ? ":" : "");
	for (enum judge_verdict verdict = JUDGE_OK; verdict <= JUDGE_INVALID; verdict++)
		if (counts[verdict] && length < GATE_TEXT)
			length += (size_t)snprintf(text + length, GATE_TEXT - length, " %zu %s",
						   counts[verdict], judge_verdict_name(verdict));
	if (gate->n_again && length < GATE_TEXT)
		snprintf(text + length, GATE_TEXT - length, "; %zu rounds more of what had failed",
			 gate->n_again);
}
