/* SPDX-License-Identifier: MIT */
#include "reports/page/svg_panel.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"

/* Pixels. Two panels fit side by side on a small screen, three or four on a large one. */
enum {
	LEFT = 52,
	RIGHT = 12,
	TITLE = 16,
	LEGEND_ROW = 15,
	TALL = 164,
	BELOW = 38,
	INTERVAL_ROW = 30,
};

/* The number of characters that fit. */
#define TITLE_LETTERS  47
#define LEGEND_LETTERS 52 /* if a row has one name */
#define LABEL_LETTERS  3

/*
 * Colors with a contrast of 3:1 on white and on a browser's dark background, ordered so that
 * adjacent ones differ for color-blind readers.
 */
static const char *const colors[] = {"#1a7fc1", "#d55e00", "#00895f",
				     "#b35c9e", "#937000", "#767676"};
static const char *const dashes[] = {"none", "6 3", "2 2", "9 3 2 3", "12 4", "4 2 1 2 1 2"};
/* Paths relative to the center of a marker. */
static const char *const markers[] = {
	"m0-3a3 3 0 1 1-.01 0z", "m-3-3h6v6h-6z", "m0-4l4 7h-8z",
	"m0-4l4 4l-4 4l-4-4z",   "m0 4l4-7h-8z",  "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
};

static const char *color_of(const struct svg_panel_series *series)
{
	return colors[series->look % ARRAY_LENGTH(colors)];
}

/* When colors repeat, dashes and markers are shifted. */
static const char *dash_of(const struct svg_panel_series *series)
{
	size_t turn = series->look / ARRAY_LENGTH(colors);

	return dashes[(series->look + turn) % ARRAY_LENGTH(dashes)];
}

static const char *marker_of(const struct svg_panel_series *series)
{
	size_t turn = series->look / ARRAY_LENGTH(colors);

	return markers[(series->look + turn) % ARRAY_LENGTH(markers)];
}

static void print_attribute(FILE *out, const char *name, double value)
{
	char text[HTML_NUMBER];

	if (isnan(value))
		return;
	html_exact(text, value);
	fprintf(out, " data-%s=\"%s\"", name, text);
}

/* The path data for each pair of axes; the second omits relative parts, which are the same. */
static const char *const paths[] = {"d", "data-d"};

/* Returns the attributes of a group that exists once per pair of axes. */
static const char *either(const struct svg_panel *plot, size_t pair)
{
	if (plot->n_axes == 1)
		return "";
	return pair ? " data-either display=\"none\"" : " data-either";
}

static void begin_axis(FILE *out, const char *name, const struct axis *axis, const char *attributes)
{
	fprintf(out, "<g data-axis=\"%s\" data-scale=\"%s\"%s", name, axis_scale_name(axis->scale),
		attributes);
	if (axis->scale == AXIS_SIZES)
		fputs(" data-sizes", out);
	print_attribute(out, "unit", axis->unit);
	print_attribute(out, "least", axis->least);
	print_attribute(out, "most", axis->most);
	print_attribute(out, "from", axis->from);
	print_attribute(out, "to", axis->to);
	fputs(">\n", out);
}

/* Prints the title of an axis, and ends its group. */
static void print_title(FILE *out, const struct axis *axis, double x, double y, bool is_upright)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"", x, y);
	if (is_upright)
		fprintf(out, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
	fputs(">", out);
	html_text(out, axis->title);
	if (*axis->unit_name)
		fputs(", ", out);
	html_text(out, axis->unit_name);
	fputs("</text>\n</g>\n", out);
}

#define GRID "stroke=\"currentColor\" stroke-opacity=\"0.2\""

