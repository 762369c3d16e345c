/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/heatmap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/export/xml.h"
#include "reports/fleet/page/culprits.h"
#include "reports/fleet/page/packed.h"
#include "reports/page/html.h"

/* Pixels. */
enum {
	WIDE = 720,      /* of a map, where cells are not at their limits: fits on a screen */
	WIDE_MOST = 960, /* if cells would be less than SMALL */
	CELL_MOST = 22,
	CELL_SMALL = 5, /* smallest cell with a mark in it */
	CELL_LEAST = 2,
};

/*
 * The looks of cells. The further a figure is below the median, the more its cell differs from the
 * background, in light and dark; cells near the median are faint. Bad cells also have a mark. The
 * first color is for browsers that do not know light-dark().
 */
static const struct {
	const char *title;
	const char *plain;
	const char *fill;
	const char *mark;
	float opacity;
	float least; /* share of the median */
} looks[] = {
	{"failed",                  "currentColor", "currentColor",                 "Canvas",       1,     0    },
	{"error counters rose",     "#7b3294",      "light-dark(#7b3294, #c792e0)", "Canvas",       1,     0    },
	{"above 105 %",             "#9ecae1",      "light-dark(#9ecae1, #2f5f7f)", "currentColor", 1,     1.05F},
	{"95..105 % of the median", "currentColor", "currentColor",                 "currentColor", 0.14F, 0.95F},
	{"90..95 %",                "#fbdcae",      "light-dark(#fbdcae, #5d4826)", "currentColor", 1,     0.9F },
	{"75..90 %",                "#f2a03d",      "light-dark(#f2a03d, #a1681f)", "currentColor", 1,     0.75F},
	{"50..75 %",                "#d6431c",      "light-dark(#d6431c, #f0783c)", "Canvas",       1,     0.5F },
	{"below 50 %",              "#8b0a24",      "light-dark(#8b0a24, #ffb4a0)", "Canvas",       1,     0    },
};

enum {
	LOOK_FAILED,
	LOOK_COUNTERS,
	LOOK_SHARES,
	LOOK_MEDIAN
};

/* Returns the look of a cell; ARRAY_LENGTH(looks): it is empty. */
static size_t look_of(const struct fleet_cell *cell)
{
	size_t look = LOOK_SHARES;

	if (!cell->is_set)
		return ARRAY_LENGTH(looks);
	if (cell->faults & FLEET_FAULT_FAILED)
		return LOOK_FAILED;
	if (cell->faults == FLEET_FAULT_COUNTERS)
		return LOOK_COUNTERS;
	if (isnan(cell->share))
		return LOOK_MEDIAN;
	while (cell->share < looks[look].least)
		look++;
	return look;
}

static void print_title(const struct canvas *canvas, size_t row, size_t column)
{
	const struct fleet *fleet = canvas->matrix->fleet;
	const struct fleet_cell *cell = canvas_cell(canvas, row, column);
	char value[FLEET_TEXT];
	char faults[80];
	FILE *out = canvas->out;

	fputs("<title>", out);
	html_text(out, canvas_node(canvas, row)->name);
	fputs(" to ", out);
	html_text(out, canvas_node(canvas, column)->name);
	fprintf(out, ": %s",
		fleet_value_text(value, &fleet->cases[canvas->matrix->view.number], canvas->unit,
				 (double)cell->value));
	if (!isnan(cell->share))
		fprintf(out, ", %.1f %% of the median", 100 * (double)cell->share);
	if (cell->faults)
		fprintf(out, ", %s", fleet_faults_text(cell->faults, faults, sizeof(faults)));
	if (fleet->pairs[cell->pair].error)
		fputs(": ", out);
	html_text(out, fleet->pairs[cell->pair].error ? fleet->pairs[cell->pair].error : "");
	fputs("</title>", out);
}

/* Prints the cells of a row from first to before last, which look the same. */
static void print_run(const struct canvas *canvas, size_t row, size_t first, size_t last)
{
	bool has_title = canvas->has_titles;
	int cell = canvas->cell;
	int wide = (int)(last - first) * cell;

	if (has_title)
		fputs("<path d=\"", canvas->out);
	fprintf(canvas->out, "M%d %dh%dv%dh-%dz", (int)first * cell, (int)row * cell, wide, cell,
		wide);
	if (!has_title)
		return;
	fputs("\">", canvas->out);
	print_title(canvas, row, first);
	fputs("</path>\n", canvas->out);
}

static void print_row(const struct canvas *canvas, size_t look, size_t row)
{
	for (size_t i = 0, end; i < canvas->n; i = end) {
		end = i + 1;
		if (look_of(canvas_cell(canvas, row, i)) != look)
			continue;
		while (end < canvas->n && !canvas->has_titles &&
		       look_of(canvas_cell(canvas, row, end)) == look)
			end++;
		print_run(canvas, row, i, end);
	}
}

