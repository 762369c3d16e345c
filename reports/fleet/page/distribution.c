/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/distribution.h"

#include <math.h>

#include "reports/page/chart.h"

#define COLUMNS 32

/* The figures that a rail sent. */
struct sent {
	size_t count;
	double least;
	double most;
	size_t columns[COLUMNS];
};

static double width_of(const struct sent *sent)
{
	return sent->most > sent->least ? (sent->most - sent->least) / COLUMNS
					: fmax(sent->most / 100, 1);
}

static void find_range(struct sent *sent, double value)
{
	sent->least = sent->count ? fmin(sent->least, value) : value;
	sent->most = sent->count ? fmax(sent->most, value) : value;
	sent->count++;
}

static void add_to_column(struct sent *sent, double value)
{
	size_t column = (size_t)((value - sent->least) / width_of(sent));

	sent->columns[column < COLUMNS ? column : COLUMNS - 1]++;
}

static void for_each(const struct fleet *fleet, size_t number, struct sent *rails,
		     void (*add)(struct sent *sent, double value))
{
	struct fleet_figure figure;

	for (size_t i = 0; i < 2 * fleet->n_pairs; i++)
		if (fleet_figure(fleet, &fleet->pairs[i / 2], number, (int)(i % 2), &figure) &&
		    !isnan(figure.value))
			add(&rails[figure.view.from_rail], figure.value);
}

static void add_panel(struct chart *chart, const char *panel, const char *id,
		      const struct sent *sent)
{
	double width = width_of(sent);

	for (size_t i = 0; i < COLUMNS; i++) {
		const struct svg_panel_point point = {
			.x = sent->least + width * (double)i,
			.y = (double)sent->columns[i],
			.low = sent->least + width * (double)i,
			.high = sent->least + width * (double)(i + 1),
			.id = id,
		};

		if (sent->columns[i])
			chart_add(chart, panel, "figures", &point);
	}
}

void distribution_print(FILE *out, const struct table_unit *unit, const struct fleet *fleet,
			size_t number)
{
	const struct fleet_case *line = &fleet->cases[number];
	struct sent rails[FLEET_MOST_RAILS] = {0};
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
	for_each(fleet, number, rails, find_range);
	for_each(fleet, number, rails, add_to_column);
	for (unsigned int rail = 0; rail < FLEET_MOST_RAILS; rail++) {
		char panel[32];

		snprintf(panel, sizeof(panel), "rail %u", rail);
		if (rails[rail].count)
			add_panel(&chart, panel, line->id, &rails[rail]);
	}
	chart_print(out, &chart);
}
