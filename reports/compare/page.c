/* SPDX-License-Identifier: MIT */
#include "reports/compare/page.h"

#include "reports/compare/cells.h"
#include "reports/compare/sentences.h"
#include "reports/page/chart.h"
#include "reports/page/host_facts.h"
#include "reports/page/html.h"
#include "reports/page/table.h"

/* Limits that keep a page below 2 MB. */
#define DRAWN_MOST 24   /* points of a panel */
#define LINES_MOST 1000 /* table rows */

#define TITLE "NEW against BASE"

/* List items; the first one also prints the title. */
struct value_list {
	FILE *out;
	const char *title;
	size_t count;
};

static void say(void *owner, const char *text)
{
	struct value_list *list = owner;

	if (!list->count++) {
		if (list->title)
			html_element(list->out, "h3", list->title);
		fputs("<ul>\n", list->out);
	}
	html_element(list->out, "li", text);
}

static void end_list(const struct value_list *list)
{
	if (list->count)
		fputs("</ul>\n", list->out);
}

static void print_list(FILE *out, const char *title, const struct comparison *comparison,
		       void (*tell)(const struct comparison *comparison, said *say, void *owner))
{
	struct value_list list = {out, title, 0};

	tell(comparison, say, &list);
	end_list(&list);
}

static void print_bold(FILE *out, const char *text)
{
	fputs("<p><b>", out);
	html_text(out, text);
	fputs("</b></p>\n", out);
}

static bool has_difference(const struct compare_cell *cell)
{
	return cell->judged.verdict == VERDICT_WORSE || cell->judged.verdict == VERDICT_BETTER;
}

/* Figures that differ are drawn first, so that they always have room. */
static bool is_in_turn(const struct compare_cell *cell, bool is_second)
{
	return has_difference(cell) != is_second;
}

static const char *const tables[] = {
	[CELLS_LATENCY] = "Latency",
	[CELLS_BANDWIDTH] = "Bandwidth",
	[CELLS_LOAD] = "Load",
};

/* Rows used in each panel. */
struct rows {
	size_t of[CELLS_LOAD + 1][COMPARE_FIGURES];
};

static size_t number_of(const struct compared_figure *figure)
{
	size_t number = 0;

	while (compare_figure(number) != figure)
		number++;
	return number;
}

static void add_point(struct chart *chart, const struct compare_cell *cell, struct rows *rows)
{
	/* In the order of compare_figure. */
	static const char *const names[COMPARE_FIGURES] = {
		"p50", "p99", "mean", "bandwidth", "message rate", "client's CPU", "server's CPU",
	};
	enum cells_table table = compare_cells_table(cell);
	const struct ratio *ratio = &cell->ratio;
	size_t number = number_of(cell->figure);
	size_t *row = &rows->of[table][number];
	const struct svg_panel_point point = {
		.x = ratio->ratio,
		.y = (double)(*row + 1),
		.low = ratio->low,
		.high = ratio->high,
		.id = cell->line->id,
	};
	size_t before = chart->n_points;
	char panel[SVG_PANEL_TITLE];

	if (*row == DRAWN_MOST) {
		chart->left_out++;
		return;
	}

	snprintf(panel, sizeof(panel), "%s: %s, %s is better", tables[table], names[number],
		 cell->figure->more_is_good ? "more" : "less");
	chart_add(chart, panel, verdict_name(cell->judged.verdict), &point);
	*row += chart->n_points - before;
}

static void print_figure(FILE *out, const struct comparison *comparison)
{
	struct chart chart = {
		.title = "NEW / BASE",
		.says = "One ratio per case, with its 95 % interval if repeated runs show the "
			"spread. The dotted line marks no difference.",
		.mark = SVG_PANEL_INTERVALS,
		.level = {1,   "no difference"},
		.is_told_elsewhere = true,
		.least = 1,
 /* In the order of looks: orange, green and gray are for these verdicts. */
		.looks = { "unclear", "worse", "better", "invalid", "", "same"},
		.n_looks = 6,
	};
	struct rows rows = {{{0}}};

	axis_open(&chart.x, AXIS_RATIO);
	chart.x.title = "NEW / BASE";
	axis_open(&chart.y, AXIS_LINEAR);
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < comparison->n_cells; i++) {
			const struct compare_cell *cell = &comparison->cells[i];

			if (!cell->is_repeat && is_in_turn(cell, turn))
				add_point(&chart, cell, &rows);
		}
	chart_print(out, &chart);
}

