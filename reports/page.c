/* SPDX-License-Identifier: MIT */
#include "reports/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page_script.h"
#include "reports/banner.h"
#include "reports/markup.h"
#include "reports/member.h"
#include "reports/said.h"
#include "reports/semantics.h"
#include "reports/turns.h"

void page_begin(FILE *out)
{
	fputs("<!DOCTYPE html>\n"
	      "<html lang=\"en\">\n"
	      "<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src '" PAGE_SCRIPT_HASH "'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<title>verbmark</title>\n"
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

static void begin_table(FILE *out)
{
	fputs("<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n", out);
}

/* Words on the left, figures on the right; of a body the first cell names its row. */
static void print_cells(FILE *out, const struct cells *cells, bool is_head)
{
	fputs("<tr align=\"right\">", out);
	for (size_t i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cell[i];
		const char *name = is_head || !i ? "th" : "td";
		const char *scope = is_head ? " scope=\"col\"" : !i ? " scope=\"row\"" : "";

		fprintf(out, "<%s%s%s>", name, scope, cell->is_name ? " align=\"left\"" : "");
		markup_text(out, cell->text);
		fprintf(out, "</%s>", name);
	}
	fputs("</tr>\n", out);
}

static void print_metric(FILE *out, const struct figures *figures, enum cells_table which)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "Latency, microseconds",
		[CELLS_BANDWIDTH] = "Bandwidth",
		[CELLS_LOAD] = "Load, microseconds",
	};
	const struct result *result = figures->result;
	bool is_open = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		struct cells cells;

		if (!cells_has_figures(line) || cells_table(line) != which)
			continue;
		if (!is_open) {
			markup_element(out, "h3", titles[which]);
			figures_print_before(out, figures, which);
			begin_table(out);
			cells_title(&cells, figures->unit, line);
			fputs("<thead>", out);
			print_cells(out, &cells, true);
			fputs("</thead>\n<tbody>\n", out);
			is_open = true;
		}
		cells_fill(&cells, figures->unit, result, line);
		print_cells(out, &cells, false);
	}
	if (!is_open)
		return;
	fputs("</tbody>\n</table>\n", out);
	figures_print_behind(out, figures, which);
}

static void print_loss(FILE *out, const struct result_case *line)
{
	fputs("<li>", out);
	markup_text(out, line->id);
	fprintf(out, ": lost %" PRIu64 " of %" PRIu64 "</li>\n", line->lost, line->sent);
}

/* What tables of figures cannot hold: cases without any, and messages that were lost. */
static void print_others(FILE *out, const struct result *result)
{
	bool is_open = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (cells_has_figures(line) && !line->lost)
			continue;
		if (!is_open)
			fputs("<h3>Failed, lost, not run</h3>\n<ul>\n", out);
		is_open = true;
		if (cells_has_figures(line)) {
			print_loss(out, line);
			continue;
		}
		fputs("<li>", out);
		markup_text(out, line->id);
		fprintf(out, ": %s", result_status_name(line->status));
		if (line->error[0])
			fputs(": ", out);
		markup_text(out, line->error);
		fputs("</li>\n", out);
	}
	if (is_open)
		fputs("</ul>\n", out);
}

/* A list, which is begun with its title by the first item. */
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
	markup_element(items->out, "li", text);
}

static void print_knees(FILE *out, const struct result *result)
{
	struct items items = {.out = out, .title = "Knees"};

	said_knees(result, add_item, &items);
	if (items.count)
		fputs("</ul>\n", out);
}

static void print_shares(FILE *out, const struct result *result)
{
	bool is_open = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char text[160];

		if (!cells_has_figures(line) || !cells_evenness(text, NULL, line))
			continue;
		if (!is_open)
			fputs("<h3>Fairness</h3>\n<ul>\n", out);
		is_open = true;
		fputs("<li>", out);
		markup_text(out, line->id);
		fprintf(out, ": %s</li>\n", text);
	}
	if (is_open)
		fputs("</ul>\n", out);
}

/* As tables have it; nothing where they have nothing. */
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
		markup_element(out, "h3", title);
		markup_element(out, "pre", text);
	}
	free(text);
}

