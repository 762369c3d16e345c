/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/views.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/page/heatmap.h"
#include "reports/page/html.h"

#define DRAWN_MOST 64
/* Limits the cells of all maps together, which need three bytes each. */
#define CELLS_MOST ((size_t)16 * 1024 * 1024)
/* Views with bad figures that are open from the start. */
#define OPEN_MOST 4
/* Limits the titles of cells, which need 150 bytes each. */
#define TITLES_MOST 20000

/* A view, and how many figures it has. */
struct counted_view {
	struct fleet_view view;
	uint32_t figures;
	uint32_t bad;
	bool is_drawn;
};

struct views {
	struct counted_view *list; /* by case and rails */
	size_t count;
	size_t n_drawn;
};

/* Sorts "n10" behind "n9". */
static int compare_names(const void *left, const void *right, void *nodes)
{
	const struct fleet_node *a = (const struct fleet_node *)nodes + *(const uint32_t *)left;
	const struct fleet_node *b = (const struct fleet_node *)nodes + *(const uint32_t *)right;

	return strverscmp(a->name, b->name);
}

static int compare_groups(const void *left, const void *right, void *nodes)
{
	const struct fleet_node *a = (const struct fleet_node *)nodes + *(const uint32_t *)left;
	const struct fleet_node *b = (const struct fleet_node *)nodes + *(const uint32_t *)right;
	int order = strverscmp(a->group, b->group);

	return order ? order : compare_names(left, right, nodes);
}

/* The views with the most bad figures first; otherwise in the order of the list. */
static int compare_bad(const void *left, const void *right)
{
	const struct counted_view *a = *(struct counted_view *const *)left;
	const struct counted_view *b = *(struct counted_view *const *)right;

	if (a->bad != b->bad)
		return a->bad < b->bad ? 1 : -1;
	return (a > b) - (a < b);
}

/* Counts the figures of all possible views, and drops the views without figures. */
static void count_figures(struct views *views, const struct yardsticks *yardsticks)
{
	const struct fleet *fleet = yardsticks->fleet;
	size_t n_rails = yardsticks->n_rails;
	size_t slots = fleet->n_cases * n_rails * n_rails;
	struct fleet_figure figure;

	for (size_t i = 0; i < fleet->n_pairs; i++)
		for (size_t j = 0; j < 2 * fleet->n_cases; j++) {
			const struct fleet_view *view = &figure.view;
			struct counted_view *counted;

			if (!fleet_judged_figure(yardsticks, &fleet->pairs[i], j / 2, (int)(j % 2),
						 &figure))
				continue;
			counted =
				&views->list[(view->number * n_rails + view->from_rail) * n_rails +
					     view->to_rail];
			counted->view = *view;
			counted->figures++;
			counted->bad += figure.faults != 0;
		}
	for (size_t i = 0; i < slots; i++)
		if (views->list[i].figures)
			views->list[views->count++] = views->list[i];
}

/* Chooses the views to draw. */
static int choose(struct views *views, size_t n_nodes, struct error *error)
{
	struct counted_view **order = calloc(views->count + 1, sizeof(struct counted_view *));
	size_t room = n_nodes ? CELLS_MOST / (n_nodes * n_nodes) : 0;

	if (!order)
		return error_set_errno(error, -ENOMEM, "cannot choose the heat maps");
	for (size_t i = 0; i < views->count; i++)
		order[i] = &views->list[i];
	qsort(order, views->count, sizeof(struct counted_view *), compare_bad);
	for (;
	     views->n_drawn < views->count && views->n_drawn < DRAWN_MOST && views->n_drawn < room;)
		order[views->n_drawn++]->is_drawn = true;
	free(order);
	return 0;
}

static int views_init(struct views *views, const struct yardsticks *yardsticks, struct error *error)
{
	const struct fleet *fleet = yardsticks->fleet;

	*views = (struct views){
		.list = calloc(fleet->n_cases * yardsticks->n_rails * yardsticks->n_rails + 1,
			       sizeof(*views->list))};
	if (!views->list)
		return error_set_errno(error, -ENOMEM, "cannot choose the heat maps");
	count_figures(views, yardsticks);
	return choose(views, fleet->n_nodes, error);
}

