/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/export/xml.h"
#include "reports/fleet/page/heatmap.h"
#include "reports/fleet/page/lists.h"
#include "reports/page/chart.h"
#include "reports/page/page.h"
#include "reports/page/table.h"

#define COLUMNS 32 /* of a distribution */

/* Limits the titles of cells, which need 150 bytes each. */
#define TITLES_MOST 20000

static bool has_groups(const struct fleet *fleet)
{
	for (size_t i = 1; i < fleet->n_nodes; i++)
		if (fleet_is_between(fleet, 0, (uint32_t)i))
			return true;
	return false;
}

/* Lists the nodes whose state is not good. */
static void print_lost(FILE *out, const struct fleet *fleet)
{
	bool is_open = false;

	for (size_t i = 0; i < fleet->n_nodes; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		if (node->presence == FLEET_PRESENT && !node->error[0])
			continue;
		fputs(is_open ? "" : "<h3>Lost nodes</h3>\n<ul>\n", out);
		is_open = true;
		fputs("<li>", out);
		html_text(out, node->name);
		fputs(node->presence == FLEET_ABSENT ? ": never joined" : "", out);
		fputs(node->error[0] ? ": " : "", out);
		html_text(out, node->error);
		fputs("</li>\n", out);
	}
	fputs(is_open ? "</ul>\n" : "", out);
}

