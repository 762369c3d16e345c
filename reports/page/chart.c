/* SPDX-License-Identifier: MIT */
#include "reports/page/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/table.h"
#include "reports/result/digits.h"

struct chart_panel {
	struct svg_panel plot;
	struct svg_panel_series series[CHART_SERIES];
	size_t room[CHART_SERIES]; /* points allocated, by series */
};

/* Returns NULL if there is no such panel. Names are compared as far as titles hold them. */
static struct chart_panel *panel_of(const struct chart *chart, const char *name)
{
	/* Most points are for the last panel. */
	for (size_t i = chart->n_panels; i > 0; i--)
		if (!strncmp(chart->panels[i - 1].plot.title, name, SVG_PANEL_TITLE - 1))
			return &chart->panels[i - 1];
	return NULL;
}

static struct chart_panel *find_panel(struct chart *chart, const char *name)
{
	struct chart_panel *grown = panel_of(chart, name);

	if (grown)
		return grown;
	if (chart->n_panels == CHART_PANELS)
		return NULL;
	grown = reallocarray(chart->panels, chart->n_panels + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	chart->panels = grown;
	grown = &grown[chart->n_panels++];
	*grown = (struct chart_panel){0};
	snprintf(grown->plot.title, sizeof(grown->plot.title), "%s", name);
	return grown;
}

/* Returns the look of a name, which is the same in all panels. */
static size_t find_look(struct chart *chart, const char *name)
{
	for (size_t i = 0; i < chart->n_looks; i++)
		if (!strcmp(chart->looks[i], name))
			return i;
	if (chart->n_looks == CHART_SERIES)
		return CHART_SERIES;
	snprintf(chart->looks[chart->n_looks], sizeof(chart->looks[0]), "%s", name);
	return chart->n_looks++;
}

static struct svg_panel_series *find_series(struct chart *chart, struct chart_panel *panel,
					    const char *name)
{
	struct svg_panel_series *series;
	char cut[sizeof(series->name)];
	size_t look;

	snprintf(cut, sizeof(cut), "%s", name);
	look = find_look(chart, cut);
	if (look == CHART_SERIES)
		return NULL;
	for (size_t i = 0; i < panel->plot.n_series; i++)
		if (panel->series[i].look == look)
			return &panel->series[i];
	series = &panel->series[panel->plot.n_series++];
	*series = (struct svg_panel_series){.look = look};
	memcpy(series->name, cut, sizeof(cut));
	return series;
}

/* Inserts a point in order of x. Returns false if memory runs out. */
static bool insert(struct svg_panel_series *series, size_t *room,
		   const struct svg_panel_point *point)
{
	size_t at = series->n_points;

	if (series->n_points == *room) {
		size_t wanted = 2 * *room + 8;
		struct svg_panel_point *grown =
			reallocarray(series->points, wanted, sizeof(*series->points));

		if (!grown)
			return false;
		series->points = grown;
		*room = wanted;
	}
	for (; at && series->points[at - 1].x > point->x; at--)
		series->points[at] = series->points[at - 1];
	series->points[at] = *point;
	series->n_points++;
	return true;
}

static size_t most_of(const struct chart *chart)
{
	return chart->most ? chart->most : CHART_POINTS;
}

bool chart_has_room(const struct chart *chart, const char *panel, size_t n_points)
{
	bool has_panel = chart->n_panels < CHART_PANELS || panel_of(chart, panel);

	return has_panel && chart->n_points + n_points <= most_of(chart);
}

void chart_add(struct chart *chart, const char *panel_name, const char *series_name,
	       const struct svg_panel_point *point)
{
	struct chart_panel *panel = NULL;
	struct svg_panel_series *series = NULL;

	if (!isfinite(point->x) || !isfinite(point->y))
		return;
	if (chart->n_points < most_of(chart))
		panel = find_panel(chart, panel_name);
	if (panel)
		series = find_series(chart, panel, series_name);
	if (!series || !insert(series, &panel->room[series - panel->series], point)) {
		chart->left_out++;
		return;
	}
	chart->n_points++;
}

static bool is_worth_while(const struct chart *chart, const struct chart_panel *panel)
{
	bool has_enough = false;

	for (size_t i = 0; i < panel->plot.n_series; i++)
		has_enough = has_enough || panel->series[i].n_points >= chart->least;
	return has_enough && panel->plot.n_series >= chart->least_series;
}

static void include_points(const struct chart *chart, const struct chart_panel *panel,
			   struct axis *x, struct axis *y)
{
	for (size_t i = 0; i < panel->plot.n_series; i++) {
		for (size_t j = 0; j < panel->series[i].n_points; j++) {
			const struct svg_panel_point *point = &panel->series[i].points[j];
			bool is_along_y = chart->mark == SVG_PANEL_LINES;

			axis_include(x, point->x);
			axis_include(y, point->y);
			axis_include(is_along_y ? y : x, point->low);
			axis_include(is_along_y ? y : x, point->high);
		}
	}
}

static void fit(const struct chart *chart, struct axis *x, struct axis *y)
{
	double rows = y->most;

	if (chart->level.name)
		axis_include(chart->mark == SVG_PANEL_INTERVALS ? x : y, chart->level.value);
	/* A bar that ends where the axis starts would be invisible. */
	if (chart->mark == SVG_PANEL_BARS && y->scale == AXIS_LOG)
		axis_include(y, y->least / 2);
	axis_fit(x);
	axis_fit(y);
	/* y counts rows. The space above the first one is for its name. */
	if (chart->mark == SVG_PANEL_INTERVALS) {
		y->least = 0.3;
		y->most = rows + 0.3;
	}
}

/* Fits the axes to one panel, or to all if they share their axes. */
static void fit_axes(const struct chart *chart, const struct chart_panel *of,
		     struct svg_panel_axes *axes)
{
	for (size_t i = 0; i < chart->n_panels; i++) {
		const struct chart_panel *panel = &chart->panels[i];

		if (panel == of || (chart->is_shared && is_worth_while(chart, panel)))
			include_points(chart, panel, &axes->x, &axes->y);
	}
	fit(chart, &axes->x, &axes->y);
}

/* Returns the axis that can be switched: the axis of values, not that of rows or nines. */
static struct axis *switched(const struct chart *chart, struct svg_panel_axes *axes)
{
	bool is_x = chart->mark == SVG_PANEL_INTERVALS || axes->y.scale == AXIS_NINES;