/* Marks bad cells of a look: failed ones with a cross, others with a dot. */
static void print_marks(const struct canvas *canvas, size_t look)
{
	int cell = canvas->cell;
	int arm = cell / 2 - 1;

	if (cell < CELL_SMALL)
		return;
	fprintf(canvas->out,
		"<path pointer-events=\"none\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" "
		"stroke-linecap=\"round\" d=\"",
		looks[look].mark, look == LOOK_FAILED ? 1 + cell / 12 : cell / 3);
	for (size_t i = 0; i < canvas->n * canvas->n; i++) {
		size_t row = i / canvas->n;
		size_t column = i % canvas->n;
		const struct fleet_cell *at = canvas_cell(canvas, row, column);

		if (!at->faults || look_of(at) != look)
			continue;
		if (look == LOOK_FAILED)
			fprintf(canvas->out, "M%.1f %.1fl%d %dm0-%dl-%d %d",
				((double)column + 0.5) * cell - arm / 2.0,
				((double)row + 0.5) * cell - arm / 2.0, arm, arm, arm, arm, arm);
		else
			fprintf(canvas->out, "M%.1f %.1fh0", ((double)column + 0.5) * cell,
				((double)row + 0.5) * cell);
	}
	fputs("\"/>\n", canvas->out);
}

static void print_cells(const struct canvas *canvas)
{
	bool has_title = canvas->has_titles;

	for (size_t look = 0; look < ARRAY_LENGTH(looks); look++) {
		fprintf(canvas->out, "<g fill=\"%s\"><g fill=\"%s\" fill-opacity=\"%.2g\">\n%s",
			looks[look].plain, looks[look].fill, (double)looks[look].opacity,
			has_title ? "" : "<path d=\"");
		for (size_t row = 0; row < canvas->n; row++)
			print_row(canvas, look, row);
		fputs(has_title ? "</g></g>\n" : "\"/></g></g>\n", canvas->out);
	}
}

/* Separates the cells, if they are large enough, and frames the map. */
static void print_lines(const struct canvas *canvas)
{
	int end = (int)canvas->n * canvas->cell;

	if (canvas->cell >= CELL_SMALL) {
		fputs("<path pointer-events=\"none\" stroke=\"Canvas\" d=\"", canvas->out);
		for (int at = canvas->cell; at < end; at += canvas->cell)
			fprintf(canvas->out, "M%d 0V%dM0 %dH%d", at, end, at, end);
		fputs("\"/>\n", canvas->out);
	}
	fprintf(canvas->out,
		"<path pointer-events=\"none\" fill=\"none\" stroke=\"currentColor\" "
		"stroke-opacity=\"0.5\" d=\"M0 0h%dv%dh-%dz\"/>\n",
		end, end, end);
}

/* Separates the groups and names them at the right and the bottom. */
static void print_groups(const struct canvas *canvas)
{
	int cell = canvas->cell;
	int end = (int)canvas->n * cell;

	for (size_t i = 0, next; i < canvas->n; i = next) {
		const char *group = canvas_node(canvas, i)->group;
		double middle;

		for (next = i + 1;
		     next < canvas->n && !strcmp(canvas_node(canvas, next)->group, group);)
			next++;
		middle = (double)(i + next) * cell / 2;
		fprintf(canvas->out,
			"<path pointer-events=\"none\" stroke=\"currentColor\" "
			"stroke-opacity=\"0.6\" d=\"M%d 0V%dM0 %dH%d\"/>\n",
			(int)i * cell, end, (int)i * cell, end);
		if ((int)(next - i) * cell < CANVAS_SMALL)
			continue;
		fprintf(canvas->out, "<text x=\"%d\" y=\"%.1f\">", end + 6, middle + 4);
		html_start(canvas->out, group, CANVAS_LETTERS);
		fprintf(canvas->out, "</text>\n<text transform=\"translate(%.1f %d) rotate(90)\">",
			middle - 4, end + 6);
		html_start(canvas->out, group, CANVAS_LETTERS);
		fputs("</text>\n", canvas->out);
	}
}

static int choose_cell(size_t n)
{
	int fitting = n ? WIDE / (int)n : 0;

	if (fitting < CELL_SMALL)
		fitting = n ? WIDE_MOST / (int)n : 0;
	return fitting > CELL_MOST ? CELL_MOST : fitting < CELL_LEAST ? CELL_LEAST : fitting;
}

static int group_room(const struct canvas *canvas)
{
	size_t letters = 0;

	for (size_t i = 0; i < canvas->n; i++)
		letters = max_u64(letters, strlen(canvas_node(canvas, i)->group));
	return (int)min_u64(letters, CANVAS_LETTERS + 1) * CANVAS_LETTER + CANVAS_BESIDE;
}