/* Lists the views that are not drawn, by case. */
static void print_omitted(FILE *out, const struct fleet *fleet, const struct views *views)
{
	const struct counted_view *last = NULL;

	if (views->n_drawn == views->count)
		return;
	fprintf(out,
		"<details>\n<summary>%zu of %zu heat maps are drawn, those with the most bad "
		"figures; omitted are</summary>\n<ul>\n",
		views->n_drawn, views->count);
	for (size_t i = 0; i < views->count; i++) {
		const struct counted_view *counted = &views->list[i];
		const struct fleet_view *view = &counted->view;

		if (counted->is_drawn)
			continue;
		if (last && last->view.number == view->number) {
			fputs(", ", out);
		} else {
			fputs(last ? "</li>\n<li>" : "<li>", out);
			html_text(out, fleet->cases[view->number].id);
			fputs(": ", out);
		}
		fprintf(out, "rail %u", view->from_rail);
		if (view->from_rail != view->to_rail)
			fprintf(out, " to %u", view->to_rail);
		last = counted;
	}
	fputs("</li>\n</ul>\n</details>\n", out);
}

static int print_view(FILE *out, const struct heatmap *heatmap, const struct yardsticks *yardsticks,
		      const struct fleet_view *view, bool is_open, struct error *error)
{
	struct fleet_matrix matrix;
	const struct fleet *fleet = yardsticks->fleet;
	const struct yardstick *common =
		yardstick_at(yardsticks, view->number, view->from_rail, YARDSTICK_COMMON);
	char text[FLEET_VIEW_TEXT];
	char median[FLEET_TEXT];
	int code = fleet_matrix_init(&matrix, yardsticks, view, error);

	if (code)
		return code;
	fleet_view_text(text, fleet, view);
	fprintf(out, "<details%s>\n<summary>", is_open ? " open" : "");
	html_text(out, text);
	fprintf(out, ": <b>%zu of %zu figures bad</b>, median %s</summary>\n", matrix.n_bad,
		matrix.n_set,
		fleet_value_text(median, &fleet->cases[view->number], heatmap->unit,
				 common->count ? common->median : (double)NAN));
	code = heatmap_print(out, heatmap, &matrix, error);
	fputs("</details>\n", out);
	fleet_matrix_finish(&matrix);
	return code;
}

static int print_views(FILE *out, const struct heatmap *heatmap,
		       const struct yardsticks *yardsticks, const struct views *views,
		       struct error *error)
{
	size_t n_open = 0;
	int code = 0;

	fputs("<h3>Heat maps</h3>\n", out);
	heatmap_print_legend(out);
	fputs("<p>Rows send, columns receive. Bad cells have a dot; rows and columns of bad nodes "
	      "and rails have an outline, bad links a circle. Empty cells were not measured.</p>\n",
	      out);
	if (heatmap->by_group)
		fputs("<p hidden><label>Sort nodes by <select data-sort><option "
		      "value=\"node\">name</option><option value=\"group\">group</option>"
		      "</select></label></p>\n",
		      out);
	for (size_t i = 0; i < views->count && !code; i++) {
		const struct counted_view *counted = &views->list[i];
		bool is_open = counted->bad ? n_open < OPEN_MOST : !counted->view.number;

		if (!counted->is_drawn)
			continue;
		n_open += is_open && counted->bad;
		code = print_view(out, heatmap, yardsticks, &counted->view, is_open, error);
	}
	print_omitted(out, yardsticks->fleet, views);
	return code;
}

static int print_sorted(FILE *out, struct heatmap *heatmap, const struct yardsticks *yardsticks,
			uint32_t *orders, struct error *error)
{
	const struct fleet *fleet = yardsticks->fleet;
	size_t n = fleet->n_nodes;
	struct views views;
	int code = views_init(&views, yardsticks, error);

	for (size_t i = 0; i < 2 * n; i++)
		orders[i] = (uint32_t)(i % n);
	qsort_r(orders, n, sizeof(*orders), compare_names, fleet->nodes);
	qsort_r(orders + n, n, sizeof(*orders), compare_groups, fleet->nodes);
	heatmap->by_node = orders;
	for (size_t i = 1; i < n; i++)
		if (fleet_is_between(fleet, 0, (uint32_t)i))
			heatmap->by_group = orders + n;
	heatmap->has_titles = n * n * views.n_drawn * (heatmap->by_group ? 2 : 1) <= TITLES_MOST;
	if (!code && views.count)
		code = print_views(out, heatmap, yardsticks, &views, error);
	free(views.list);
	return code;
}

int views_print(FILE *out, const struct table_unit *unit, const struct yardsticks *yardsticks,
		struct error *error)
{
	struct heatmap heatmap = {.unit = unit};
	uint32_t *orders = calloc(2 * yardsticks->fleet->n_nodes + 1, sizeof(*orders));
	int code;

	if (!orders)
		return error_set_errno(error, -ENOMEM, "cannot sort the nodes");
	code = print_sorted(out, &heatmap, yardsticks, orders, error);
	free(orders);
	return code;
}
