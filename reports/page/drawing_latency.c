/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/page/drawing.h"
#include "reports/result/statistic.h"

#define PER_MILLION 1e6

void drawing_prepare_latency_by_size(struct chart *chart, const struct drawing_source *source)
{
	drawing_size_axis(&chart->x);
	drawing_latency_axis(&chart->y);
}

static void add_statistic(struct chart *chart, const char *panel, const char *series,
			  const struct result_case *line, size_t which)
{
	struct svg_panel_point point = {.x = (double)line->size, .id = line->id};
	double value = result_statistic(line, which);

	if (isnan(value))
		return;
	drawing_over_trials(&point, line, &line->trials->latency[which], value);
	chart_add(chart, panel, series, &point);
}

void drawing_add_latency_by_size(struct chart *chart, const struct drawing_source *source,
				 const struct result_case *line)
{
	struct drawing_names names;
	char panel[SVG_PANEL_TITLE];

	if (!drawing_has_room(chart, source, line, DRAWING_CASES_MAIN))
		return;
	drawing_name(&names, line);
	snprintf(panel, sizeof(panel), "%.140s, %.40s: %s", names.operation, names.modes,
		 names.kind);
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].parts_per_million && statistics[i].title)
			add_statistic(chart, panel, statistics[i].title, line, i);
}

static size_t find_statistic(const char *key)
{
	size_t found = 0;

	while (strcmp(statistics[found].key, key) != 0)
		found++;
	return found;
}

void drawing_add_latency_by_mode(struct chart *chart, const struct drawing_source *source,
				 const struct result_case *line)
{
	struct drawing_names names;
	char panel[SVG_PANEL_TITLE];

	if (!drawing_has_room(chart, source, line, DRAWING_CASES))
		return;
	drawing_name(&names, line);
	snprintf(panel, sizeof(panel), "%.160s: p50, %s", names.operation, names.kind);
	add_statistic(chart, panel, names.modes, line, find_statistic("p50"));
}

void drawing_add_latency_by_operation(struct chart *chart, const struct drawing_source *source,
				      const struct result_case *line)
{
	struct drawing_names names;
	char panel[SVG_PANEL_TITLE];

	if (!drawing_has_room(chart, source, line, DRAWING_CASES))
		return;
	drawing_name(&names, line);
	snprintf(panel, sizeof(panel), "%.160s: p50, %s", names.modes, names.kind);
	add_statistic(chart, panel, names.operation, line, find_statistic("p50"));
}

void drawing_prepare_percentiles(struct chart *chart, const struct drawing_source *source)
{
	axis_open(&chart->x, AXIS_NINES);
	chart->x.title = "percentile";
	drawing_latency_axis(&chart->y);
}

void drawing_add_percentiles(struct chart *chart, const struct drawing_source *source,
			     const struct result_case *line)
{
	static const uint32_t parts[] = {100000, 250000, 500000, 750000, 900000, 950000, 990000,
					 995000, 999000, 999500, 999900, 999950, 999990, 999999};
	struct drawing_names names;
	char size[HTML_NUMBER];
	char panel[SVG_PANEL_TITLE];

	if (!line->latency || !drawing_is_representative(source, line))
		return;
	drawing_name(&names, line);
	drawing_name_size(size, line);
	snprintf(panel, sizeof(panel), "%.140s, %s: %s", names.operation, size, names.kind);
	for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
		const struct svg_panel_point point = {.x = (double)parts[i] / PER_MILLION,
						      .y = hist_quantile(line->latency, parts[i]),
						      .low = (double)NAN,
						      .high = (double)NAN,
						      .id = line->id};

		if (hist_has_quantile(line->latency, parts[i]))
			chart_add(chart, panel, names.modes, &point);
	}
}

void drawing_prepare_histogram(struct chart *chart, const struct drawing_source *source)
{
	drawing_latency_axis(&chart->x);
	chart->x.scale = AXIS_RANGE;
	axis_open(&chart->y, AXIS_LINEAR);
	chart->y.title = "messages";
}

#define COLUMNS      40
#define FEW_COLUMNS  20
#define UP_TO        990000
#define LAST_IN_BINS ((1ULL << HIST_MAX_BITS) - 1)

/*
 * Returns the width of columns: a power of two, as that of bins, which start at multiples of their
 * width, so that a column holds whole bins. At least as wide as the widest bin, and wide enough for
 * the given number of columns.
 */
static uint64_t find_width(size_t first, size_t last, size_t columns)
{
	uint64_t width = hist_high(last) - hist_low(last);

	while (hist_low(last) / width - hist_low(first) / width >= columns)
		width *= 2;
	return width;
}

static void add_column(struct chart *chart, const char *panel, const struct result_case *line,
		       size_t first, size_t last)
{
	uint64_t count = 0;
	struct svg_panel_point point = {
		.x = (double)hist_low(first),
		.low = (double)hist_low(first),
		.high = (double)hist_high(last),
		.id = line->id,
	};

	for (size_t i = first; i <= last; i++)
		count += line->latency->bins[i];
	point.y = (double)count;
	if (count)
		chart_add(chart, panel, "messages", &point);
}

/*
 * Draws the smallest size of each operation. All columns have the same width, so that height is
 * proportional to messages per nanosecond.
 */
void drawing_add_histogram(struct chart *chart, const struct drawing_source *source,
			   const struct result_case *line)
{
	const struct hist *hist = line->latency;
	uint64_t upper;
	struct drawing_names names;
	char size[HTML_NUMBER];
	char panel[SVG_PANEL_TITLE];
	uint64_t width;
	size_t first;
	size_t last;

	if (!hist || !drawing_is_smallest(source, line) || hist->min > LAST_IN_BINS)
		return;
	upper = hist_has_quantile(hist, UP_TO) ? (uint64_t)hist_quantile(hist, UP_TO) : hist->max;
	first = hist_index(hist->min);
	last = hist_index(upper < LAST_IN_BINS ? upper : LAST_IN_BINS);
	width = find_width(first, last, source->n_cases > DRAWING_CASES ? FEW_COLUMNS : COLUMNS);
	drawing_name(&names, line);
	drawing_name_size(size, line);
	snprintf(panel, sizeof(panel), "%.120s, %s, %.40s: %s", names.operation, size, names.modes,
		 names.kind);
	for (uint64_t at = hist_low(first) / width; at <= hist_low(last) / width; at++)
		add_column(chart, panel, line, hist_index(at * width),
			   hist_index((at + 1) * width - 1));
}

void drawing_prepare_latency_trials(struct chart *chart, const struct drawing_source *source)
{
	axis_open(&chart->x, AXIS_LINEAR);
	chart->x.title = "trial";
	chart->x.is_counted = true;
	drawing_latency_axis(&chart->y);
}

void drawing_add_latency_trials(struct chart *chart, const struct drawing_source *source,
				const struct result_case *line)
{
	size_t which = find_statistic("p50");
	struct drawing_names names;
	char size[HTML_NUMBER];
	char panel[SVG_PANEL_TITLE];

	if (!drawing_is_representative(source, line))
		return;
	drawing_name(&names, line);
	drawing_name_size(size, line);
	snprintf(panel, sizeof(panel), "%.120s, %s: p50, %s", names.operation, size, names.kind);
	for (size_t i = 0; i < line->n_trials; i++) {
		const struct svg_panel_point point = {.x = (double)(i + 1),
						      .y = line->trials[i].latency[which],
						      .low = (double)NAN,
						      .high = (double)NAN,
						      .id = line->id};

		if (!isnan(point.y))
			chart_add(chart, panel, names.modes, &point);
	}
}
