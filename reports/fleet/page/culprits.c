/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/culprits.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/page/html.h"

/* White text on it is readable. */
#define RED "#c8102e"
/* A line that is visible on cells of all colors. */
#define LINES                                                                            \
	"pointer-events=\"none\" fill=\"none\" stroke-linejoin=\"round\" stroke=\"%s\" " \
	"stroke-width=\"%d\""

/* Between an outline and its cells, in pixels, as outlines must not cover cells. */
#define GAP 3

/* Names of culprits along an axis. */
struct names {
	struct {
		size_t place;
		double at;
	} list[CULPRITS_MOST];
	size_t count;
};

static const struct fleet_blame *blame_at(const struct canvas *canvas, size_t number)
{
	const struct fleet *fleet = canvas->matrix->fleet;

	return number < fleet->n_blames && number < CULPRITS_MOST ? &fleet->blames[number] : NULL;
}

static bool is_link(const struct fleet_blame *blame)
{
	return blame->culprit == FLEET_CULPRIT_LINK || blame->culprit == FLEET_CULPRIT_PAIR;
}

static bool has_rail(uint8_t blamed, uint8_t rail)
{
	return blamed == FLEET_ALL_RAILS || blamed == rail;
}

/* Marks the row and the column of a node if the view has the rail. */
static void mark(struct canvas *canvas, uint32_t node, uint8_t rail, enum canvas_mark mark)
{
	const struct fleet_view *view = &canvas->matrix->view;
	uint32_t place = canvas->places[node];

	if (has_rail(rail, view->from_rail))
		canvas->rows[place] |= mark;
	if (has_rail(rail, view->to_rail))
		canvas->columns[place] |= mark;
}

void culprits_find(struct canvas *canvas)
{
	const struct fleet_blame *blame;

	for (size_t i = 0; (blame = blame_at(canvas, i)); i++) {
		mark(canvas, blame->node, blame->rail, is_link(blame) ? CANVAS_LINK : CANVAS_BAD);
		if (is_link(blame))
			mark(canvas, blame->peer, blame->peer_rail, CANVAS_LINK);
	}
}

int culprits_room(const struct canvas *canvas)
{
	size_t small = 0;
	size_t large = 0;

	for (size_t i = 0; i < canvas->n; i++) {
		size_t letters = min_u64(strlen(canvas_node(canvas, i)->name), CANVAS_LETTERS + 1);

		small = max_u64(small, letters);
		if (canvas->rows[i] || canvas->columns[i])
			large = max_u64(large, letters);
	}
	/* Bold letters are two thirds as wide as they are high. */
	return (int)max_u64(small * CANVAS_LETTER, large * (size_t)canvas->large * 2 / 3) +
	       2 * CANVAS_BESIDE;
}

/* Prints rectangles around adjacent bad rows. */
static void outline_axis(const struct canvas *canvas, const uint8_t *marks)
{
	int end = (int)canvas->n * canvas->cell + 2 * GAP;

	for (size_t i = 0, next; i < canvas->n; i = next) {
		int wide;

		for (next = i; next < canvas->n && marks[next] & CANVAS_BAD;)
			next++;
		wide = (int)(next - i) * canvas->cell + 2 * GAP;
		if (next > i)
			fprintf(canvas->out, "M%d %dh%dv%dh-%dz", -GAP, (int)i * canvas->cell - GAP,
				end, wide, end);
		else
			next++;
	}
}

static void outline(const struct canvas *canvas, const char *color, int width)
{
	fprintf(canvas->out, "<path " LINES " d=\"", color, width);
	outline_axis(canvas, canvas->rows);
	/* Exchanges x and y. */
	fprintf(canvas->out, "\"/>\n<path transform=\"matrix(0 1 1 0 0 0)\" " LINES " d=\"", color,
		width);
	outline_axis(canvas, canvas->columns);
	fputs("\"/>\n", canvas->out);
}

/* Circles the bad cells of a link, which are easily overlooked, and leads there from both axes. */
static void circle(const struct canvas *canvas, uint32_t from, uint32_t to, const char *color,
		   int width)
{
	size_t row = canvas->places[from];
	size_t column = canvas->places[to];
	double x = ((double)column + 0.5) * canvas->cell;
	double y = ((double)row + 0.5) * canvas->cell;
	int radius = canvas->cell < 10 ? 9 : canvas->cell;

	if (from == to || !canvas_cell(canvas, row, column)->faults)
		return;
	fprintf(canvas->out, "<circle " LINES " cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>", color, width,
		x, y, radius);
	fprintf(canvas->out, "<path " LINES " d=\"M0 %.1fH%.1fM%.1f 0V%.1f\"/>\n", color, width / 2,
		y, x - radius, x, y - radius);
}

