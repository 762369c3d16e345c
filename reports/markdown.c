/* SPDX-License-Identifier: MIT */
#include "reports/markdown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/banner.h"
#include "reports/member.h"
#include "reports/said.h"
#include "reports/semantics.h"
#include "reports/turns.h"

/* Bytes of the last line, and of what is between two results. */
#define END 128

/* Where lines go as long as there is room. */
struct page {
	FILE *out;
	size_t room;
	size_t used;
	size_t left_out;
	const char *before; /* the first line of what comes next: its heading; or NULL */
	bool is_full;       /* nothing stands behind what had no room */
};

/* Within a line of text, or in a cell: links and formulas are none either. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ')
			fputc(' ', out);
		else if (strchr("<&$@", *text) || (*text == ':' && text[1] && text[1] != ' '))
			fprintf(out, "&#%d;", *text);
		else
			fprintf(out, strchr("\\`*_[]|#~>", *text) ? "\\%c" : "%c", *text);
	}
}

/* Where a line begins, or the item of a list: no list begins there. */
static void print_begin(FILE *out, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	fprintf(out, "%.*s", (int)digits, text);
	text += digits;
	if (*text && strchr(digits ? ".)" : "-+", *text))
		fprintf(out, "\\%c", *text++);
	print_escaped(out, text);
}

/* A line that was put together, which is freed; NULL: there was no memory for it. */
static void put(struct page *page, char *line, size_t length)
{
	size_t before = page->before ? strlen(page->before) : 0;

	page->is_full |= !line || page->used + before + length > page->room;
	if (page->is_full) {
		page->left_out++;
	} else {
		fprintf(page->out, "%s%s", page->before ? page->before : "", line);
		page->used += before + length;
		page->before = NULL;
	}
	free(line);
}

struct line {
	FILE *out;
	char *text;
	size_t length;
};

static bool line_open(struct line *line)
{
	*line = (struct line){0};
	line->out = open_memstream(&line->text, &line->length);
	return line->out;
}

static void line_put(struct line *line, struct page *page)
{
	fputc('\n', line->out);
	if (fclose(line->out)) {
		free(line->text);
		line->text = NULL;
	}
	put(page, line->text, line->length);
}

/* An item of a list. */
static void say(void *owner, const char *text)
{
	struct line line;

	if (!line_open(&line)) {
		put(owner, NULL, 0);
		return;
	}
	fputs("- ", line.out);
	print_begin(line.out, text);
	line_put(&line, owner);
}

/* A line of what is shown as it is: nothing in it is markup. */
static void say_plain(void *owner, const char *text)
{
	struct line line;

	if (!line_open(&line)) {
		put(owner, NULL, 0);
		return;
	}
	fprintf(line.out, "    %s", text);
	line_put(&line, owner);
}

static void print_row(FILE *out, const struct cells *cells)
{
	for (size_t i = 0; i < cells->count; i++) {
		fputs("| ", out);
		print_escaped(out, cells->cell[i].text);
		fputc(' ', out);
	}
	fputc('|', out);
}

static void add_row(struct page *page, const struct cells *cells)
{
	struct line line;

	if (!line_open(&line)) {
		put(page, NULL, 0);
		return;
	}
	print_row(line.out, cells);
	line_put(&line, page);
}

/* Words on the left, figures on the right. */
static void add_title(struct page *page, const struct cells *cells)
{
	struct line line;

	if (!line_open(&line)) {
		put(page, NULL, 0);
		return;
	}
	print_row(line.out, cells);
	fputc('\n', line.out);
	for (size_t i = 0; i < cells->count; i++)
		fputs(cells->cell[i].is_name ? "| :-- " : "| --: ", line.out);
	fputc('|', line.out);
	line_put(&line, page);
}

static void add_metric(struct page *page, const struct table_unit *unit,
		       const struct result *result, enum cells_table which)
{
	bool is_open = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		struct cells cells;

		if (!cells_has_figures(line) || cells_table(line) != which)
			continue;
		if (!is_open) {
			page->before = "\n";
			cells_title(&cells, unit, line);
			add_title(page, &cells);
		}
		is_open = true;
		cells_fill(&cells, unit, result, line);
		add_row(page, &cells);
	}
}

static void add_others(struct page *page, const struct result *result)
{
	page->before = "\n**Failed, lost, not run**\n\n";
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char text[512];

		if (cells_has_figures(line) && !line->lost)
			continue;
		if (cells_has_figures(line))
			snprintf(text, sizeof(text), "%s: lost %" PRIu64 " of %" PRIu64, line->id,
				 line->lost, line->sent);
		else
			snprintf(text, sizeof(text), "%s: %s%s%s", line->id,
				 result_status_name(line->status), line->error[0] ? ": " : "",
				 line->error);
		say(page, text);
	}
}

static void add_shares(struct page *page, const struct result *result)
{
	page->before = "\n**Fairness**\n\n";
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char evenness[160];
		char text[320];

		if (!cells_has_figures(line) || !cells_evenness(evenness, NULL, line))
			continue;
		snprintf(text, sizeof(text), "%s: %s", line->id, evenness);
		say(page, text);
	}
}

static void add_warnings(struct page *page, const struct result *result)
{
	const json_t *warning;
	char text[1024];
	size_t i;

	page->before = "\n**Findings**\n\n";
	if (semantics_has_times(result) && cells_unsteady(text, result))
		say(page, text);
	json_array_foreach(result->warnings, i, warning)
	{
		const char *mend = member_or_empty(warning, "mend");

		snprintf(text, sizeof(text), "%s: %s%s%s", member_or_empty(warning, "host"),
			 member_or_empty(warning, "what"), *mend ? "; mend: " : "", mend);
		say(page, text);
	}
}

static void add_head(struct page *page, const struct result *result, const char *name)
{
	struct line line;
	char head[CELLS_HEAD];

	if (!line_open(&line)) {
		put(page, NULL, 0);
		return;
	}
	cells_head(head, result);
	fputs("### ", line.out);
	print_escaped(line.out, head);
	fputs("\n\n", line.out);
	if (banner_of(result)) {
		fputs("**", line.out);
		print_escaped(line.out, banner_of(result));
		fputs("**\n\n", line.out);
	}
	print_begin(line.out, name);
	fprintf(line.out, ": %s, ", result_status_name(result->status));
	print_escaped(line.out, result->started);
	fputs(", verbmark ", line.out);
	print_escaped(line.out, result->version);
	line_put(&line, page);
}

void markdown_add(FILE *out, const struct table_unit *unit, const struct result *result,
		  const char *name, size_t room)
{
	/* What is left out is told in any case. */
	struct page page = {.out = out, .room = room > END ? room - END : 0};

	add_head(&page, result, name);
	if (semantics_has_times(result)) {
		add_metric(&page, unit, result, CELLS_LATENCY);
		add_metric(&page, unit, result, CELLS_BANDWIDTH);
		add_metric(&page, unit, result, CELLS_LOAD);
	}
	page.before = "\n**Knees**\n\n";
	said_knees(result, say, &page);
	page.before = "\n**What operations need and cost**\n\n";
	said_printed(result, semantics_print, say_plain, &page);
	page.before = "\n**In turn**\n\n";
	said_printed(result, turns_print, say_plain, &page);
	add_others(&page, result);
	add_shares(&page, result);
	add_warnings(&page, result);
	if (page.left_out)
		fprintf(out, "\n%zu lines are left out here: `verbmark report` shows all of them\n",
			page.left_out);
}