static void print_x(FILE *out, const struct svg_panel *plot, const struct axis *axis,
		    const char *attributes)
{
	struct axis_tick ticks[AXIS_TICKS];
	size_t count = axis_ticks(axis, ticks);
	double top = fmin(plot->axes->y.from, plot->axes->y.to);
	double bottom = fmax(plot->axes->y.from, plot->axes->y.to);

	begin_axis(out, "x", axis, attributes);
	fputs("<path " GRID " d=\"", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "M%.1f %gV%g", axis_at(axis, ticks[i].value), bottom + 4, top);
	fputs("\"/>\n<g font-size=\"10\" text-anchor=\"middle\">\n", out);
	for (size_t i = 0; i < count; i++) {
		double at = axis_at(axis, ticks[i].value);
		/* A long last label would exceed the margin: align it with the right edge. */
		bool is_last = at > axis->to - RIGHT && strlen(ticks[i].label) > LABEL_LETTERS;

		fprintf(out, "<text x=\"%.1f\" y=\"%g\"%s>%s</text>\n",
			is_last ? SVG_PANEL_WIDTH - 2 : at, bottom + 15,
			is_last ? " text-anchor=\"end\"" : "", ticks[i].label);
	}
	fputs("</g>\n", out);
	print_title(out, axis, (axis->from + axis->to) / 2, bottom + 31, false);
}

static void print_y(FILE *out, const struct svg_panel *plot, const struct axis *axis,
		    const char *attributes)
{
	struct axis_tick ticks[AXIS_TICKS];
	size_t count = plot->mark == SVG_PANEL_INTERVALS ? 0 : axis_ticks(axis, ticks);

	begin_axis(out, "y", axis, attributes);
	fputs("<path " GRID " d=\"", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "M%g %.1fH%g", plot->axes->x.from - 4, axis_at(axis, ticks[i].value),
			plot->axes->x.to);
	fputs("\"/>\n<g font-size=\"10\" text-anchor=\"end\">\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "<text x=\"%g\" y=\"%.1f\">%s</text>\n", plot->axes->x.from - 6,
			axis_at(axis, ticks[i].value) + 3.5, ticks[i].label);
	fputs("</g>\n", out);
	print_title(out, axis, 11, (axis->from + axis->to) / 2, true);
}

/* The two pairs differ in one axis only. */
static void print_axes(FILE *out, const struct svg_panel *plot)
{
	const struct svg_panel_axes *first = &plot->axes[0];
	const struct svg_panel_axes *second = &plot->axes[plot->n_axes - 1];
	bool is_x = first->x.scale != second->x.scale;
	bool is_y = first->y.scale != second->y.scale;

	print_x(out, plot, &first->x, is_x ? either(plot, 0) : "");
	if (is_x)
		print_x(out, plot, &second->x, either(plot, 1));
	print_y(out, plot, &first->y, is_y ? either(plot, 0) : "");
	if (is_y)
		print_y(out, plot, &second->y, either(plot, 1));
}

static bool has_band(const struct svg_panel_series *series)
{
	for (size_t i = 0; i < series->n_points; i++)
		if (!isnan(series->points[i].low))
			return true;
	return false;
}

/*
 * Returns whether another series has a point between two adjacent points of this one: a line
 * across it would suggest a value that was not measured.
 */
static bool is_gap(const struct svg_panel *plot, const struct svg_panel_point *one,
		   const struct svg_panel_point *next)
{
	if (plot->axes->x.is_continuous)
		return false;
	for (size_t i = 0; i < plot->n_series; i++) {
		const struct svg_panel_series *series = &plot->series[i];

		for (size_t j = 0; j < series->n_points; j++)
			if (series->points[j].x > one->x && series->points[j].x < next->x)
				return true;
	}
	return false;
}

/* Returns the number of points from first to the next gap. */
static size_t stretch(const struct svg_panel *plot, const struct svg_panel_series *series,
		      size_t first)
{
	size_t count = 1;

	while (first + count < series->n_points &&
	       !is_gap(plot, &series->points[first + count - 1], &series->points[first + count]))
		count++;
	return count;
}

/* Draws forward along the upper ends and back along the lower ends of the intervals. */
static void print_band(FILE *out, const struct svg_panel *plot,
		       const struct svg_panel_point *points, size_t count)
{
	fputs("<path stroke=\"none\" fill-opacity=\"0.2\"", out);
	for (size_t pair = 0; pair < plot->n_axes; pair++) {
		const struct svg_panel_axes *axes = &plot->axes[pair];

		fprintf(out, " %s=\"", paths[pair]);
		for (size_t i = 0; i < 2 * count; i++) {
			const struct svg_panel_point *point =
				&points[i < count ? i : 2 * count - 1 - i];
			double edge = i < count ? point->high : point->low;

			fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', axis_at(&axes->x, point->x),
				axis_at(&axes->y, isnan(edge) ? point->y : edge));
		}
		fputs(pair ? "\"" : "z\"", out);
	}
	fputs("/>\n", out);
}