	return is_x ? &axes->x : &axes->y;
}

/* Returns whether each panel has a value that the other scale can show. */
static bool can_switch(const struct chart *chart)
{
	for (size_t i = 0; i < chart->n_panels; i++) {
		struct svg_panel_axes axes = {chart->x, chart->y};
		struct axis *axis = switched(chart, &axes);

		if (!is_worth_while(chart, &chart->panels[i]))
			continue;
		if (!axis_switch(axis))
			return false;
		include_points(chart, &chart->panels[i], &axes.x, &axes.y);
		if (axis->least > axis->most)
			return false;
	}
	return true;
}

static void lay_out(struct chart *chart, struct chart_panel *panel)
{
	struct svg_panel *plot = &panel->plot;

	plot->mark = chart->mark;
	plot->series = panel->series;
	plot->level = chart->level.name ? &chart->level : NULL;
	plot->n_axes = can_switch(chart) ? 2 : 1;
	for (size_t i = 0; i < plot->n_axes; i++) {
		struct svg_panel_axes *axes = &plot->axes[i];

		*axes = (struct svg_panel_axes){chart->x, chart->y};
		if (i)
			axis_switch(switched(chart, axes));
		fit_axes(chart, panel, axes);
	}
}

static const struct svg_panel_point *find_at(const struct svg_panel_series *series, double x)
{
	for (size_t i = 0; i < series->n_points; i++)
		if (series->points[i].x >= x && series->points[i].x <= x)
			return &series->points[i];
	return NULL;
}

static const struct svg_panel_series *series_of(const struct chart_panel *panel, size_t look)
{
	for (size_t i = 0; i < panel->plot.n_series; i++)
		if (panel->series[i].look == look)
			return &panel->series[i];
	return NULL;
}

/* Puts a value, and its interval if there is one along the same axis. */
static void put_value(struct grid *grid, const struct axis *axis, double value,
		      const struct svg_panel_point *interval)
{
	char text[DIGITS_TEXT];

	digits_print(text, value / axis->unit, DIGITS_AMOUNT);
	if (!interval || isnan(interval->low)) {
		grid_put(grid, "%s", text);
		return;
	}
	grid_begin(grid, "%s (", text);
	digits_print(text, interval->low / axis->unit, DIGITS_AMOUNT);
	grid_begin(grid, "%s..", text);
	digits_print(text, interval->high / axis->unit, DIGITS_AMOUNT);
	grid_put(grid, "%s)", text);
}

static void put_row(struct grid *grid, const struct chart *chart, const struct chart_panel *panel,
		    const struct svg_panel_point *of)
{
	bool is_bar = chart->mark == SVG_PANEL_BARS;
	char text[AXIS_TEXT];

	grid_put(grid, "%s", panel->plot.title);
	axis_text(&chart->x, is_bar ? of->low : of->x, text);
	if (is_bar) {
		grid_begin(grid, "%s to ", text);
		axis_text(&chart->x, of->high, text);
	}
	grid_put(grid, "%s", text);
	for (size_t look = 0; look < chart->n_looks; look++) {
		const struct svg_panel_series *series = series_of(panel, look);
		const struct svg_panel_point *point = series ? find_at(series, of->x) : NULL;

		if (point)
			put_value(grid, &chart->y, point->y, is_bar ? NULL : point);
		else
			grid_put(grid, "%s", "");
	}
}

/* Returns the point of a series after last, or the first if last is NULL; NULL at the end. */
static const struct svg_panel_point *find_beyond(const struct svg_panel_series *series,
						 const struct svg_panel_point *last)
{
	for (size_t i = 0; i < series->n_points; i++)
		if (!last || series->points[i].x > last->x)
			return &series->points[i];
	return NULL;
}

/* Returns a point at the next x that any series of the panel has, or NULL at the end. */
static const struct svg_panel_point *find_next(const struct chart_panel *panel,
					       const struct svg_panel_point *last)
{
	const struct svg_panel_point *next = NULL;

	for (size_t i = 0; i < panel->plot.n_series; i++) {
		const struct svg_panel_point *found = find_beyond(&panel->series[i], last);

		if (found && (!next || found->x < next->x))
			next = found;
	}
	return next;
}

static void put_rows(struct grid *grid, const struct chart *chart, const struct chart_panel *panel)
{
	const struct svg_panel_point *point;

	for (point = find_next(panel, NULL); point; point = find_next(panel, point))
		put_row(grid, chart, panel, point);
}

static void put_interval_rows(struct grid *grid, const struct chart *chart,
			      const struct chart_panel *panel)
{
	for (size_t i = 0; i < panel->plot.n_series; i++) {
		const struct svg_panel_series *series = &panel->series[i];

		for (size_t j = 0; j < series->n_points; j++) {
			const struct svg_panel_point *point = &series->points[j];

			grid_put(grid, "%s", point->id);
			grid_put(grid, "%s", series->name);
			put_value(grid, &chart->x, point->x, point);
		}
	}
}

_Static_assert(CHART_SERIES + 2 <= GRID_COLUMNS, "each series needs a column");

static void print_table(FILE *out, const struct chart *chart)
{
	bool is_intervals = chart->mark == SVG_PANEL_INTERVALS;
	const struct grid_column columns[] = {
		{"of",           GRID_WORDS,   0},
		{"figure",       GRID_WORDS,   0},
		{chart->x.title, GRID_FIGURES, 0},
	};
	char titles[CHART_SERIES][SVG_PANEL_NAME + 16];
	struct grid grid;

	grid_open(&grid);
	grid_add_columns(&grid, columns, is_intervals ? 2 : 1);
	grid_add_columns(&grid, &columns[2], 1);
	for (size_t i = 0; i < chart->n_looks && !is_intervals; i++) {
		snprintf(titles[i], sizeof(titles[i]), "%s%s%s", chart->looks[i],
			 *chart->y.unit_name ? ", " : "", chart->y.unit_name);
		grid_add_columns(&grid, &(struct grid_column){.title = titles[i]}, 1);
	}
	for (size_t i = 0; i < chart->n_panels; i++)
		if (is_worth_while(chart, &chart->panels[i]))
			(is_intervals ? put_interval_rows : put_rows)(&grid, chart,
								      &chart->panels[i]);
	fputs("<details>\n<summary>Values of this figure</summary>\n", out);
	page_table(out, &grid);
	fputs("</details>\n", out);
	grid_close(&grid);
}

/* Chooses one scale for all panels, even if they do not share their axes. */
static void settle(struct chart *chart)
{
	struct axis x = chart->x;
	struct axis y = chart->y;

	for (size_t i = 0; i < chart->n_panels; i++)
		if (is_worth_while(chart, &chart->panels[i]))
			include_points(chart, &chart->panels[i], &x, &y);
	axis_settle(&x);
	axis_settle(&y);
	chart->x.scale = x.scale;
	chart->y.scale = y.scale;
}

static size_t count_panels(const struct chart *chart)
{
	size_t count = 0;

	for (size_t i = 0; i < chart->n_panels; i++)
		count += is_worth_while(chart, &chart->panels[i]);
	return count;
}

static void print_panels(FILE *out, struct chart *chart)
{
	size_t total = count_panels(chart);
	size_t count = 0;

	settle(chart);
	fputs("<div class=\"panels\">\n", out);
	for (size_t i = 0; i < chart->n_panels; i++) {
		if (!is_worth_while(chart, &chart->panels[i]))
			continue;
		if (chart->n_open && count == chart->n_open)
			fprintf(out,
				"</div>\n<details>\n<summary>%zu more panel%s</summary>\n"
				"<div class=\"panels\">\n",
				total - count, total - count > 1 ? "s" : "");
		count++;
		lay_out(chart, &chart->panels[i]);
		svg_panel_print(out, &chart->panels[i].plot);
	}
	fputs(chart->n_open && count > chart->n_open ? "</div>\n</details>\n" : "</div>\n", out);
	if (chart->is_thinned)
		fputs("<p>Too many cases to draw every size; the table of cases has all of "
		      "them.</p>\n",
		      out);
	if (chart->left_out)
		fprintf(out, "<p>%zu more values do not fit in this figure.</p>\n",
			chart->left_out);
	if (!chart->is_told_elsewhere)
		print_table(out, chart);
}

void chart_print(FILE *out, struct chart *chart)
{
	if (count_panels(chart)) {
		fputs("<div data-figure>\n", out);
		html_element(out, "h4", chart->title);
		if (chart->says)
			html_element(out, "p", chart->says);
		print_panels(out, chart);
		fputs("</div>\n", out);
	}
	chart_finish(chart);
}

void chart_finish(struct chart *chart)
{
	for (size_t i = 0; i < chart->n_panels; i++)
		for (size_t j = 0; j < chart->panels[i].plot.n_series; j++)
			free(chart->panels[i].series[j].points);
	free(chart->panels);
	chart->panels = NULL;
	chart->n_panels = 0;
}
