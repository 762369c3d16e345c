/* SPDX-License-Identifier: MIT */

#include "reports/compare/sentences.h"

#include <stdio.h>
#include <string.h>

#include "reports/compare/same_setup.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"
#include "reports/verdict/sentences.h"

/* Files to name; the document names all. */
#define NAMES_MOST 3

/* At least this many consecutive cases with the same reason share a line. */
#define GAPS_LEAST 4

const char *compare_banner(const struct comparison *comparison)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < comparison->sides[side].count; i++)
			if (banner_of(&comparison->sides[side].runs[i].result))
				return BANNER_SOFT;
	return NULL;
}

bool compare_forced(const struct comparison *comparison, char text[static COMPARE_TEXT])
{
	text[0] = '\0';
	if (!comparison->difference[0])
		return false;
	snprintf(text, COMPARE_TEXT, "FORCED: the setups differ, and so may the figures: %s",
		 comparison->difference);
	return true;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static const char *first_started(const struct compare_runs *runs)
{
	const char *first = runs->runs[0].result.started;

	for (size_t i = 1; i < runs->count; i++)
		if (strcmp(runs->runs[i].result.started, first) < 0)
			first = runs->runs[i].result.started;
	return first;
}

static const char *last_finished(const struct compare_runs *runs)
{
	const char *last = runs->runs[0].result.finished;

	for (size_t i = 1; i < runs->count; i++)
		if (strcmp(runs->runs[i].result.finished, last) > 0)
			last = runs->runs[i].result.finished;
	return last;
}

static void describe_runs(const struct comparison *comparison, enum compare_side side,
			  char text[static COMPARE_TEXT])
{
	const struct compare_runs *runs = &comparison->sides[side];
	const struct result *first = &runs->runs[0].result;
	size_t length;

	/* The times of imported results are unknown. */
	if (first->imported)
		length = (size_t)snprintf(text, COMPARE_TEXT,
					  "%-4s %zu result%s of %.32s:", compare_side_name(side),
					  runs->count, plural(runs->count),
					  json_member_or_empty(first->imported, "format"));
	else
		length = (size_t)snprintf(text, COMPARE_TEXT,
					  "%-4s %zu run%s of verbmark %s, %s to %s:",
					  compare_side_name(side), runs->count, plural(runs->count),
					  first->version, first_started(runs), last_finished(runs));

	for (size_t i = 0; i < runs->count && i < NAMES_MOST && length < COMPARE_TEXT; i++)
		length += (size_t)snprintf(text + length, COMPARE_TEXT - length, "%s %.60s",
					   i ? "," : "", runs->runs[i].name);
	if (runs->count > NAMES_MOST && length < COMPARE_TEXT)
		snprintf(text + length, COMPARE_TEXT - length, " and %zu more",
			 runs->count - NAMES_MOST);
}

void compare_say_head(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];

	if (compare_banner(comparison))
		say(owner, compare_banner(comparison));
	if (compare_forced(comparison, text))
		say(owner, text);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		char head[CELLS_HEAD];

		if (!comparison->sides[side].count)
			continue;
		cells_head(head, &comparison->sides[side].runs[0].result);
		snprintf(text, sizeof(text), "%-4s %s", compare_side_name(side), head);
		say(owner, text);
		describe_runs(comparison, side, text);
		say(owner, text);
	}
}

/* Returns the number of gaps that share a line with this one. */
static size_t count_alike(const struct comparison *comparison, size_t first)
{
	const struct compare_gap *gaps = comparison->gaps;
	size_t count = 1;

	while (first + count < comparison->n_gaps &&
	       !strcmp(gaps[first + count].why, gaps[first].why))
		count++;
	return count < GAPS_LEAST ? 1 : count;
}

/* Prints one line about the cases in which a figure is unknown. */
static void say_unknown(const struct comparison *comparison, size_t number, said *say, void *owner)
{
	const struct result_case *first = NULL;
	char text[COMPARE_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < comparison->n_unknown; i++)
		if (comparison->unknown[i].number == number && !count++)
			first = comparison->unknown[i].line;
	if (!count)
		return;
	snprintf(text, sizeof(text), "%s: unknown in some runs of %zu case%s, such as %s",
		 compare_figure(number)->title, count, plural(count), first->id);
	say(owner, text);
}

void compare_say_gaps(const struct comparison *comparison, said *say, void *owner)
{
	const struct compare_gap *gaps = comparison->gaps;
	char text[COMPARE_TEXT];
	size_t count;

	for (size_t i = 0; i < comparison->n_gaps; i += count) {
		const char *rest = gaps[i].is_compared ? " (compared anyway)" : "";

		count = count_alike(comparison, i);
		if (count > 1)
			snprintf(text, sizeof(text), "%zu cases, from %.200s to %.200s: %s%s",
				 count, gaps[i].line->id, gaps[i + count - 1].line->id, gaps[i].why,
				 rest);
		else
			snprintf(text, sizeof(text), "%.400s: %s%s", gaps[i].line->id, gaps[i].why,
				 rest);
		say(owner, text);
	}
	for (size_t i = 0; i < COMPARE_FIGURES; i++)
		say_unknown(comparison, i, say, owner);
}