static void print_line_on(FILE *out, const struct svg_panel *plot,
			  const struct svg_panel_axes *axes, const struct svg_panel_series *series)
{
	size_t gap = 0;

	for (size_t i = 0; i < series->n_points; i++) {
		fprintf(out, "%c%.1f %.1f", i == gap ? 'M' : 'L',
			axis_at(&axes->x, series->points[i].x),
			axis_at(&axes->y, series->points[i].y));
		if (i == gap)
			gap += stretch(plot, series, i);
	}
}

static void print_line(FILE *out, const struct svg_panel *plot,
		       const struct svg_panel_series *series)
{
	fprintf(out, "<path fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"%s\"",
		dash_of(series));
	for (size_t pair = 0; pair < plot->n_axes; pair++) {
		fprintf(out, " %s=\"", paths[pair]);
		print_line_on(out, plot, &plot->axes[pair], series);
		fputs("\"", out);
	}
	fputs("/>\n", out);
}

static void print_value(FILE *out, const char *before, const struct axis *axis, double value)
{
	char text[AXIS_TEXT];

	axis_text(axis, value, text);
	fprintf(out, "%s%s", before, text);
}

/* Prints the tooltip of a point, which need not repeat the title of the panel. */
static void print_hint(FILE *out, const struct svg_panel *plot,
		       const struct svg_panel_series *series, const struct svg_panel_point *point)
{
	bool is_interval = plot->mark == SVG_PANEL_INTERVALS;
	const struct axis *axis = is_interval ? &plot->axes->x : &plot->axes->y;
	char text[2][HTML_NUMBER];

	html_text(out, is_interval ? point->id : series->name);
	if (plot->mark == SVG_PANEL_BARS) {
		print_value(out, " from ", &plot->axes->x, point->low);
		print_value(out, " to ", &plot->axes->x, point->high);
		print_value(out, ": ", &plot->axes->y, point->y);
		return;
	}
	if (is_interval) {
		fputs(", ", out);
		html_text(out, series->name);
	} else {
		print_value(out, " at ", &plot->axes->x, point->x);
	}
	print_value(out, ": ", axis, is_interval ? point->x : point->y);
	if (!isnan(point->low)) {
		axis_number(axis, point->low, text[0]);
		axis_number(axis, point->high, text[1]);
		fprintf(out, " (%s..%s)", text[0], text[1]);
	}
	if (point->note) {
		fputs(", ", out);
		html_text(out, point->note);
	}
}

/* Prints the values of a marker, as attributes and tooltip, and ends its element. */
static void print_values(FILE *out, const struct svg_panel *plot,
			 const struct svg_panel_series *series, const struct svg_panel_point *point)
{
	print_attribute(out, "x", point->x);
	print_attribute(out, "y", point->y);
	print_attribute(out, "low", point->low);
	print_attribute(out, "high", point->high);
	fputs(" data-case=\"", out);
	html_text(out, point->id);
	fputs("\"><title>", out);
	print_hint(out, plot, series, point);
	fputs("</title></path>\n", out);
}

static void print_marker(FILE *out, const struct svg_panel *plot,
			 const struct svg_panel_series *series, const struct svg_panel_point *point)
{
	fputs("<path", out);
	for (size_t pair = 0; pair < plot->n_axes; pair++)
		fprintf(out, " %s=\"M%.1f %.1f%s\"", paths[pair],
			axis_at(&plot->axes[pair].x, point->x),
			axis_at(&plot->axes[pair].y, point->y), pair ? "" : marker_of(series));
	print_values(out, plot, series, point);
}

static void print_lines(FILE *out, const struct svg_panel *plot,
			const struct svg_panel_series *series)
{
	for (size_t i = 0; has_band(series) && i < series->n_points;) {
		size_t count = stretch(plot, series, i);

		print_band(out, plot, &series->points[i], count);
		i += count;
	}
	print_line(out, plot, series);
	for (size_t i = 0; i < series->n_points; i++)
		print_marker(out, plot, series, &series->points[i]);
}

