/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/page.h"

#include <stdlib.h>
#include <string.h>

#include "reports/export/xml.h"
#include "reports/fleet/hostlist.h"
#include "reports/fleet/page/distribution.h"
#include "reports/fleet/page/lists.h"
#include "reports/fleet/page/matrix.h"
#include "reports/fleet/page/views.h"
#include "reports/fleet/table.h"
#include "reports/page/html.h"
#include "reports/page/page.h"
#include "reports/page/table.h"
#include "reports/result/banner.h"

static void print_run(FILE *out, const struct fleet *fleet)
{
	const json_t *word;
	size_t i;

	fputs("<h3>Run</h3>\n<p>Pattern ", out);
	html_text(out, fleet->pattern);
	fputs(", from ", out);
	html_text(out, fleet->started);
	fputs(" to ", out);
	html_text(out, fleet->finished);
	fputs(", verbmark ", out);
	html_text(out, fleet->version ? fleet->version : "");
	fputs("</p>\n<p><code>", out);
	json_array_foreach(fleet->command, i, word)
	{
		fputs(i ? " " : "", out);
		html_text(out, json_string_value(word) ? json_string_value(word) : "");
	}
	fputs("</code></p>\n", out);
}

static void print_warnings(FILE *out, const struct fleet *fleet)
{
	const json_t *warning;
	size_t i;

	if (!json_array_size(fleet->warnings))
		return;
	fputs("<h3>Findings</h3>\n<ul>\n", out);
	json_array_foreach(fleet->warnings, i, warning) html_element(
		out, "li", json_string_value(warning) ? json_string_value(warning) : "");
	fputs("</ul>\n", out);
}

static void print_grid(FILE *out, const char *title, struct grid *grid, size_t left_out)
{
	if (grid->n_cells) {
		if (title)
			html_element(out, "h3", title);
		page_table(out, grid);
	}
	if (left_out)
		fprintf(out, "<p>%zu more are in the file.</p>\n", left_out);
	grid_close(grid);
}

static void print_head(FILE *out, const struct fleet *fleet, const char *name)
{
	char text[FLEET_SUMMARY];
	char *bad = fleet_bad_nodes(fleet);
	struct grid grid;
	size_t left_out;

	if (fleet_uses_soft(fleet))
		fputs("<p><b>" BANNER_SOFT "</b></p>\n", out);
	if (fleet->is_simulated)
		fputs("<p><b>SIMULATION: no link was measured</b></p>\n", out);
	fprintf(out, "<h2 data-verdict=\"%s\">", fleet_verdict(text, fleet));
	html_text(out, text);
	fputs("</h2>\n<p>", out);
	html_text(out, name);
	fputs(": ", out);
	fleet_table_counts(out, fleet);
	fputs("</p>\n", out);
	if (fleet->is_interrupted) {
		snprintf(text, sizeof(text), "Interrupted: %s", fleet->interruption);
		html_element(out, "p", text);
	}
	left_out = fleet_list_culprits(&grid, fleet);
	print_grid(out, NULL, &grid, left_out);
	if (bad && strpbrk(bad, ",[")) {
		fputs("<p>Bad nodes: <code>", out);
		html_text(out, bad);
		fputs("</code></p>\n", out);
	}
	free(bad);
}

static void print_tables(FILE *out, const struct table_unit *unit,
			 const struct yardsticks *yardsticks)
{
	const struct fleet *fleet = yardsticks->fleet;
	struct grid grid;
	size_t left_out;

	left_out = fleet_list_worst(&grid, unit, yardsticks);
	print_grid(out, "Worst figures", &grid, left_out);
	left_out = fleet_list_failed(&grid, fleet);
	print_grid(out, "Failed pairs", &grid, left_out);
	fleet_list_spreads(&grid, unit, fleet);
	print_grid(out, "Medians", &grid, 0);
}

/* Prints the names as lines of an attribute, for page.js. */
static void print_names(FILE *out, const struct fleet *fleet)
{
	fputs("<section data-nodes=\"", out);
	for (size_t i = 0; i < fleet->n_nodes; i++) {
		fputs(i ? "\n" : "", out);
		xml_print(out, fleet->nodes[i].name);
	}
	fputs("\" data-groups=\"", out);
	for (size_t i = 0; i < fleet->n_nodes; i++) {
		fputs(i ? "\n" : "", out);
		xml_print(out, fleet->nodes[i].group);
	}
	fputs("\">\n", out);
}

int fleet_page(FILE *out, const struct table_unit *unit, const struct fleet *fleet,
	       const char *name, struct error *error)
{
	struct yardsticks yardsticks;
	int code = yardsticks_open(&yardsticks, fleet, error);

	if (code)
		return code;
	print_names(out, fleet);
	print_head(out, fleet, name);
	if (fleet->n_nodes <= FLEET_MATRIX_NODES)
		code = views_print(out, unit, &yardsticks, error);
	else
		fprintf(out, "<p>Heat maps are omitted: the fleet has more than %d nodes.</p>\n",
			FLEET_MATRIX_NODES);
	print_tables(out, unit, &yardsticks);
	if (fleet->n_cases)
		html_element(out, "h3", "Distributions");
	for (size_t i = 0; i < fleet->n_cases; i++)
		distribution_print(out, unit, fleet, i);
	print_warnings(out, fleet);
	print_run(out, fleet);
	fputs("</section>\n", out);
	yardsticks_close(&yardsticks);
	return code;
}