static void say_unknown_setups(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];
	size_t unknown = 0;
	size_t n_runs = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < comparison->sides[side].count; i++, n_runs++)
			unknown += !same_setup_is_known(&comparison->sides[side].runs[i].result);
	if (!unknown)
		return;
	snprintf(text, sizeof(text),
		 "%zu of %zu results do not record the setup of both hosts, which may therefore "
		 "differ",
		 unknown, n_runs);
	say(owner, text);
}

/* A difference between versions of verbmark can change the figures. */
static void say_versions(const struct comparison *comparison, said *say, void *owner)
{
	const char *first = comparison->sides[COMPARE_BASE].runs[0].result.version;
	char text[COMPARE_TEXT];

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < comparison->sides[side].count; i++) {
			const char *version = comparison->sides[side].runs[i].result.version;

			if (comparison->sides[side].runs[i].result.imported ||
			    !strcmp(version, first))
				continue;
			snprintf(
				text, sizeof(text),
				"%s was measured by verbmark %s, %s by %s: the versions may differ "
				"in how they measure",
				comparison->sides[COMPARE_BASE].runs[0].name, first,
				comparison->sides[side].runs[i].name, version);
			say(owner, text);
			return;
		}
}

/* Explains the first unclear figure as an example. */
static void say_unclear(const struct comparison *comparison, said *say, void *owner)
{
	const struct compare_cell *first = NULL;
	char text[COMPARE_TEXT];
	char detail[256];

	for (size_t i = 0; i < comparison->n_cells && !first; i++)
		if (comparison->cells[i].judged.verdict == VERDICT_UNCLEAR &&
		    ratio_is_known(&comparison->cells[i].ratio))
			first = &comparison->cells[i];
	if (!first)
		return;
	verdict_describe(detail, sizeof(detail), &first->judged);
	snprintf(text, sizeof(text),
		 "unclear, for example: NEW's %s of %s is %s; add runs of each side, and check "
		 "verbmark doctor for sources of noise",
		 first->figure->title, first->line->id, detail);
	say(owner, text);
}

/* Without repeated runs there is no spread and no interval. */
static void say_unknown_spread(const struct comparison *comparison, said *say, void *owner)
{
	for (size_t i = 0; i < comparison->n_cells; i++) {
		if (ratio_is_known(&comparison->cells[i].ratio))
			continue;
		say(owner,
		    "the spread between runs is unknown, so such figures are unclear: alternate "
		    "several runs of each side (verbmark compare BASE... --new NEW...), or run "
		    "both as cases of one run (verbmark run --interleave)");
		return;
	}
}

static void say_legend(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];

	snprintf(text, sizeof(text), "%s; thresholds: %g %%, p99 %g %%; intervals: 95 %%",
		 VERDICT_LEGEND, 100 * compared_figure_median.threshold,
		 100 * compared_figure_tail.threshold);
	if (comparison->n_tests)
		say(owner, text);
}

/* Differences can have causes that the runs alone do not show. */
static void say_cause(const struct comparison *comparison, said *say, void *owner)
{
	const size_t *verdicts = comparison->n_verdicts;

	if (comparison->n_tests && compare_is_apart(comparison))
		say(owner,
		    "the runs of one side are all older than the other side's, so the machine "
		    "may have changed meanwhile: alternate the runs of both sides");
	else if (verdicts[VERDICT_WORSE] || verdicts[VERDICT_BETTER])
		say(owner, "verbmark run --interleave runs both sides as cases of one run, which "
			   "rules out a change of the machine");
}

/* A single run has no spread; its side borrows the other side's. */
static void say_single_runs(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		if (comparison->sides[side].count != 1 || !comparison->n_tests)
			continue;
		snprintf(text, sizeof(text),
			 "%s is a single run and is assumed to vary like those of %s; run it again "
			 "to be sure",
			 compare_side_name(side), compare_side_name(COMPARE_NEW - side));
		say(owner, text);
	}
}

void compare_say_notes(const struct comparison *comparison, said *say, void *owner)
{
	if (compare_is_itself(comparison))
		say(owner, "BASE and NEW are the same run");
	say_unknown_setups(comparison, say, owner);
	if (comparison->sides[COMPARE_BASE].count)
		say_versions(comparison, say, owner);
	say_unknown_spread(comparison, say, owner);
	say_single_runs(comparison, say, owner);
	say_legend(comparison, say, owner);
	say_unclear(comparison, say, owner);
	say_cause(comparison, say, owner);
}

void compare_sum(const struct comparison *comparison, char text[static COMPARE_TEXT])
{
	const size_t *verdicts = comparison->n_verdicts;
	const struct compare_gap *gaps = comparison->gaps;
	size_t missing = 0; /* cases; one case may have several gaps */
	size_t figures = 0;
	char list[128];

	for (size_t i = 0; i < comparison->n_gaps; i++)
		missing += !gaps[i].is_compared && (!i || gaps[i - 1].line != gaps[i].line);
	for (size_t i = 0; i < VERDICTS; i++)
		figures += verdicts[i];
	verdict_list(list, sizeof(list), verdicts);
	snprintf(text, COMPARE_TEXT, "%s: %zu figure%s of %zu case%s: %s; %zu case%s not compared",
		 verdict_name(verdict_worst(verdicts)), figures, plural(figures),
		 comparison->n_compared, plural(comparison->n_compared), list, missing,
		 plural(missing));
}
