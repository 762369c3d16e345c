/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page_parts.h"
#include "reports/finding/coverage.h"
#include "reports/finding/paired_trials.h"
#include "reports/finding/semantics.h"
#include "reports/io/json_member.h"
#include "reports/page/contents.h"
#include "reports/page/host_facts.h"
#include "reports/page/html.h"
#include "reports/page/table.h"
#include "reports/page/tiles.h"
#include "reports/result/banner.h"
#include "reports/table/breakdown_grid.h"
#include "reports/table/memory_matrix.h"
#include "reports/table/sentences.h"

static void print_head(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n"
	      "<html lang=\"en\">\n"
	      "<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src '" PAGE_STYLE_HASH "'; script-src '" PAGE_SCRIPT_HASH "'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<title>",
	      out);
	html_text(out, title);
	fprintf(out, " - verbmark</title>\n<style>%s</style>\n</head>\n<body>\n", page_style);
	fputs("<header class=\"bar\">\n<h1>verbmark: ", out);
	html_text(out, title);
	fputs("</h1>\n"
	      "<fieldset data-scales hidden><legend>Scale</legend>\n"
	      "<label><input type=\"radio\" name=\"scale\" value=\"\" autocomplete=\"off\" checked> "
	      "automatic</label>\n"
	      "<label><input type=\"radio\" name=\"scale\" value=\"log\" autocomplete=\"off\"> "
	      "logarithmic</label>\n"
	      "<label><input type=\"radio\" name=\"scale\" value=\"linear\" autocomplete=\"off\"> "
	      "linear</label>\n"
	      "</fieldset>\n</header>\n<div class=\"page\">\n",
	      out);
}

int page_open(struct page *page)
{
	*page = (struct page){0};
	page->body = open_memstream(&page->text, &page->length);
	return page->body ? 0 : -ENOMEM;
}

int page_print(struct page *page, FILE *out, const char *title)
{
	int code = fclose(page->body) ? -ENOMEM : 0;

	page->body = NULL;
	if (!code) {
		print_head(out, title);
		contents_print(out, page->text);
		fputs("<main>\n", out);
		contents_print_targets(out, page->text);
		fprintf(out, "</main>\n</div>\n<script>%s</script>\n</body>\n</html>\n",
			page_script);
	}
	page_close(page);
	return code;
}

void page_close(struct page *page)
{
	if (page->body)
		fclose(page->body);
	free(page->text);
	*page = (struct page){0};
}

/* Prints what details a table leaves out, folded. */
static void print_details(FILE *out, const struct charts *figures, enum cells_table which)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return;
	charts_print_behind(memory, figures, which);
	if (!fclose(memory) && length)
		fprintf(out,
			"<details class=\"more\">\n<summary>More figures: distributions and values "
			"by trial</summary>\n%s</details>\n",
			text);
	free(text);
}

static void print_metric(FILE *out, const struct charts *figures, enum cells_table which)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "Latency, microseconds",
		[CELLS_BANDWIDTH] = "Bandwidth",
		[CELLS_LOAD] = "Load, microseconds",
		[CELLS_CALLS] = "Calls, microseconds",
	};
	struct grid grid;

	if (cells_grid(&grid, figures->unit, figures->result, which, true)) {
		html_element(out, "h3", titles[which]);
		charts_print_before(out, figures, which);
		page_table(out, &grid);
		print_details(out, figures, which);
	}
	grid_close(&grid);
}

static void say_paragraph(void *owner, const char *text)
{
	html_element(owner, "p", text);
}

static void print_breakdown(FILE *out, const struct result *result)
{
	struct grid grid;

	if (breakdown_grid(&grid, result)) {
		html_element(out, "h3", "Breakdown");
		breakdown_grid_notes(result, "", say_paragraph, out);
		page_table(out, &grid);
	}
	grid_close(&grid);
}