/* Remaining lines, and figures that differ but are not yet printed. */
struct room {
	size_t lines;
	size_t differing;
};

static struct room room_of(const struct comparison *comparison)
{
	struct room room = {.lines = LINES_MOST};

	for (size_t i = 0; i < comparison->n_cells; i++)
		room.differing += has_difference(&comparison->cells[i]);
	return room;
}

/* If not all figures fit, reserves lines for those that differ; others share the rest. */
static bool has_room(const struct comparison *comparison, const struct compare_cell *cell,
		     struct room *room)
{
	bool differs = has_difference(cell);

	if (comparison->n_cells <= LINES_MOST)
		return true;
	room->differing -= differs;
	if (!room->lines || (!differs && room->lines <= room->differing))
		return false;
	room->lines--;
	return true;
}

static size_t print_table(FILE *out, const struct table_unit *unit,
			  const struct comparison *comparison, enum cells_table which,
			  struct room *room)
{
	struct grid grid;
	size_t left_out = 0;

	compare_cells_open(&grid, which);
	for (size_t i = 0; i < comparison->n_cells; i++) {
		const struct compare_cell *cell = &comparison->cells[i];

		if (compare_cells_table(cell) != which)
			continue;
		if (has_room(comparison, cell, room))
			compare_cells_add(&grid, unit, cell);
		else
			left_out++;
	}
	if (grid.n_cells) {
		html_element(out, "h4", tables[which]);
		page_table(out, &grid);
	}
	grid_close(&grid);
	return left_out;
}

static void print_tables(FILE *out, const struct table_unit *unit,
			 const struct comparison *comparison)
{
	struct room room = room_of(comparison);
	size_t left_out = 0;

	for (enum cells_table which = CELLS_LATENCY; which <= CELLS_LOAD; which++)
		left_out += print_table(out, unit, comparison, which, &room);
	if (left_out)
		fprintf(out,
			"<p>%zu lines omitted here; <code>verbmark compare</code> shows all "
			"of them</p>\n",
			left_out);
}

/* Compares the first run of each side: the runs of a side have the same setup. */
static void print_setups(FILE *out, const struct comparison *comparison)
{
	struct host_facts_of results[COMPARE_SIDES];
	char names[COMPARE_SIDES][80];

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		const struct compare_run *first = comparison->sides[side].runs;

		snprintf(names[side], sizeof(names[side]), "%s: %.70s", compare_side_name(side),
			 first->name);
		results[side] = (struct host_facts_of){&first->result, names[side]};
	}
	host_facts_print_differing(out, results, COMPARE_SIDES);
}

void compare_page(FILE *out, const struct table_unit *unit, const struct comparison *comparison)
{
	char text[COMPARE_TEXT];

	fputs("<section>\n<h2>" TITLE "</h2>\n", out);
	compare_sum(comparison, text);
	fprintf(out, "<p data-verdict=\"%s\"><b>",
		verdict_name(verdict_worst(comparison->n_verdicts)));
	html_text(out, text);
	fputs("</b></p>\n", out);
	print_list(out, NULL, comparison, compare_say_head);
	html_element(out, "h3", "Ratios");
	print_figure(out, comparison);
	print_tables(out, unit, comparison);
	print_list(out, "Not compared, or not in all runs", comparison, compare_say_gaps);
	print_list(out, "Notes", comparison, compare_say_notes);
	print_setups(out, comparison);
	/* Repeat the warning for readers who skip to the end. */
	if (compare_forced(comparison, text))
		print_bold(out, text);
	fputs("</section>\n", out);
}

void compare_page_refused(FILE *out, const char *why)
{
	fputs("<section>\n<h2>" TITLE "</h2>\n<p>Not compared: ", out);
	html_text(out, why);
	fputs("</p>\n</section>\n", out);
}
