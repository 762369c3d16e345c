/* SPDX-License-Identifier: MIT */
#include "reports/table/markdown.h"

#include <inttypes.h>

#include "reports/finding/coverage.h"
#include "reports/finding/paired_trials.h"
#include "reports/finding/semantics.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/breakdown_grid.h"
#include "reports/table/markdown_writer.h"
#include "reports/table/sentences.h"

/* Room for the three texts of a finding at their maximum length. */
#define FINDING_TEXT 8192

static void add_metric(struct markdown *page, const struct table_unit *unit,
		       const struct result *result, enum cells_table which)
{
	struct grid grid;

	if (cells_grid(&grid, unit, result, which, false))
		markdown_grid(page, &grid);
	grid_close(&grid);
}

static void add_breakdown(struct markdown *page, const struct result *result)
{
	struct grid grid;

	page->before = "\n**Breakdown**\n\n";
	if (breakdown_grid(&grid, result)) {
		breakdown_grid_notes(result, "", markdown_say, page);
		markdown_grid(page, &grid);
	}
	grid_close(&grid);
}

static void add_others(struct markdown *page, const struct result *result)
{
	page->before = "\n**Failed, lost or not run**\n\n";
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char text[CASE_ID + 512];

		if (cells_has_figures(line) && !line->lost)
			continue;
		if (cells_has_figures(line))
			snprintf(text, sizeof(text), "%s: lost %" PRIu64 " of %" PRIu64, line->id,
				 line->lost, line->sent);
		else
			snprintf(text, sizeof(text), "%s: %s%s%s", line->id,
				 result_status_name(line->status), line->error[0] ? ": " : "",
				 line->error);
		markdown_say(page, text);
	}
}

static void add_warnings(struct markdown *page, const struct result *result)
{
	const json_t *warning;
	char text[FINDING_TEXT];
	size_t i;

	page->before = "\n**Findings**\n\n";
	if (banner_allows_times(result) && cells_unsteady(text, result))
		markdown_say(page, text);
	json_array_foreach(result->warnings, i, warning)
	{
		const char *mend = json_member_or_empty(warning, "mend");

		snprintf(text, sizeof(text), "%s: %s%s%s", json_member_or_empty(warning, "host"),
			 json_member_or_empty(warning, "what"), *mend ? "; fix: " : "", mend);
		markdown_say(page, text);
	}
}

static void add_head(struct markdown *page, const struct result *result, const char *name)
{
	struct markdown_line line;
	char head[CELLS_HEAD];

	if (!markdown_open(&line, page))
		return;
	cells_head(head, result);
	fputs("### ", line.out);
	markdown_escape(line.out, head);
	fputs("\n\n", line.out);
	if (banner_of(result)) {
		fputs("**", line.out);
		markdown_escape(line.out, banner_of(result));
		fputs("**\n\n", line.out);
	}
	markdown_begin(line.out, name);
	fprintf(line.out, ": %s, ", result_status_name(result->status));
	markdown_escape(line.out, result->imported ? "imported by" : result->started);
	fputs(result->imported ? " verbmark " : ", verbmark ", line.out);
	markdown_escape(line.out, result->version);
	markdown_put(&line, page);
}

void markdown_add(FILE *out, const struct table_unit *unit, const struct result *result,
		  const char *name, size_t room)
{
	/* Reserve room for the line that counts omitted lines. */
	struct markdown page = {.out = out, .room = room > MARKDOWN_END ? room - MARKDOWN_END : 0};

	add_head(&page, result, name);
	if (banner_allows_times(result)) {
		add_metric(&page, unit, result, CELLS_LATENCY);
		add_metric(&page, unit, result, CELLS_CALLS);
		add_metric(&page, unit, result, CELLS_BANDWIDTH);
		add_metric(&page, unit, result, CELLS_LOAD);
		add_breakdown(&page, result);
	}
	page.before = "\n**Knees**\n\n";
	said_knees(result, markdown_say, &page);
	page.before = "\n**Operation requirements and costs**\n\n";
	said_printed(result, semantics_print, markdown_say_plain, &page);
	page.before = "\n**Coverage**\n\n";
	said_printed(result, coverage_print, markdown_say_plain, &page);
	page.before = "\n**Interleaved cases**\n\n";
	said_printed(result, paired_trials_print, markdown_say_plain, &page);
	add_others(&page, result);
	page.before = "\n**Fairness**\n\n";
	said_shares(result, markdown_say, &page);
	page.before = "\n**Mean only**\n\n";
	said_means(result, markdown_say, &page);
	add_warnings(&page, result);
	if (page.left_out)
		fprintf(out, "\n%zu lines omitted here; `verbmark report` shows all of them\n",
			page.left_out);
}
