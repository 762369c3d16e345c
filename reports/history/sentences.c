/* SPDX-License-Identifier: MIT */
#include "reports/history/sentences.h"

#include <stdio.h>
#include <string.h>

#include "reports/page/html.h"

#define DIGITS 4

void history_describe_run(char text[static HISTORY_TEXT], const struct history_run *run)
{
	snprintf(text, HISTORY_TEXT, "%s%s%s%s%s", *run->version ? "version " : "", run->version,
		 *run->version && *run->revision ? ", " : "", *run->revision ? "commit " : "",
		 run->revision);
	if (!*text)
		snprintf(text, HISTORY_TEXT, "an unknown version");
}

void history_describe_case(char text[static HISTORY_TEXT], const struct history_series *series)
{
	snprintf(text, HISTORY_TEXT, "%s%s%s%s", series->case_id, *series->kind ? " " : "",
		 series->kind, series->differs);
}

void history_describe_setup(char text[static HISTORY_TEXT], const struct history_view *view,
			    size_t setup)
{
	const struct history_setup *it = &view->setups[setup];

	snprintf(text, HISTORY_TEXT, "setup %zu: %s: %zu run%s", setup + 1, it->title, it->n_runs,
		 it->n_runs == 1 ? "" : "s");
}

/* The title of a figure includes its unit: "p50 us", "Gb/s". */
static void describe_values(char text[static 160], const struct history_series *series,
			    const struct history_change *change)
{
	const struct compared_figure *figure = series->figure;
	char before[HTML_NUMBER];
	char after[HTML_NUMBER];

	html_short(before, change->value_before / figure->unit, DIGITS);
	html_short(after, change->value_after / figure->unit, DIGITS);
	snprintf(text, 160, "%s %s -> %s, %.3f times, %s", figure->title, before, after,
		 change->value_after / change->value_before,
		 verdict_name(history_change_verdict(series, change)));
}

void history_describe_change(char text[static HISTORY_TEXT], const struct history_view *view,
			     const struct history_series *series,
			     const struct history_change *change)
{
	const struct history_run *run = &view->runs[change->run];
	const struct history_run *before = &view->runs[change->before];
	bool is_same =
		!strcmp(run->version, before->version) && !strcmp(run->revision, before->revision);
	bool is_unknown = is_same && !*run->version && !*run->revision;
	char values[160];
	char now[HISTORY_TEXT];
	char then[HISTORY_TEXT];

	describe_values(values, series, change);
	history_describe_run(now, run);
	history_describe_run(then, before);
	if (is_unknown)
		snprintf(text, HISTORY_TEXT,
			 "%s: at %s; neither run has a version or a commit: label them with "
			 "'history add --version'",
			 values, run->started);
	else if (is_same)
		snprintf(text, HISTORY_TEXT,
			 "%s: at %s, %.300s, same as the run before: something else changed",
			 values, run->started, now);
	else
		snprintf(text, HISTORY_TEXT, "%s: at %s with %.300s; the run before: %.300s",
			 values, run->started, now, then);
}

size_t history_recent(const struct history_view *view, bool with_better)
{
	size_t count = 0;

	for (size_t i = 0; i < view->n_series; i++)
		for (size_t j = 0; j < view->series[i].n_changes; j++) {
			const struct history_series *series = &view->series[i];
			const struct history_change *change = &series->changes[j];
			enum verdict verdict = history_change_verdict(series, change);

			count += history_change_is_recent(view, change) &&
				 (with_better || verdict == VERDICT_WORSE);
		}
	return count;
}

void history_describe_total(char text[static HISTORY_TEXT], const struct history_view *view)
{
	size_t recent = history_recent(view, true);
	char where[48] = "all runs";
	size_t all = 0;

	for (size_t i = 0; i < view->n_series; i++)
		all += view->series[i].n_changes;
	if (view->choice.recent < SIZE_MAX)
		snprintf(where, sizeof(where), "the newest %zu runs", view->choice.recent);
	snprintf(text, HISTORY_TEXT,
		 "%zu run%s, %zu series: %zu change point%s in %s, %zu of them worse; %zu older",
		 view->n_runs, view->n_runs == 1 ? "" : "s", view->n_series, recent,
		 recent == 1 ? "" : "s", where, history_recent(view, false), all - recent);
}

void history_describe_rule(char text[static HISTORY_TEXT], const struct history_view *view)
{
	const struct change_points_rule *rule = view->choice.rule;

	snprintf(text, HISTORY_TEXT,
		 "Change points: E-divisive in windows of %zu runs, p < %g in a permutation test, "
		 "medians that differ by at least %g %%, at least %d runs on each side",
		 rule->window, rule->level, 100 * rule->magnitude, CHANGE_POINTS_LEAST);
}