static void print_warnings(FILE *out, const struct result *result)
{
	bool is_unsteady;
	const json_t *warning;
	char text[256];
	size_t i;

	is_unsteady = semantics_has_times(result) && cells_unsteady(text, result);
	if (!is_unsteady && !json_array_size(result->warnings))
		return;
	fputs("<h3>Findings</h3>\n<ul>\n", out);
	if (is_unsteady)
		markup_element(out, "li", text);
	json_array_foreach(result->warnings, i, warning)
	{
		const char *mend = member_or_empty(warning, "mend");

		fputs("<li>", out);
		markup_text(out, member_or_empty(warning, "host"));
		fputs(": ", out);
		markup_text(out, member_or_empty(warning, "what"));
		if (*mend) {
			fputs("; mend: <code>", out);
			markup_text(out, mend);
			fputs("</code>", out);
		}
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void print_json(FILE *out, const json_t *value)
{
	char *text;

	if (!value || json_is_null(value)) {
		fputs("-", out);
		return;
	}
	if (json_is_string(value)) {
		markup_text(out, json_string_value(value));
		return;
	}
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	markup_text(out, text ? text : "");
	free(text);
}

static void print_fact(FILE *out, const char *name, const json_t *near, const json_t *far)
{
	fputs("<tr><th scope=\"row\" align=\"left\">", out);
	markup_text(out, name);
	fputs("</th><td>", out);
	print_json(out, near);
	fputs("</td><td>", out);
	print_json(out, far);
	fputs("</td></tr>\n", out);
}

/* How deep facts lie: a document of somebody else's may be deeper. */
#define DEPTH_MAX 4

/* Those of both ends side by side, under the names that lead to them. */
static void print_facts(FILE *out, const char *path, const json_t *near, const json_t *far,
			int depth)
{
	json_t *names = json_object();
	const char *key;
	json_t *unused;

	json_object_update(names, (json_t *)(uintptr_t)near);
	json_object_update_missing(names, (json_t *)(uintptr_t)far);
	json_object_foreach(names, key, unused)
	{
		const json_t *here = json_object_get(near, key);
		const json_t *there = json_object_get(far, key);
		char *name;

		if (asprintf(&name, "%s%s%s", path, *path ? " " : "", key) < 0)
			continue;
		if ((json_is_object(here) || json_is_object(there)) && depth < DEPTH_MAX)
			print_facts(out, name, here, there, depth + 1);
		else
			print_fact(out, name, here, there);
		free(name);
	}
	json_decref(names);
}

static void print_circumstances(FILE *out, const struct result *result)
{
	if (!result->client.facts && !result->server.facts)
		return;
	markup_element(out, "h3", "Circumstances");
	begin_table(out);
	fputs("<thead><tr><th scope=\"col\" align=\"left\">fact</th><th scope=\"col\" "
	      "align=\"left\">client: ",
	      out);
	markup_text(out, result->client.host);
	fputs("</th><th scope=\"col\" align=\"left\">server: ", out);
	markup_text(out, result->server.host);
	fputs("</th></tr></thead>\n<tbody>\n", out);
	print_facts(out, "", result->client.facts, result->server.facts, 1);
	fputs("</tbody>\n</table>\n", out);
}

static void print_run(FILE *out, const struct result *result, const char *name)
{
	const json_t *word;
	size_t i;

	fputs("<p>", out);
	markup_text(out, name);
	fputs(": ", out);
	markup_text(out, result_status_name(result->status));
	fputs(", from ", out);
	markup_text(out, result->started);
	fputs(" to ", out);
	markup_text(out, result->finished);
	fputs(", verbmark ", out);
	markup_text(out, result->version);
	fputs("</p>\n<p><code>", out);
	json_array_foreach(result->command, i, word)
	{
		if (i)
			fputc(' ', out);
		markup_text(out, json_string_value(word) ? json_string_value(word) : "");
	}
	fputs("</code></p>\n", out);
}

void page_add(FILE *out, const struct figures *figures, const char *name)
{
	const struct result *result = figures->result;
	char head[CELLS_HEAD];

	cells_head(head, result);
	fputs("<section>\n", out);
	if (banner_of(result))
		markup_element(out, "h2", banner_of(result));
	markup_element(out, "h2", head);
	print_run(out, result, name);
	if (semantics_has_times(result)) {
		print_metric(out, figures, CELLS_LATENCY);
		print_metric(out, figures, CELLS_BANDWIDTH);
		print_metric(out, figures, CELLS_LOAD);
	}
	print_knees(out, result);
	print_plain(out, "What operations need and cost", result, semantics_print);
	print_plain(out, "In turn", result, turns_print);
	figures_print_ratios(out, figures);
	print_others(out, result);
	print_shares(out, result);
	print_warnings(out, result);
	print_circumstances(out, result);
	fputs("</section>\n", out);
}
