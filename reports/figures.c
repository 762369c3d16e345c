/* SPDX-License-Identifier: MIT */
#include "reports/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/compiler.h"
#include "reports/chart.h"
#include "reports/interval.h"
#include "reports/statistic.h"

#define NS_PER_US   1000.0
#define PER_MILLION 1e6

/* What all figures of a page are made from. */
struct source {
	const struct table_unit *unit;
	const struct result *result;
};

struct drawing {
	enum cells_table table; /* that it stands above */
	struct chart chart;
	/* Titles and scales that depend on the result; NULL: none do. */
	void (*prepare)(struct chart *chart, const struct source *source);
	void (*add)(struct chart *chart, const struct source *source,
		    const struct result_case *line);
};

static struct axis latency_axis(void)
{
	struct axis axis;

	axis_open(&axis, AXIS_LOG);
	axis.title = "latency";
	axis.unit_name = "us";
	axis.unit = NS_PER_US;
	return axis;
}

static struct axis size_axis(void)
{
	struct axis axis;

	axis_open(&axis, AXIS_SIZES);
	axis.title = "size";
	axis.unit_name = "bytes";
	return axis;
}

/* Of a figure of all trials; first is the first one's. None of a single one. */
static void take_interval(struct plot_point *point, const struct result_case *line,
			  const double *first)
{
	double *values = calloc(line->n_trials, sizeof(*values));
	struct interval interval;
	struct error ignored = {0};

	point->low = (double)NAN;
	point->high = (double)NAN;
	for (size_t i = 0; values && i < line->n_trials; i++)
		memcpy(&values[i], (const char *)first + i * sizeof(*line->trials),
		       sizeof(*values));
	if (values && line->n_trials > 1 &&
	    !interval_median(&interval, values, line->n_trials, &ignored)) {
		point->low = interval.low;
		point->high = interval.high;
	}
	free(values);
}

/* What the operation and its modes are called; the size is the axis. */
static void name_modes(const struct result_case *line, char operation[static 160],
		       char modes[static 160])
{
	struct cells cells;

	cells_names(&cells, line);
	snprintf(operation, 160, "%s", cells.cell[0].text);
	snprintf(modes, 160, "%s", cells.cell[2].text);
}

/* A latency's, in words. */
static const char *kind_of(const struct result_case *line)
{
	static const char *const words[] = {
		[RESULT_HALF] = "half a round trip",
		[RESULT_FULL] = "a whole round trip",
		[RESULT_COMPLETION] = "to the own completion",
		[RESULT_CALL] = "a call",
	};

	return words[line->kind];
}

static void prepare_latency_by_size(struct chart *chart, const struct source *source)
{
	chart->x = size_axis();
	chart->y = latency_axis();
}

static void add_latency_by_size(struct chart *chart, const struct source *source,
				const struct result_case *line)
{
	char panel[PLOT_TITLE];
	char operation[160];
	char modes[160];

	name_modes(line, operation, modes);
	snprintf(panel, sizeof(panel), "%.140s, %.40s: %s", operation, modes, kind_of(line));
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		struct plot_point point = {.x = (double)line->size, .id = line->id};

		if (!statistic->parts_per_million || !statistic->title ||
		    !statistic->is_known(line->latency, statistic))
			continue;
		point.y = statistic->value(line->latency, statistic);
		take_interval(&point, line, &line->trials->latency[i]);
		chart_add(chart, panel, statistic->title, &point);
	}
}

/* Bytes per second of the slower end; 0: not known. */
static double line_rate(const struct result *result)
{
	uint64_t near = result->client.rate_mbps;
	uint64_t far = result->server.rate_mbps;

	return (double)(near < far ? near : far) * PER_MILLION / 8;
}

static void prepare_bandwidth(struct chart *chart, const struct source *source)
{
	chart->x = size_axis();
	axis_open(&chart->y, AXIS_LOG);
	chart->y.title = "bandwidth";
	chart->y.unit_name = table_unit_name(source->unit);
	chart->y.unit = table_unit_bytes(source->unit);
	chart->level.value = line_rate(source->result);
	chart->level.name = chart->level.value > 0 ? "the link's rate" : NULL;
}

static void add_bandwidth(struct chart *chart, const struct source *source,
			  const struct result_case *line)
{
	struct plot_point point = {
		.x = (double)line->size,
		.y = result_rate(line, false) * (double)line->size,
		.id = line->id,
	};
	char operation[160];
	char modes[160];

	name_modes(line, operation, modes);
	take_interval(&point, line, &line->trials->bytes_per_s);
	chart_add(chart, operation, modes, &point);
}

static void prepare_message_rate(struct chart *chart, const struct source *source)
{
	chart->x = size_axis();
	axis_open(&chart->y, AXIS_LOG);
	chart->y.title = "messages";
	chart->y.unit_name = "million per s";
	chart->y.unit = PER_MILLION;
}

static void add_message_rate(struct chart *chart, const struct source *source,
			     const struct result_case *line)
{
	struct plot_point point = {
		.x = (double)line->size,
		.y = result_rate(line, false),
		.id = line->id,
	};
	char operation[160];
	char modes[160];

	name_modes(line, operation, modes);
	take_interval(&point, line, &line->trials->messages_per_s);
	chart_add(chart, operation, modes, &point);
}

static const struct drawing figures[] = {
	{
         .table = CELLS_LATENCY,
         .chart = {.title = "Latency by size",
			  .says = "Bands: the interval of the median over trials.",
			  .is_shared = true,
			  .least = 2},
         .prepare = prepare_latency_by_size,
         .add = add_latency_by_size,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Bandwidth by size",
			  .says = "Bands: the interval of the median over trials.",
			  .is_shared = true,
			  .least = 2},
         .prepare = prepare_bandwidth,
         .add = add_bandwidth,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Message rate by size",
			  .says = "Bands: the interval of the median over trials.",
			  .is_shared = true,
			  .least = 2},
         .prepare = prepare_message_rate,
         .add = add_message_rate,
	 },
};

void figures_print(FILE *out, const struct table_unit *unit, const struct result *result,
		   enum cells_table which)
{
	const struct source source = {.unit = unit, .result = result};

	for (size_t i = 0; i < ARRAY_LENGTH(figures); i++) {
		struct chart chart = figures[i].chart;

		if (figures[i].table != which)
			continue;
		figures[i].prepare(&chart, &source);
		for (size_t j = 0; j < result->n_cases; j++) {
			const struct result_case *line = &result->cases[j];

			if (cells_has_figures(line) && cells_table(line) == which)
				figures[i].add(&chart, &source, line);
		}
		chart_print(out, &chart);
	}
}