static void circle_links(const struct canvas *canvas, const char *color, int width)
{
	const struct fleet_view *view = &canvas->matrix->view;
	const struct fleet_blame *blame;

	for (size_t i = 0; (blame = blame_at(canvas, i)); i++) {
		if (!is_link(blame))
			continue;
		if (has_rail(blame->rail, view->from_rail) &&
		    has_rail(blame->peer_rail, view->to_rail))
			circle(canvas, blame->node, blame->peer, color, width);
		if (has_rail(blame->peer_rail, view->from_rail) &&
		    has_rail(blame->rail, view->to_rail))
			circle(canvas, blame->peer, blame->node, color, width);
	}
}

void culprits_print_marks(const struct canvas *canvas)
{
	outline(canvas, "Canvas", 5);
	outline(canvas, "currentColor", 2);
	circle_links(canvas, "Canvas", 6);
	circle_links(canvas, "currentColor", 2);
}

/* Moves the names of adjacent culprits apart; drops those that do not fit. */
static void arrange(const struct canvas *canvas, const uint8_t *culprits, struct names *names)
{
	double apart = canvas->large + 8;
	double end = (double)canvas->n * canvas->cell;
	double least = canvas->cell / 2.0;

	names->count = 0;
	for (size_t i = 0; i < canvas->n; i++) {
		double at = fmax(((double)i + 0.5) * canvas->cell, least);

		if (!culprits[i] || names->count == ARRAY_LENGTH(names->list) ||
		    (double)(names->count + 1) * apart > fmax(end, apart))
			continue;
		names->list[names->count].place = i;
		names->list[names->count++].at = at;
		least = at + apart;
	}
	for (size_t i = names->count; i-- > 0; end -= apart)
		names->list[i].at = fmin(names->list[i].at, end);
}

static void print_culprit(const struct canvas *canvas, size_t place, double at, int side)
{
	double center = ((double)place + 0.5) * canvas->cell;

	fprintf(canvas->out, "<path " LINES " d=\"M%d %.1fL%d %.1f\"/>", RED, 2, 2 * side, center,
		CANVAS_BESIDE * side, at);
	fprintf(canvas->out,
		"<text x=\"%d\" y=\"%.1f\" font-size=\"%d\" font-weight=\"bold\" fill=\"#ffffff\" "
		"stroke=\"" RED "\" stroke-width=\"10\" stroke-linejoin=\"round\" "
		"paint-order=\"stroke\">",
		(CANVAS_BESIDE + 4) * side, at + canvas->large * 0.35, canvas->large);
	html_start(canvas->out, canvas_node(canvas, place)->name, CANVAS_LETTERS);
	fputs("</text>\n", canvas->out);
}

/* Returns whether the name of a culprit leaves no room for another name. */
static bool is_covered(const struct canvas *canvas, const struct names *names, double at)
{
	for (size_t i = 0; i < names->count; i++)
		if (fabs(names->list[i].at - at) < (canvas->large + CANVAS_SMALL) / 2.0 + 4)
			return true;
	return false;
}

/* side: -1 left of the axis, 1 right of it. */
static void print_axis(const struct canvas *canvas, const uint8_t *culprits, int side)
{
	bool is_dense = canvas->cell < CANVAS_SMALL - 1;
	double next = 0;
	struct names names;

	arrange(canvas, culprits, &names);
	fputs("<g data-names>\n", canvas->out);
	for (size_t i = 0; i < canvas->n; i++) {
		double center = ((double)i + 0.5) * canvas->cell;

		if (culprits[i] || center < next || is_covered(canvas, &names, center))
			continue;
		fprintf(canvas->out, "<text x=\"%d\" y=\"%.1f\">", 6 * side, center + 4);
		html_start(canvas->out, canvas_node(canvas, i)->name, CANVAS_LETTERS);
		fputs("</text>\n", canvas->out);
		next = center + (is_dense ? 3 * CANVAS_SMALL : 0);
	}
	fputs("</g>\n", canvas->out);
	for (size_t i = 0; i < names.count; i++)
		print_culprit(canvas, names.list[i].place, names.list[i].at, side);
}

void culprits_print_names(const struct canvas *canvas)
{
	fputs("<g text-anchor=\"end\">\n", canvas->out);
	print_axis(canvas, canvas->rows, -1);
	fputs("</g>\n<g transform=\"rotate(-90)\">\n", canvas->out);
	print_axis(canvas, canvas->columns, 1);
	fputs("</g>\n", canvas->out);
}