static void print_bars(FILE *out, const struct svg_panel *plot,
		       const struct svg_panel_series *series)
{
	for (size_t i = 0; i < series->n_points; i++) {
		const struct svg_panel_point *point = &series->points[i];

		fputs("<path stroke=\"none\"", out);
		for (size_t pair = 0; pair < plot->n_axes; pair++) {
			const struct svg_panel_axes *axes = &plot->axes[pair];

			fprintf(out, " %s=\"M%.1f %gV%.1fH%.1fV%g%s\"", paths[pair],
				axis_at(&axes->x, point->low), axes->y.from,
				axis_at(&axes->y, point->y), axis_at(&axes->x, point->high),
				axes->y.from, pair ? "" : "z");
		}
		print_values(out, plot, series, point);
	}
}

static void print_span(FILE *out, const struct svg_panel *plot, const struct svg_panel_point *point)
{
	double y = axis_at(&plot->axes->y, point->y);

	fputs("<path", out);
	for (size_t pair = 0; pair < plot->n_axes; pair++) {
		double low = axis_at(&plot->axes[pair].x, point->low);
		double high = axis_at(&plot->axes[pair].x, point->high);

		fprintf(out, " %s=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f %.1fV%.1f\"", paths[pair],
			low, y - 4, y + 4, low, y, high, high, y - 4, y + 4);
	}
	fputs(" fill=\"none\" stroke-width=\"2\"/>", out);
}

/* Prints each interval below its name, which is too long to fit beside it. */
static void print_intervals(FILE *out, const struct svg_panel *plot,
			    const struct svg_panel_series *series)
{
	for (size_t i = 0; i < series->n_points; i++) {
		const struct svg_panel_point *point = &series->points[i];

		if (!isnan(point->low))
			print_span(out, plot, point);
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" stroke=\"none\" fill=\"currentColor\">",
			plot->axes->x.from, axis_at(&plot->axes->y, point->y) - 7);
		html_start(out, point->id, TITLE_LETTERS - 12);
		fputs(": ", out);
		html_text(out, series->name);
		fputs("</text>\n", out);
		print_marker(out, plot, series, point);
	}
}

static void print_series(FILE *out, const struct svg_panel *plot,
			 const struct svg_panel_series *series)
{
	fputs("<g data-series=\"", out);
	html_text(out, series->name);
	fprintf(out, "\" fill=\"%s\" stroke=\"%s\">\n", color_of(series), color_of(series));
	switch (plot->mark) {
	case SVG_PANEL_LINES:
		print_lines(out, plot, series);
		break;
	case SVG_PANEL_BARS:
		print_bars(out, plot, series);
		break;
	case SVG_PANEL_INTERVALS:
		print_intervals(out, plot, series);
		break;
	}
	fputs("</g>\n", out);
}

