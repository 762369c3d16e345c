/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "page_script.h"
#include "page_style.h"
#include "reports/finding/paired_trials.h"
#include "reports/finding/semantics.h"
#include "reports/io/json_member.h"
#include "reports/page/host_facts.h"
#include "reports/page/html.h"
#include "reports/page/table.h"
#include "reports/result/banner.h"
#include "reports/table/sentences.h"

void page_begin(FILE *out)
{
	fputs("<!DOCTYPE html>\n"
	      "<html lang=\"en\">\n"
	      "<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src '" PAGE_SCRIPT_HASH "'; style-src '" PAGE_STYLE_HASH "'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<title>verbmark</title>\n"
	      "<style>",
	      out);
	fputs(page_style, out);
	fputs("</style>\n"
	      "</head>\n"
	      "<body>\n"
	      "<main>\n"
	      "<h1>verbmark</h1>\n",
	      out);
}

void page_end(FILE *out)
{
	fprintf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", page_script);
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
		charts_print_behind(out, figures, which);
	}
	grid_close(&grid);
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
			fputs("<h3>Failed, lost or not run</h3>\n<ul>\n", out);
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
		fputs("</ul>\n", out);
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

static void print_warnings(FILE *out, const struct result *result)
{
	bool is_unsteady;
	const json_t *warning;
	char text[256];
	size_t i;

	is_unsteady = banner_allows_times(result) && cells_unsteady(text, result);
	if (!is_unsteady && !json_array_size(result->warnings))
		return;
	fputs("<h3>Findings</h3>\n<ul>\n", out);
	if (is_unsteady)
		html_element(out, "li", text);
	json_array_foreach(result->warnings, i, warning)
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
	fputs("</ul>\n", out);
}

static void print_run(FILE *out, const struct result *result, const char *name)
{
	const json_t *word;
	size_t i;

	fputs("<p>", out);
	html_text(out, name);
	fputs(": ", out);
	html_text(out, result_status_name(result->status));
	/* The command line of another program is unknown, and few record the time. */
	if (result->imported) {
		if (result->started[0]) {
			fputs(", measured at ", out);
			html_text(out, result->started);
		}
		fputs(", imported by verbmark ", out);
		html_text(out, result->version);
		fputs("</p>\n", out);
		return;
	}
	fputs(", from ", out);
	html_text(out, result->started);
	fputs(" to ", out);
	html_text(out, result->finished);
	fputs(", verbmark ", out);
	html_text(out, result->version);
	fputs("</p>\n<p><code>", out);
	json_array_foreach(result->command, i, word)
	{
		if (i)
			fputc(' ', out);
		html_text(out, json_string_value(word) ? json_string_value(word) : "");
	}
	fputs("</code></p>\n", out);
}

void page_add(FILE *out, const struct charts *figures, const char *name)
{
	const struct result *result = figures->result;
	char head[CELLS_HEAD];

	cells_head(head, result);
	fputs("<section>\n", out);
	if (banner_of(result))
		html_element(out, "h2", banner_of(result));
	html_element(out, "h2", head);
	print_run(out, result, name);
	if (banner_allows_times(result)) {
		print_metric(out, figures, CELLS_LATENCY);
		print_metric(out, figures, CELLS_CALLS);
		print_metric(out, figures, CELLS_BANDWIDTH);
		print_metric(out, figures, CELLS_LOAD);
	}
	print_said(out, "Knees", result, said_knees);
	print_plain(out, "Operation requirements and costs", result, semantics_print);
	print_plain(out, "Interleaved cases", result, paired_trials_print);
	charts_print_ratios(out, figures);
	print_others(out, result);
	print_said(out, "Fairness", result, said_shares);
	print_said(out, "Mean only", result, said_means);
	print_warnings(out, result);
	host_facts_print(out, result);
	fputs("</section>\n", out);
}
