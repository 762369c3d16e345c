/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/heatmap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/fleet/page/packed.h"
#include "reports/page/html.h"

/* Pixels. */
enum {
	WIDE = 960, /* of a map, where cells are not at their limits */
	CELL_MOST = 22,
	CELL_LEAST = 2,
	LABEL = 12, /* height of a label */
	LETTER = 7,
	BESIDE = 14, /* between label and map */
	MARKED = 5,  /* smallest cell with a mark in it */
};

#define LETTERS 20 /* of a label; the rest is cut off */

/*
 * The looks of cells, which differ in brightness for color-blind readers. Apart from the failed
 * ones, which must differ from the background, they are the same in light and dark. Bad cells have
 * a mark.
 */
static const struct {
	const char *title;
	const char *fill;
	const char *mark;
	float least; /* share of the median */
} looks[] = {
	{"failed",                  "currentColor", "Canvas",  0    },
	{"error counters rose",     "#7b3294",      "#ffffff", 0    },
	{"above 105 %",             "#4393c3",      "#000000", 1.05F},
	{"95..105 % of the median", "#a6d0e8",      "#000000", 0.95F},
	{"90..95 %",                "#fddbc7",      "#000000", 0.9F },
	{"75..90 %",                "#f4a582",      "#000000", 0.75F},
	{"50..75 %",                "#d6604d",      "#000000", 0.5F },
	{"below 50 %",              "#8b0a24",      "#ffffff", 0    },
};

enum {
	LOOK_FAILED,
	LOOK_COUNTERS,
	LOOK_SHARES,
	LOOK_MEDIAN
};

/* One map being drawn. */
struct drawing {
	FILE *out;
	const struct heatmap *heatmap;
	const struct fleet_matrix *matrix;
	const uint32_t *order;
	bool is_by_group;
	size_t n;
	int cell;
	int left; /* of the first cell; also its top */
	int right;
	/* By node: whether a culprit is named at the row, and at the column. */
	bool *rows;
	bool *columns;
};

static const struct fleet_cell *cell_at(const struct drawing *drawing, size_t row, size_t column)
{
	return fleet_matrix_cell(drawing->matrix, drawing->order[row], drawing->order[column]);
}

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

static const char *name_of(const struct drawing *drawing, size_t place)
{
	return drawing->matrix->fleet->nodes[drawing->order[place]].name;
}

static const char *group_of(const struct drawing *drawing, size_t place)
{
	return drawing->matrix->fleet->nodes[drawing->order[place]].group;
}