/* Prints figures by kind of memory, folded. */
static void print_matrices(FILE *out, const struct charts *figures)
{
	json_t *groups = memory_matrix_groups(figures->result, figures->unit);
	const char *title;
	json_t *group;

	if (json_object_size(groups))
		fputs("<details class=\"more\">\n<summary>Memory of the client (rows) and the server "
		      "(columns)</summary>\n",
		      out);
	json_object_foreach(groups, title, group)
	{
		char note[MEMORY_MATRIX_NOTE];
		struct grid grid;

		html_element(out, "p", title);
		memory_matrix_open(&grid, figures->unit, figures->result, group);
		page_table(out, &grid);
		grid_close(&grid);
		if (memory_matrix_note(note, figures->result, group))
			html_element(out, "p", note);
	}
	if (json_object_size(groups))
		fputs("</details>\n", out);
	json_decref(groups);
}

static void print_loss(FILE *out, const struct result_case *line)
{
	fputs("<li>", out);
	html_text(out, line->id);
	fprintf(out, ": lost %" PRIu64 " of %" PRIu64 "</li>\n", line->lost, line->sent);
}

/* Lists what the tables cannot show: cases without a measurement, and lost messages. */
static void print_others(FILE *out, const struct result *result)
{
	bool is_open = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (cells_has_figures(line) && !line->lost)
			continue;
		if (!is_open)
			fputs("<div class=\"note bad\">\n<h3>Failed, lost or not run</h3>\n<ul>\n",
			      out);
		is_open = true;
		if (cells_has_figures(line)) {
			print_loss(out, line);
			continue;
		}
		fputs("<li>", out);
		html_text(out, line->id);
		fprintf(out, ": %s", result_status_name(line->status));
		if (line->error[0])
			fputs(": ", out);
		html_text(out, line->error);
		fputs("</li>\n", out);
	}
	if (is_open)
		fputs("</ul>\n</div>\n", out);
}

/* A list; the first item prints its heading. */
struct items {
	FILE *out;
	const char *title;
	size_t count;
};

static void add_item(void *owner, const char *text)
{
	struct items *items = owner;

	if (!items->count++)
		fprintf(items->out, "<h3>%s</h3>\n<ul>\n", items->title);
	html_element(items->out, "li", text);
}

/* Prints the sentences about a result as a list; prints nothing without sentences. */
static void print_said(FILE *out, const char *title, const struct result *result,
		       void (*tell)(const struct result *result, said *say, void *owner))
{
	struct items items = {.out = out, .title = title};

	tell(result, add_item, &items);
	if (items.count)
		fputs("</ul>\n", out);
}

/* Prints plain text as in a terminal, or nothing if it is empty. */
static void print_plain(FILE *out, const char *title, const struct result *result,
			void (*print)(FILE *out, const struct result *result))
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return;
	print(memory, result);
	if (!fclose(memory) && length) {
		html_element(out, "h3", title);
		/* Some lines are sentences, which would not fit on paper without wrapping. */
		fputs("<pre wrap>", out);
		html_text(out, text);
		fputs("</pre>\n", out);
	}
	free(text);
}

static void print_warning(FILE *out, const json_t *warning)
{
	const char *mend = json_member_or_empty(warning, "mend");

	fputs("<li>", out);
	html_text(out, json_member_or_empty(warning, "host"));
	fputs(": ", out);
	html_text(out, json_member_or_empty(warning, "what"));
	if (*mend) {
		fputs("; fix: <code>", out);
		html_text(out, mend);
		fputs("</code>", out);
	}
	fputs("</li>\n", out);
}

static void print_unsteady(FILE *out, const char *text)
{
	fputs("<li>", out);
	html_text(out, text);
	fputs("; fix: a longer <code>--warmup</code></li>\n", out);
}

/* Prints what invalidates the measurement first, then mere notes. */
static void print_warnings(FILE *out, const struct result *result)
{
	bool is_unsteady;
	const json_t *warning;
	char text[256];
	size_t i;

	is_unsteady = banner_allows_times(result) && cells_unsteady(text, result);
	if (!is_unsteady && !json_array_size(result->warnings))
		return;
	fputs("<div class=\"note\">\n<h3>Findings</h3>\n<ul>\n", out);
	for (int spoils = 1; spoils >= 0; spoils--) {
		if (spoils && is_unsteady)
			print_unsteady(out, text);
		json_array_foreach(result->warnings, i,
				   warning) if (json_is_true(json_object_get(warning, "spoils")) ==
						spoils) print_warning(out, warning);
	}
	fputs("</ul>\n</div>\n", out);
}