static void print_run(FILE *out, const struct fleet *fleet, const char *name)
{
	const json_t *word;
	size_t i;

	fputs("<p>", out);
	html_text(out, name);
	fputs(": pattern ", out);
	html_text(out, fleet->pattern);
	fprintf(out, ", %u rounds, from ", fleet->n_rounds);
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

static void print_bold(FILE *out, const char *text)
{
	fputs("<p><b>", out);
	html_text(out, text);
	fputs("</b></p>\n", out);
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
	struct grid grid;
	size_t left_out;

	if (fleet->is_simulated)
		html_element(out, "h2", "SIMULATED FLEET: these figures were not measured");
	fleet_summary(text, fleet);
	html_element(out, "h2", text);
	if (fleet->is_interrupted) {
		snprintf(text, sizeof(text), "Interrupted: %s", fleet->interruption);
		print_bold(out, text);
	}
	left_out = fleet_list_culprits(&grid, fleet);
	print_grid(out, "Culprits", &grid, left_out);
	print_lost(out, fleet);
	print_warnings(out, fleet);
	print_run(out, fleet, name);
}

/* Sorts "n10" behind "n9". */
static const struct fleet *sorted;

static int compare_names(const void *left, const void *right)
{
	const struct fleet_node *a = &sorted->nodes[*(const uint32_t *)left];
	const struct fleet_node *b = &sorted->nodes[*(const uint32_t *)right];

	return strverscmp(a->name, b->name);
}

static int compare_groups(const void *left, const void *right)
{
	const struct fleet_node *a = &sorted->nodes[*(const uint32_t *)left];
	const struct fleet_node *b = &sorted->nodes[*(const uint32_t *)right];
	int order = strverscmp(a->group, b->group);

	return order ? order : compare_names(left, right);
}

static int print_view(FILE *out, const struct heatmap *heatmap, const struct yardsticks *yardsticks,
		      const struct fleet_view *view, struct error *error)
{
	struct fleet_matrix matrix;
	char text[FLEET_VIEW_TEXT];
	int code = fleet_matrix_init(&matrix, yardsticks, view, error);

	if (code)
		return code;
	fleet_view_text(text, yardsticks->fleet, view);
	fprintf(out, "<details%s>\n<summary>", matrix.n_bad || !view->number ? " open" : "");
	html_text(out, text);
	fprintf(out, ": %zu figures, %zu bad</summary>\n", matrix.n_set, matrix.n_bad);
	code = heatmap_print(out, heatmap, &matrix, error);
	fputs("</details>\n", out);
	fleet_matrix_finish(&matrix);
	return code;
}

static int print_views(FILE *out, struct heatmap *heatmap, const struct yardsticks *yardsticks,
		       struct error *error)
{
	const struct fleet *fleet = yardsticks->fleet;
	size_t count;
	struct fleet_view *views = fleet_views(fleet, &count);
	size_t titles = fleet->n_nodes * fleet->n_nodes * count * (heatmap->by_group ? 2 : 1);
	int code = 0;

	heatmap->has_titles = titles <= TITLES_MOST;
	if (count)
		fputs("<h3>Heat maps</h3>\n<p>Rows send, columns receive. Colors show the share "
		      "of the median; bad cells have a dot, failed ones a cross, and bad links a "
		      "circle. Triangles point at the culprits. Empty cells were not "
		      "measured.</p>\n",
		      out);
	if (count)
		heatmap_print_legend(out);
	if (count && heatmap->by_group)
		fputs("<p hidden><label>Sort nodes by <select data-sort><option "
		      "value=\"node\">name</option><option value=\"group\">group</option>"
		      "</select></label></p>\n",
		      out);
	for (size_t i = 0; i < count && !code; i++)
		code = print_view(out, heatmap, yardsticks, &views[i], error);
	free(views);
	return code;
}

static int print_heatmaps(FILE *out, const struct table_unit *unit,
			  const struct yardsticks *yardsticks, struct error *error)
{
	const struct fleet *fleet = yardsticks->fleet;
	size_t n = fleet->n_nodes;
	uint32_t *orders = calloc(2 * n + 1, sizeof(*orders));
	bool is_grouped = has_groups(fleet);
	struct heatmap heatmap = {
		.unit = unit, .by_node = orders, .by_group = is_grouped ? orders + n : NULL};
	int code;

	if (!orders)
		return error_set_errno(error, -ENOMEM, "cannot sort the nodes");
	for (size_t i = 0; i < 2 * n; i++)
		orders[i] = (uint32_t)(i % n);
	sorted = fleet;
	qsort(orders, n, sizeof(*orders), compare_names);
	qsort(orders + n, n, sizeof(*orders), compare_groups);
	code = print_views(out, &heatmap, yardsticks, error);
	free(orders);
	return code;
}

/* The figures of one case that a rail sent, sorted. */
struct sent {
	double *values;
	size_t count;
};

static struct sent collect(const struct fleet *fleet, size_t number, uint8_t rail)
{
	struct sent sent = {.values = calloc(2 * fleet->n_pairs + 1, sizeof(double))};
	struct fleet_figure figure;

	for (size_t i = 0; i < 2 * fleet->n_pairs && sent.values; i++)
		if (fleet_figure(fleet, &fleet->pairs[i / 2], number, (int)(i % 2), &figure) &&
		    figure.view.from_rail == rail && !isnan(figure.value))
			sent.values[sent.count++] = figure.value;
	return sent;
}

static void add_columns(struct chart *chart, const char *panel, const char *id,
			const struct sent *sent)
{
	size_t counts[COLUMNS] = {0};
	double least = (double)INFINITY;
	double most = 0;
	double width;

	for (size_t i = 0; i < sent->count; i++) {
		least = fmin(least, sent->values[i]);
		most = fmax(most, sent->values[i]);
	}
	width = most > least ? (most - least) / COLUMNS : fmax(most / 100, 1);
	for (size_t i = 0; i < sent->count; i++) {
		size_t column = (size_t)((sent->values[i] - least) / width);

		counts[column < COLUMNS ? column : COLUMNS - 1]++;
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct svg_panel_point point = {
			.x = least + width * (double)i,
			.y = (double)counts[i],
			.low = least + width * (double)i,
			.high = least + width * (double)(i + 1),
			.id = id,
		};

		if (counts[i])
			chart_add(chart, panel, "figures", &point);
	}
}

static void print_distribution(FILE *out, const struct table_unit *unit, const struct fleet *fleet,
			       size_t number)
{
	const struct fleet_case *line = &fleet->cases[number];
	struct chart chart = {
		.title = line->id,
		.says = "Figures by sending rail.",
		.mark = SVG_PANEL_BARS,
		.least = 1,
		.is_told_elsewhere = true,
	};

	axis_open(&chart.x, AXIS_RANGE);
	chart.x.title = line->is_latency ? "latency" : "bandwidth";
	chart.x.unit_name = fleet_unit_name(line, unit);
	chart.x.unit = fleet_unit(line, unit);
	axis_open(&chart.y, AXIS_LINEAR);
	chart.y.title = "figures";
	chart.y.is_counted = true;
	for (uint8_t rail = 0; rail < FLEET_MOST_RAILS; rail++) {
		struct sent sent = collect(fleet, number, rail);
		char panel[32];

		snprintf(panel, sizeof(panel), "rail %u", rail);
		if (sent.count)
			add_columns(&chart, panel, line->id, &sent);
		free(sent.values);
	}
	chart_print(out, &chart);
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
		code = print_heatmaps(out, unit, &yardsticks, error);
	else
		fprintf(out, "<p>Heat maps are omitted: the fleet has more than %d nodes.</p>\n",
			FLEET_MATRIX_NODES);
	print_tables(out, unit, &yardsticks);
	if (fleet->n_cases)
		html_element(out, "h3", "Distributions");
	for (size_t i = 0; i < fleet->n_cases; i++)
		print_distribution(out, unit, fleet, i);
	fputs("</section>\n", out);
	yardsticks_close(&yardsticks);
	return code;
}
