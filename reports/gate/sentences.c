/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void bout_cells_title(struct cells *cells)
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

static void put_bounds(struct cells *cells, const struct duel_finding *finding)
{
	char text[64] = "-";

	if (isfinite(finding->low) && isfinite(finding->high))
		snprintf(text, sizeof(text), "%.3f..%.3f", finding->low, finding->high);
	cells_put_title(cells, text);
}

/* Of what was run again it is the second time that counts. */
static const struct duel_finding *last_of(const struct duel_cell *cell)
{
	return cell->again.count ? &cell->confirmed : &cell->finding;
}

void bout_cells_fill(struct cells *cells, const struct bout *bout, const struct duel_cell *cell)
{
	const struct duel_finding *finding = last_of(cell);
	char text[64];

	cells->count = 0;
	cells_put_name(cells, cell->id);
	cells_put_name(cells, cell->figure->title);
	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++) {
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
	cells_put_name(cells, duel_verdict_name(bout_verdict(bout, cell)));
}

static double per_cent(double ratio)
{
	return 100 * (ratio - 1);
}

static void tell_change(char text[static BOUT_TEXT], const struct duel_cell *cell)
{
	const struct duel_finding *finding = last_of(cell);
	double change = per_cent(finding->ratio);

	snprintf(text, BOUT_TEXT,
		 "%s %s of the head is %.1f %% %s than the base's (%+.1f to %+.1f %%)", cell->id,
		 cell->figure->title, fabs(change), change < 0 ? "less" : "more",
		 per_cent(finding->low), per_cent(finding->high));
}

/* What would have been found is so many times worse: of a rate that is less of it. */
static void tell_found(char *text, size_t size, const struct duel_cell *cell)
{
	double seen = cell->finding.seen;

	snprintf(text, size, ": these rounds would have found one that is %.0f %% %s",
		 fabs(per_cent(duel_worse(cell, seen))),
		 cell->figure->more_is_good ? "less" : "worse");
}

void bout_tell_cell(char text[static BOUT_TEXT], const struct duel_cell *cell)
{
	size_t length;

	if (cell->why[0] && cell->verdict != DUEL_INCONCLUSIVE) {
		snprintf(text, BOUT_TEXT, "%s %s: %s", cell->id, cell->figure->title, cell->why);
		return;
	}
	tell_change(text, cell);
	length = strlen(text);
	if (cell->why[0])
		snprintf(text + length, BOUT_TEXT - length, ": %s", cell->why);
	else if (cell->verdict == DUEL_INCONCLUSIVE)
		tell_found(text + length, BOUT_TEXT - length, cell);
}

static void say_arm(const struct bout *bout, enum duel_arm number, said *say, void *owner)
{
	const struct bout_arm *arm = &bout->arms[number];
	char text[BOUT_TEXT];

	snprintf(text, sizeof(text), "%s: %.512s%s%s%s%s%s", duel_arm_name(number), arm->words,
		 arm->version[0] ? " (verbmark " : "", arm->version, arm->revision[0] ? ", " : "",
		 arm->revision, arm->version[0] ? ")" : "");
	say(owner, text);
}

void bout_say_head(const struct bout *bout, said *say, void *owner)
{
	if (bout->banner)
		say(owner, bout->banner);
	for (enum duel_arm arm = 0; arm < DUEL_ARMS; arm++)
		say_arm(bout, arm, say, owner);
}

/* A gate was ended early: why that figure says nothing is the same of all. */
static bool is_short(const struct bout *bout, const struct duel_cell *cell)
{
	return bout->n_rounds < DUEL_ROUNDS_LEAST && !cell->fault && !cell->broken;
}

static void say_short(const struct bout *bout, said *say, void *owner)
{
	for (size_t i = 0; i < bout->n_cells; i++)
		if (is_short(bout, &bout->cells[i])) {
			say(owner, bout->cells[i].why);
			return;
		}
}

/* Whoever sees the ratios in the table is to know what they are not. */
static void say_unproven(const struct bout *bout, said *say, void *owner)
{
	const struct duel_cell *such = NULL;
	char text[BOUT_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < bout->n_cells; i++) {
		const struct duel_cell *cell = &bout->cells[i];

		if (cell->verdict != DUEL_REGRESSED || cell->broken)
			continue;
		such = cell;
		count++;
	}
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "%zu of %zu figures, such as %s %s, were worse than their floor both times: in a "
		 "gate that is invalid that proves nothing",
		 count, bout->n_cells, such->id, such->figure->title);
	say(owner, text);
}

bool bout_is_told(const struct bout *bout, const struct duel_cell *cell)
{
	if (bout->invalid[0])
		return cell->why[0] && (cell->fault || cell->broken);
	return cell->verdict != DUEL_OK && cell->verdict != DUEL_IMPROVED;
}

void bout_say_others(const struct bout *bout, said *say, void *owner)
{
	if (!bout->invalid[0])
		return;
	say_short(bout, say, owner);
	say_unproven(bout, say, owner);
}

void bout_say_notes(const struct bout *bout, said *say, void *owner)
{
	char text[BOUT_TEXT];
	size_t i;
	json_t *note;

	for (size_t j = 0; j < bout->n_cells; j++) {
		if (!bout_is_told(bout, &bout->cells[j]))
			continue;
		bout_tell_cell(text, &bout->cells[j]);
		say(owner, text);
	}
	bout_say_others(bout, say, owner);
	json_array_foreach(bout->notes, i, note) say(owner, json_string_value(note));
	if (bout->invalid[0])
		say(owner, bout->invalid);
}

void bout_sum(const struct bout *bout, char text[static BOUT_TEXT])
{
	size_t counts[DUEL_INVALID + 1] = {0};
	size_t length;

	for (size_t i = 0; i < bout->n_cells; i++)
		counts[bout_verdict(bout, &bout->cells[i])]++;
	length = (size_t)snprintf(text, BOUT_TEXT, "%s: %zu figures of %zu cases in %zu round%s%s",
				  bout_end_name(bout_end(bout)), bout->n_cells, bout->n_cases,
				  bout->n_rounds, bout->n_rounds == 1 ? "" : "s",
				  bout->n_cells ? ":" : "");
	for (enum duel_verdict verdict = DUEL_OK; verdict <= DUEL_INVALID; verdict++)
		if (counts[verdict] && length < BOUT_TEXT)
			length += (size_t)snprintf(text + length, BOUT_TEXT - length, " %zu %s",
						   counts[verdict], duel_verdict_name(verdict));
	if (bout->n_again && length < BOUT_TEXT)
		snprintf(text + length, BOUT_TEXT - length, "; %zu rounds more of what had failed",
			 bout->n_again);
}