/* Prints a term and its description, if there is one. */
static void print_term(FILE *out, const char *term, const char *text)
{
	if (!*text)
		return;
	html_element(out, "dt", term);
	html_element(out, "dd", text);
}

/* Prints a fact of both hosts, once if they agree. */
static void print_fact(FILE *out, const char *term, const struct result *result,
		       const char *section, const char *member)
{
	const char *near =
		json_member_or_empty(json_object_get(result->client.facts, section), member);
	const char *far =
		json_member_or_empty(json_object_get(result->server.facts, section), member);
	char text[512];

	snprintf(text, sizeof(text), "%.240s%s%.240s", near,
		 *far && strcmp(near, far) != 0 ? "; " : "", strcmp(near, far) != 0 ? far : "");
	fputs("<div>", out);
	print_term(out, term, text);
	fputs("</div>\n", out);
}

static void print_command(FILE *out, const struct result *result)
{
	const json_t *word;
	size_t i;

	fputs("<div class=\"wide\"><dt>Command</dt><dd><code>", out);
	json_array_foreach(result->command, i, word)
	{
		if (i)
			fputc(' ', out);
		html_text(out, json_string_value(word) ? json_string_value(word) : "");
	}
	fputs("</code></dd></div>\n", out);
}

/* Prints where and when the result was measured. */
static void print_run(FILE *out, const struct result *result, const char *name)
{
	char head[CELLS_HEAD];
	char pair[CELLS_ENDS];
	char text[160];
	bool is_imported = result->imported != NULL;

	cells_head(head, result);
	cells_pair(pair, result);
	fputs("<div class=\"card\"><dl>\n<div>", out);
	print_term(out, "Link and settings", head + strlen(pair) + 2);
	fputs("</div>\n<div>", out);
	snprintf(text, sizeof(text), "%s%s%s", result->started,
		 is_imported || !*result->started ? "" : " to ",
		 is_imported ? "" : result->finished);
	print_term(out, "Measured", text);
	fputs("</div>\n<div>", out);
	print_term(out, "Status", result_status_name(result->status));
	fputs("</div>\n", out);
	print_fact(out, "Processor", result, "cpu", "model");
	print_fact(out, "Kernel", result, "kernel", "release");
	fputs("<div>", out);
	snprintf(text, sizeof(text), "%sverbmark %.100s", is_imported ? "imported by " : "",
		 result->version);
	print_term(out, "Program", text);
	fputs("</div>\n<div>", out);
	print_term(out, "File", name);
	fputs("</div>\n", out);
	/* The command line of another program is unknown. */
	if (!is_imported)
		print_command(out, result);
	fputs("</dl></div>\n", out);
}

void page_add(FILE *out, const struct charts *figures, const char *name)
{
	const struct result *result = figures->result;
	bool has_times = banner_allows_times(result);
	char pair[CELLS_ENDS];

	cells_pair(pair, result);
	fputs("<section>\n", out);
	if (banner_of(result))
		fprintf(out, "<p class=\"soft\"><b>%s</b></p>\n", banner_of(result));
	html_element(out, "h2", pair);
	print_run(out, result, name);
	if (has_times)
		tiles_print(out, figures->unit, result);
	print_said(out, "Summary", result, said_summary);
	print_others(out, result);
	print_warnings(out, result);
	if (has_times) {
		print_metric(out, figures, CELLS_LATENCY);
		print_metric(out, figures, CELLS_CALLS);
		print_metric(out, figures, CELLS_BANDWIDTH);
		print_metric(out, figures, CELLS_LOAD);
		print_breakdown(out, result);
		print_matrices(out, figures);
	}
	print_said(out, "Knees", result, said_knees);
	print_plain(out, "Operation requirements and costs", result, semantics_print);
	print_plain(out, "Coverage", result, coverage_print);
	print_plain(out, "Interleaved cases", result, paired_trials_print);
	charts_print_ratios(out, figures);
	print_said(out, "Fairness", result, said_shares);
	print_said(out, "Mean only", result, said_means);
	host_facts_print(out, result);
	fputs("</section>\n", out);
}