static void print_level(FILE *out, const struct svg_panel *plot, size_t pair)
{
	const struct svg_panel_level *level = plot->level;
	const struct svg_panel_axes *axes = &plot->axes[pair];
	double at;

	fprintf(out, "<g data-level%s", either(plot, pair));
	print_attribute(out, "value", level->value);
	fputs(" stroke=\"currentColor\" stroke-dasharray=\"1 2\">", out);
	if (plot->mark == SVG_PANEL_INTERVALS) {
		at = axis_at(&axes->x, level->value);
		fprintf(out, "<path d=\"M%.1f %.1fV%.1f\"/>", at, axes->y.from, axes->y.to);
	} else {
		at = axis_at(&axes->y, level->value);
		fprintf(out,
			"<path d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\" stroke=\"none\" font-size=\"10\">",
			axes->x.from, at, axes->x.to, axes->x.to, at + 11);
		html_text(out, level->name);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

/* Returns the number of names per row, which depends on the longest. */
static size_t legend_columns(const struct svg_panel *plot)
{
	size_t longest = 0;

	for (size_t i = 0; i < plot->n_series; i++) {
		size_t length = strlen(plot->series[i].name);

		longest = length > longest ? length : longest;
	}
	return longest <= 14 ? 3 : longest <= 24 ? 2 : 1;
}

static void print_legend(FILE *out, const struct svg_panel *plot)
{
	size_t columns = legend_columns(plot);
	double column = (double)(SVG_PANEL_WIDTH - LEFT + 36) / (double)columns;

	for (size_t i = 0; i < plot->n_series; i++) {
		const struct svg_panel_series *series = &plot->series[i];
		double x = LEFT - 40 + column * (double)(i % columns);
		size_t row = 1 + i / columns;
		double y = TITLE + LEGEND_ROW * (double)row;

		fputs("<g data-label=\"", out);
		html_text(out, series->name);
		fprintf(out,
			"\"><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%d\" fill=\"none\" "
			"pointer-events=\"all\"/><path d=\"M%g %gh22\" stroke=\"%s\" stroke-width=\"1.5\" "
			"stroke-dasharray=\"%s\"/><path d=\"M%g %g%s\" fill=\"%s\"/>"
			"<text x=\"%g\" y=\"%g\">",
			x, y - 11, column - 4, LEGEND_ROW, x, y - 4, color_of(series),
			dash_of(series), x + 11, y - 4, marker_of(series), color_of(series), x + 26,
			y);
		html_start(out, series->name, LEGEND_LETTERS);
		fputs("</text>", out);
		fputs("</g>\n", out);
	}
}

/* Describes both ends of each line, for screen readers. */
static void describe(FILE *out, const struct svg_panel *plot)
{
	const char *between = "";

	fputs("<desc>", out);
	for (size_t i = 0; i < plot->n_series; i++) {
		const struct svg_panel_series *series = &plot->series[i];
		const struct svg_panel_point *first = series->points;
		const struct svg_panel_point *last = first + series->n_points - 1;

		if (!series->n_points || plot->mark != SVG_PANEL_LINES)
			continue;
		fputs(between, out);
		html_text(out, series->name);
		print_value(out, ": from ", &plot->axes->y, first->y);
		print_value(out, " at ", &plot->axes->x, first->x);
		print_value(out, " to ", &plot->axes->y, last->y);
		print_value(out, " at ", &plot->axes->x, last->x);
		between = "; ";
	}
	fputs(*between ? "." : "All values are in the table.", out);
	fputs("</desc>\n", out);
}

/* Bars are a single series, and intervals are labeled directly. */
static bool has_legend(const struct svg_panel *plot)
{
	return plot->mark == SVG_PANEL_LINES;
}

static double tall(const struct svg_panel *plot)
{
	size_t count = 0;

	for (size_t i = 0; i < plot->n_series; i++)
		count += plot->series[i].n_points;
	return plot->mark == SVG_PANEL_INTERVALS ? INTERVAL_ROW * (double)count : TALL;
}

void svg_panel_print(FILE *out, struct svg_panel *plot)
{
	static const char *const marks[] = {[SVG_PANEL_LINES] = "lines",
					    [SVG_PANEL_BARS] = "bars",
					    [SVG_PANEL_INTERVALS] = "intervals"};
	size_t rows = has_legend(plot) ? (plot->n_series - 1) / legend_columns(plot) + 1 : 0;
	double top = TITLE + LEGEND_ROW * (double)rows + 12;
	double height = top + tall(plot) + BELOW;

	for (size_t pair = 0; pair < plot->n_axes; pair++) {
		struct svg_panel_axes *axes = &plot->axes[pair];
		bool is_interval = plot->mark == SVG_PANEL_INTERVALS;

		axes->x.from = is_interval ? 16 : LEFT;
		axes->x.to = SVG_PANEL_WIDTH - RIGHT;
		axes->y.from = is_interval ? top : top + tall(plot);
		axes->y.to = is_interval ? top + tall(plot) : top;
	}
	fprintf(out,
		"<div><svg role=\"img\" data-mark=\"%s\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
		"font-family=\"sans-serif\" font-size=\"11\" fill=\"currentColor\">\n<title>",
		marks[plot->mark], SVG_PANEL_WIDTH, height, SVG_PANEL_WIDTH, height);
	html_text(out, plot->title);
	fputs("</title>\n", out);
	describe(out, plot);
	fprintf(out, "<text x=\"4\" y=\"%d\" font-size=\"12\" font-weight=\"bold\">", TITLE - 3);
	html_start(out, plot->title, TITLE_LETTERS);
	fputs("</text>\n", out);
	if (has_legend(plot))
		print_legend(out, plot);
	print_axes(out, plot);
	for (size_t pair = 0; plot->level && pair < plot->n_axes; pair++)
		print_level(out, plot, pair);
	for (size_t i = 0; i < plot->n_series; i++)
		print_series(out, plot, &plot->series[i]);
	fputs("</svg></div>\n", out);
}