static void print_order(const struct canvas *canvas)
{
	fputs(" data-order=\"", canvas->out);
	for (size_t i = 0; i < canvas->n; i++)
		fprintf(canvas->out, "%s%u", i ? " " : "", canvas->order[i]);
	fputs("\"", canvas->out);
}

/*
 * The height limits the scale, so that the map is never enlarged but shrinks on a narrow screen.
 */
static void print_head(const struct canvas *canvas, int left, int size, bool is_by_group)
{
	char text[FLEET_VIEW_TEXT];

	fprintf(canvas->out,
		"<svg width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"xMinYMin\" role=\"img\" font-family=\"sans-serif\" "
		"font-size=\"%d\" fill=\"currentColor\" data-by=\"%s\"%s data-left=\"%d\" "
		"data-cell=\"%d\"",
		size, size, size, CANVAS_SMALL, is_by_group ? "group" : "node",
		is_by_group ? " display=\"none\"" : "", left, canvas->cell);
	print_order(canvas);
	fleet_view_text(text, canvas->matrix->fleet, &canvas->matrix->view);
	xml_attribute(canvas->out, "aria-label", text);
	fputs(">\n", canvas->out);
}

static void print_map(struct canvas *canvas, bool is_by_group)
{
	FILE *out = canvas->out;
	int wide = (int)canvas->n * canvas->cell;
	int left;
	int size;

	/* Large maps shrink more on small screens. */
	canvas->large = wide > WIDE ? 28 : 20;
	culprits_find(canvas);
	left = culprits_room(canvas);
	/* Leaves room for a large name at the last node. */
	size = left + wide + (is_by_group ? group_room(canvas) : canvas->large / 2 + 6);
	print_head(canvas, left, size, is_by_group);
	fprintf(out, "<g transform=\"translate(%d %d)\">\n<g shape-rendering=\"crispEdges\">\n",
		left, left);
	print_cells(canvas);
	print_lines(canvas);
	fputs("</g>\n", out);
	for (size_t look = 0; look < ARRAY_LENGTH(looks); look++)
		print_marks(canvas, look);
	if (is_by_group)
		print_groups(canvas);
	culprits_print_marks(canvas);
	culprits_print_names(canvas);
	fputs("</g>\n</svg>\n", out);
}

static int print_ordered(FILE *out, const struct heatmap *heatmap,
			 const struct fleet_matrix *matrix, bool is_by_group, struct error *error)
{
	size_t n = matrix->fleet->n_nodes;
	struct canvas canvas = {
		.out = out,
		.unit = heatmap->unit,
		.has_titles = heatmap->has_titles,
		.matrix = matrix,
		.order = is_by_group ? heatmap->by_group : heatmap->by_node,
		.places = calloc(n + 1, sizeof(*canvas.places)),
		.n = n,
		.cell = choose_cell(n),
		.rows = calloc(2 * n + 1, sizeof(uint8_t)),
	};
	int code = 0;

	if (canvas.places && canvas.rows) {
		canvas.columns = canvas.rows + n;
		for (size_t i = 0; i < n; i++)
			canvas.places[canvas.order[i]] = (uint32_t)i;
		print_map(&canvas, is_by_group);
	} else {
		code = error_set_errno(error, -ENOMEM, "cannot draw the heat map");
	}
	free(canvas.places);
	free(canvas.rows);
	return code;
}

int heatmap_print(FILE *out, const struct heatmap *heatmap, const struct fleet_matrix *matrix,
		  struct error *error)
{
	int code;

	fputs("<div data-heatmap", out);
	code = fleet_pack(out, heatmap->unit, matrix, error);
	fputs(">\n", out);
	if (!code)
		code = print_ordered(out, heatmap, matrix, false, error);
	if (!code && heatmap->by_group)
		code = print_ordered(out, heatmap, matrix, true, error);
	fputs("</div>\n", out);
	return code;
}

static void print_swatch(FILE *out, size_t look)
{
	fprintf(out,
		"<span><svg width=\"16\" height=\"16\" viewBox=\"0 0 16 16\" aria-hidden=\"true\">"
		"<g fill=\"%s\"><path fill=\"%s\" fill-opacity=\"%.2g\" d=\"M0 1h15v15h-15z\"/></g>",
		looks[look].plain, looks[look].fill, (double)looks[look].opacity);
	if (look == LOOK_FAILED)
		fprintf(out,
			"<path d=\"M3.5 4.5l8 8m0 -8l-8 8\" stroke=\"%s\" stroke-width=\"2\"/>",
			looks[look].mark);
	fprintf(out, "</svg> %s</span>\n", looks[look].title);
}

void heatmap_print_legend(FILE *out)
{
	fputs("<p data-legend>\n", out);
	print_swatch(out, LOOK_FAILED);
	for (size_t look = ARRAY_LENGTH(looks); look-- > LOOK_SHARES;)
		print_swatch(out, look);
	print_swatch(out, LOOK_COUNTERS);
	fputs("</p>\n", out);
}