static void print_title(const struct drawing *drawing, size_t row, size_t column)
{
	const struct fleet *fleet = drawing->matrix->fleet;
	const struct fleet_cell *cell = cell_at(drawing, row, column);
	char value[FLEET_TEXT];
	char faults[80];
	FILE *out = drawing->out;

	fputs("<title>", out);
	html_text(out, name_of(drawing, row));
	fputs(" to ", out);
	html_text(out, name_of(drawing, column));
	fprintf(out, ": %s",
		fleet_value_text(value, &fleet->cases[drawing->matrix->view.number],
				 drawing->heatmap->unit, (double)cell->value));
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
static void print_run(const struct drawing *drawing, size_t row, size_t first, size_t last)
{
	bool has_title = drawing->heatmap->has_titles;
	int cell = drawing->cell;
	int wide = (int)(last - first) * cell;

	if (has_title)
		fputs("<path d=\"", drawing->out);
	fprintf(drawing->out, "M%d %dh%dv%dh-%dz", (int)first * cell, (int)row * cell, wide, cell,
		wide);
	if (!has_title)
		return;
	fputs("\">", drawing->out);
	print_title(drawing, row, first);
	fputs("</path>\n", drawing->out);
}

static void print_row(const struct drawing *drawing, size_t look, size_t row)
{
	for (size_t i = 0, end; i < drawing->n; i = end) {
		end = i + 1;
		if (look_of(cell_at(drawing, row, i)) != look)
			continue;
		while (end < drawing->n && !drawing->heatmap->has_titles &&
		       look_of(cell_at(drawing, row, end)) == look)
			end++;
		print_run(drawing, row, i, end);
	}
}

/* Marks bad cells of a look: failed ones with a cross, others with a dot. */
static void print_marks(const struct drawing *drawing, size_t look)
{
	int cell = drawing->cell;
	int arm = cell / 2 - 1;

	if (cell < MARKED)
		return;
	fprintf(drawing->out,
		"<path pointer-events=\"none\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\" "
		"stroke-linecap=\"round\" d=\"",
		looks[look].mark, look == LOOK_FAILED ? 1 + cell / 12 : cell / 3);
	for (size_t i = 0; i < drawing->n * drawing->n; i++) {
		size_t row = i / drawing->n;
		size_t column = i % drawing->n;
		const struct fleet_cell *at = cell_at(drawing, row, column);

		if (!at->faults || look_of(at) != look)
			continue;
		if (look == LOOK_FAILED)
			fprintf(drawing->out, "M%.1f %.1fl%d %dm0-%dl-%d %d",
				((double)column + 0.5) * cell - arm / 2.0,
				((double)row + 0.5) * cell - arm / 2.0, arm, arm, arm, arm, arm);
		else
			fprintf(drawing->out, "M%.1f %.1fh0", ((double)column + 0.5) * cell,
				((double)row + 0.5) * cell);
	}
	fputs("\"/>\n", drawing->out);
}

static void print_cells(const struct drawing *drawing)
{
	bool has_title = drawing->heatmap->has_titles;

	for (size_t look = 0; look < ARRAY_LENGTH(looks); look++) {
		fprintf(drawing->out, has_title ? "<g fill=\"%s\">\n" : "<path fill=\"%s\" d=\"",
			looks[look].fill);
		for (size_t row = 0; row < drawing->n; row++)
			print_row(drawing, look, row);
		fputs(has_title ? "</g>\n" : "\"/>\n", drawing->out);
	}
}

/* Separates the cells, if they are large enough, and frames the map. */
static void print_lines(const struct drawing *drawing)
{
	int end = (int)drawing->n * drawing->cell;

	if (drawing->cell >= MARKED) {
		fputs("<path pointer-events=\"none\" stroke=\"Canvas\" d=\"", drawing->out);
		for (int at = drawing->cell; at < end; at += drawing->cell)
			fprintf(drawing->out, "M%d 0V%dM0 %dH%d", at, end, at, end);
		fputs("\"/>\n", drawing->out);
	}
	fprintf(drawing->out,
		"<path pointer-events=\"none\" fill=\"none\" stroke=\"currentColor\" "
		"stroke-opacity=\"0.5\" d=\"M0 0h%dv%dh-%dz\"/>\n",
		end, end, end);
}

static bool is_in_view(const struct drawing *drawing, const struct fleet_blame *blame,
		       uint32_t node, uint8_t rail)
{
	if (node == blame->node && (blame->rail == FLEET_ALL_RAILS || blame->rail == rail))
		return true;
	return blame->culprit >= FLEET_CULPRIT_LINK && node == blame->peer &&
	       (blame->peer_rail == FLEET_ALL_RAILS || blame->peer_rail == rail);
}

/* Circles the cells of a bad link, which are easily overlooked. */
static void print_circles(const struct drawing *drawing)
{
	int radius = drawing->cell < 10 ? 8 : drawing->cell * 4 / 5;

	for (size_t i = 0; i < drawing->n * drawing->n; i++) {
		size_t row = i / drawing->n;
		size_t column = i % drawing->n;
		const struct fleet *fleet = drawing->matrix->fleet;
		uint32_t from = drawing->order[row];
		uint32_t to = drawing->order[column];

		if (!cell_at(drawing, row, column)->faults)
			continue;
		for (size_t j = 0; j < fleet->n_blames; j++) {
			const struct fleet_blame *blame = &fleet->blames[j];

			if (blame->culprit < FLEET_CULPRIT_LINK || from == to ||
			    !is_in_view(drawing, blame, from, drawing->matrix->view.from_rail) ||
			    !is_in_view(drawing, blame, to, drawing->matrix->view.to_rail))
				continue;
			fprintf(drawing->out,
				"<circle pointer-events=\"none\" fill=\"none\" stroke=\"#000000\" "
				"stroke-width=\"2\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>\n",
				((double)column + 0.5) * drawing->cell,
				((double)row + 0.5) * drawing->cell, radius);
			break;
		}
	}
}

static void print_label(const struct drawing *drawing, int side, double at, double center,
			const char *name, bool is_culprit)
{
	if (is_culprit)
		fprintf(drawing->out,
			"<path fill=\"#d55e00\" d=\"M%d %.1fl%d -4v8z\"/>"
			"<path stroke=\"currentColor\" d=\"M%d %.1fL%d %.1f\"/>",
			2 * side, center, 8 * side, 10 * side, center, 14 * side, at);
	fprintf(drawing->out, "<text x=\"%d\" y=\"%.1f\"%s>", (is_culprit ? 16 : 6) * side, at + 4,
		is_culprit ? " font-weight=\"bold\"" : "");
	for (size_t i = 0; name[i] && i < LETTERS; i++)
		html_text(drawing->out, (char[]){name[i], '\0'});
	fputs(strlen(name) > LETTERS ? "\xe2\x80\xa6</text>\n" : "</text>\n", drawing->out);
}

/*
 * Names the culprits along an axis, and as many other nodes as have room. Names of adjacent
 * culprits are moved apart. side: -1 left of the axis, 1 right of it.
 */
static void print_labels(const struct drawing *drawing, const bool *culprits, int side)
{
	double free_from = -LABEL;

	for (size_t i = 0; i < drawing->n; i++) {
		double center = ((double)i + 0.5) * drawing->cell;
		double at = fmax(center, free_from);
		bool is_culprit = culprits[drawing->order[i]];
		bool has_room = center >= free_from + (drawing->cell < LABEL - 1 ? 2 * LABEL : 0);

		/* Keep room for culprits that follow. */
		for (size_t j = i + 1; j < drawing->n && !is_culprit; j++) {
			if ((double)(j - i) * drawing->cell >= LABEL)
				break;
			has_room = has_room && !culprits[drawing->order[j]];
		}
		if (!is_culprit && !has_room)
			continue;
		print_label(drawing, side, at, center, name_of(drawing, i), is_culprit);
		free_from = at + (drawing->cell < LABEL - 1 ? LABEL : drawing->cell);
	}
}

/* Separates the groups and names them at the right and the bottom. */
static void print_groups(const struct drawing *drawing)
{
	int cell = drawing->cell;
	int end = (int)drawing->n * cell;

	for (size_t i = 0, next; i < drawing->n; i = next) {
		const char *group = group_of(drawing, i);
		double middle;

		for (next = i + 1; next < drawing->n && !strcmp(group_of(drawing, next), group);)
			next++;
		middle = (double)(i + next) * cell / 2;
		fprintf(drawing->out,
			"<path pointer-events=\"none\" stroke=\"#ffffff\" stroke-width=\"1.5\" "
			"d=\"M%d 0V%dM0 %dH%d\"/>\n",
			(int)i * cell, end, (int)i * cell, end);
		if ((int)(next - i) * cell < LABEL)
			continue;
		fprintf(drawing->out, "<text x=\"%d\" y=\"%.1f\">", end + 6, middle + 4);
		html_text(drawing->out, group);
		fprintf(drawing->out, "</text>\n<text transform=\"translate(%.1f %d) rotate(90)\">",
			middle - 4, end + 6);
		html_text(drawing->out, group);
		fputs("</text>\n", drawing->out);
	}
}

static int room_for(size_t letters)
{
	return (int)(letters < LETTERS ? letters : LETTERS + 1) * LETTER;
}

static void place(struct drawing *drawing)
{
	size_t name = 0;
	size_t group = 0;
	int fitting = drawing->n ? WIDE / (int)drawing->n : 0;

	for (size_t i = 0; i < drawing->n; i++) {
		name = max_u64(name, strlen(name_of(drawing, i)));
		group = max_u64(group, strlen(group_of(drawing, i)));
	}
	drawing->cell = fitting > CELL_MOST ? CELL_MOST : fitting;
	if (drawing->cell < CELL_LEAST)
		drawing->cell = CELL_LEAST;
	drawing->left = room_for(name) + 2 * BESIDE;
	drawing->right = drawing->is_by_group ? room_for(group) + BESIDE : 4;
}

static void find_culprits(struct drawing *drawing)
{
	const struct fleet *fleet = drawing->matrix->fleet;
	const struct fleet_view *view = &drawing->matrix->view;

	for (size_t i = 0; i < fleet->n_blames; i++)
		for (uint32_t node = 0; node < fleet->n_nodes; node++) {
			const struct fleet_blame *blame = &fleet->blames[i];

			drawing->rows[node] |= is_in_view(drawing, blame, node, view->from_rail);
			drawing->columns[node] |= is_in_view(drawing, blame, node, view->to_rail);
		}
}

static void print_order(const struct drawing *drawing)
{
	fputs(" data-order=\"", drawing->out);
	for (size_t i = 0; i < drawing->n; i++)
		fprintf(drawing->out, "%s%u", i ? " " : "", drawing->order[i]);
	fputs("\"", drawing->out);
}

/*
 * The height limits the scale, so that the map is never enlarged but shrinks on a narrow screen.
 */
static void print_map(struct drawing *drawing)
{
	FILE *out = drawing->out;
	int size;

	place(drawing);
	find_culprits(drawing);
	size = drawing->left + (int)drawing->n * drawing->cell + drawing->right;
	fprintf(out,
		"<svg width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"preserveAspectRatio=\"xMinYMin\" role=\"img\" font-family=\"sans-serif\" "
		"font-size=\"12\" fill=\"currentColor\" data-by=\"%s\"%s data-left=\"%d\" "
		"data-cell=\"%d\"",
		size, size, size, drawing->is_by_group ? "group" : "node",
		drawing->is_by_group ? " display=\"none\"" : "", drawing->left, drawing->cell);
	print_order(drawing);
	fprintf(out,
		"><title>Heat map: rows send, columns receive</title>\n"
		"<g transform=\"translate(%d %d)\">\n<g shape-rendering=\"crispEdges\">\n",
		drawing->left, drawing->left);
	print_cells(drawing);
	print_lines(drawing);
	fputs("</g>\n", out);
	for (size_t look = 0; look < ARRAY_LENGTH(looks); look++)
		print_marks(drawing, look);
	print_circles(drawing);
	if (drawing->is_by_group)
		print_groups(drawing);
	fputs("<g text-anchor=\"end\">\n", out);
	print_labels(drawing, drawing->rows, -1);
	fputs("</g>\n<g transform=\"rotate(-90)\">\n", out);
	print_labels(drawing, drawing->columns, 1);
	fputs("</g>\n</g>\n</svg>\n", out);
}

static int print_ordered(FILE *out, const struct heatmap *heatmap,
			 const struct fleet_matrix *matrix, bool is_by_group, struct error *error)
{
	size_t n = matrix->fleet->n_nodes;
	struct drawing drawing = {
		.out = out,
		.heatmap = heatmap,
		.matrix = matrix,
		.order = is_by_group ? heatmap->by_group : heatmap->by_node,
		.is_by_group = is_by_group,
		.n = n,
		.rows = calloc(2 * n + 1, sizeof(bool)),
	};

	if (!drawing.rows)
		return error_set_errno(error, -ENOMEM, "cannot draw the heat map");
	drawing.columns = drawing.rows + n;
	print_map(&drawing);
	free(drawing.rows);
	return 0;
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

void heatmap_print_legend(FILE *out)
{
	fprintf(out, "<svg width=\"100%%\" height=\"40\" viewBox=\"0 0 640 40\" "
		     "preserveAspectRatio=\"xMinYMin\" role=\"img\" font-family=\"sans-serif\" "
		     "font-size=\"12\" fill=\"currentColor\"><title>Colors: share of the median"
		     "</title>\n");
	for (size_t i = 0; i < ARRAY_LENGTH(looks); i++) {
		size_t x = 160 * (i % 4);
		size_t y = 20 * (i / 4);

		fprintf(out,
			"<rect x=\"%zu\" y=\"%zu\" width=\"14\" height=\"14\" fill=\"%s\"/>"
			"<path d=\"M%zu %zu%s\" stroke=\"%s\" stroke-width=\"%d\" "
			"stroke-linecap=\"round\"/><text x=\"%zu\" y=\"%zu\">%s</text>\n",
			x, y, looks[i].fill, x + 7, y + 7,
			i == LOOK_FAILED ? "m-4 -4l8 8m0 -8l-8 8" : "h0", looks[i].mark,
			i == LOOK_FAILED ? 2 : 5, x + 20, y + 12, looks[i].title);
	}
	fputs("</svg>\n", out);
}
