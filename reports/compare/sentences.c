/* SPDX-License-Identifier: MIT */

#include "reports/compare/sentences.h"

#include <stdio.h>
#include <string.h>

#include "reports/compare/same_setup.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"

/* Of files that are named; the document has all of them. */
#define NAMES_MOST 3

/* An interval that goes beyond has room for differences that nobody would call none. */
#define WIDE 1.25

/* From so many on, cases with one reason that follow each other are told in one line. */
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
	snprintf(text, COMPARE_TEXT, "FORCED: the circumstances differ, and so may the figures: %s",
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

static void tell_runs(const struct comparison *comparison, enum compare_side side,
		      char text[static COMPARE_TEXT])
{
	const struct compare_runs *runs = &comparison->sides[side];
	const struct result *first = &runs->runs[0].result;
	size_t length;

	/* When they were, nobody has told. */
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
		tell_runs(comparison, side, text);
		say(owner, text);
	}
}

/* How many of them are told by one reason. */
static size_t count_alike(const struct comparison *comparison, size_t first)
{
	const struct compare_gap *gaps = comparison->gaps;
	size_t count = 1;

	while (first + count < comparison->n_gaps &&
	       !strcmp(gaps[first + count].why, gaps[first].why))
		count++;
	return count < GAPS_LEAST ? 1 : count;
}

/* Of one figure: all its cases in one line. */
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
	snprintf(text, sizeof(text), "%s: of %zu case%s not known in all runs, such as %s",
		 compare_figure(number)->title, count, plural(count), first->id);
	say(owner, text);
}

void compare_say_gaps(const struct comparison *comparison, said *say, void *owner)
{
	const struct compare_gap *gaps = comparison->gaps;
	char text[COMPARE_TEXT];
	size_t count;

	for (size_t i = 0; i < comparison->n_gaps; i += count) {
		const char *rest = gaps[i].is_compared ? " (compared all the same)" : "";

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

static void say_circumstances(const struct comparison *comparison, said *say, void *owner)
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
		 "%zu of %zu results do not tell all circumstances of both ends: nobody knows "
		 "whether they were the same",
		 unknown, n_runs);
	say(owner, text);
}

/* What measures is a part of what is measured, if a small one. */
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
			snprintf(text, sizeof(text),
				 "%s is of verbmark %s, %s of %s: what measures differs as well",
				 comparison->sides[COMPARE_BASE].runs[0].name, first,
				 comparison->sides[side].runs[i].name, version);
			say(owner, text);
			return;
		}
}

static bool is_wide(const struct compare_cell *cell)
{
	return cell->verdict == COMPARE_SAME && !cell->is_repeat &&
	       (cell->ratio.high > WIDE || cell->ratio.low < 1 / WIDE);
}

/* That nothing is shown is no praise where nothing could have been. */
static void say_wide(const struct comparison *comparison, said *say, void *owner)
{
	const struct compare_cell *first = NULL;
	char text[COMPARE_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < comparison->n_cells; i++) {
		if (!is_wide(&comparison->cells[i]))
			continue;
		first = first ? first : &comparison->cells[i];
		count++;
	}
	if (!count)
		return;
	snprintf(text, sizeof(text),
		 "SAME says little of %zu figure%s whose interval goes beyond %g or %g, such as "
		 "%s: runs differ too much; more of them tell more, and verbmark doctor what "
		 "disturbs them",
		 count, plural(count), 1 / WIDE, WIDE, first->line->id);
	say(owner, text);
}

/* What is taken for granted where a side has no spread of its own. */
static void say_alone(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		if (comparison->sides[side].count != 1 || !comparison->n_tests)
			continue;
		snprintf(
			text, sizeof(text),
			"%s is one run, and is taken to differ from the next one as those of %s do: "
			"another run of it tells more",
			compare_side_name(side), compare_side_name(COMPARE_NEW - side));
		say(owner, text);
	}
}

void compare_say_notes(const struct comparison *comparison, said *say, void *owner)
{
	char text[COMPARE_TEXT];

	if (compare_is_itself(comparison))
		say(owner,
		    "BASE and NEW are the same run: what is compared with itself is the same");
	say_circumstances(comparison, say, owner);
	if (comparison->sides[COMPARE_BASE].count)
		say_versions(comparison, say, owner);
	if (comparison->n_verdicts[COMPARE_UNKNOWN]) {
		snprintf(text, sizeof(text),
			 "UNKNOWN: how much runs differ anyway is not known: run each side several "
			 "times, in turn (verbmark compare BASE... --new NEW...), or both as "
			 "cases of one run (verbmark run --interleave)");
		say(owner, text);
	}
	say_alone(comparison, say, owner);
	if (comparison->n_tests) {
		snprintf(
			text, sizeof(text),
			"DIFFERS: by more than %g %%, than a step of the clock and than runs do among "
			"themselves, of %zu "
			"test%s together (Holm, %g %%); SAME: not shown to; each interval is of "
			"95 %%",
			100 * COMPARE_FLOOR, comparison->n_tests, plural(comparison->n_tests),
			100 * COMPARE_LEVEL);
		say(owner, text);
	}
	say_wide(comparison, say, owner);
	if (comparison->n_tests && compare_is_apart(comparison))
		say(owner, "all runs of one side are older than those of the other: what the "
			   "machine did meanwhile differs as well; run the two sides in turn");
	else if (comparison->n_verdicts[COMPARE_DIFFERS])
		say(owner, "why they differ is not told: verbmark run --interleave has both as "
			   "cases of one run");
}

void compare_sum(const struct comparison *comparison, char text[static COMPARE_TEXT])
{
	const size_t *verdicts = comparison->n_verdicts;
	const struct compare_gap *gaps = comparison->gaps;
	size_t missing = 0; /* cases, of which one may have several reasons */

	for (size_t i = 0; i < comparison->n_gaps; i++)
		missing += !gaps[i].is_compared && (!i || gaps[i - 1].line != gaps[i].line);
	snprintf(text, COMPARE_TEXT,
		 "%zu figures of %zu cases: %zu DIFFER, %zu SAME, %zu UNKNOWN; %zu case%s not "
		 "compared",
		 verdicts[COMPARE_DIFFERS] + verdicts[COMPARE_SAME] + verdicts[COMPARE_UNKNOWN],
		 comparison->n_compared, verdicts[COMPARE_DIFFERS], verdicts[COMPARE_SAME],
		 verdicts[COMPARE_UNKNOWN], missing, plural(missing));
}
