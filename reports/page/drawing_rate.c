/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "reports/page/drawing.h"

#define PER_MILLION 1e6
#define NS_PER_US   1e3
#define NS_PER_S    1e9

/* Returns the link rate in bytes per second; 0 if it is unknown or differs between cases. */
static double line_rate(const struct result *result)
{
	uint64_t rate = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		uint64_t own = cells_line_mbps(result);

		if (strcmp(line->metric, "bw") != 0 || !line->n_trials)
			continue;
		if (!own || (rate && own != rate))
			return 0;
		rate = own;
	}
	return (double)rate * PER_MILLION / 8;
}

void drawing_prepare_bandwidth(struct chart *chart, const struct drawing_source *source)
{
	drawing_size_axis(&chart->x);
	drawing_bandwidth_axis(&chart->y, source);
	chart->level.value = line_rate(source->result);
	chart->level.name = chart->level.value > 0 ? "link rate" : NULL;
}

static void add_bandwidth(struct chart *chart, const char *panel, const char *series,
			  const struct result_case *line)
{
	struct svg_panel_point point = {.x = (double)line->size, .id = line->id};

	drawing_over_trials(&point, line, &line->trials->bytes_per_s,
			    result_rate(line, false) * (double)line->size);
	chart_add(chart, panel, series, &point);
}

void drawing_add_bandwidth(struct chart *chart, const struct drawing_source *source,
			   const struct result_case *line)
{
	struct drawing_names names;

	if (!drawing_has_room(chart, source, line, DRAWING_CASES_MAIN))
		return;
	drawing_name(&names, line);
	add_bandwidth(chart, names.operation, names.modes, line);
}

void drawing_add_bandwidth_by_operation(struct chart *chart, const struct drawing_source *source,
					const struct result_case *line)
{
	struct drawing_names names;

	if (!drawing_has_room(chart, source, line, DRAWING_CASES))
		return;
	drawing_name(&names, line);
	add_bandwidth(chart, names.modes, names.operation, line);
}

void drawing_prepare_message_rate(struct chart *chart, const struct drawing_source *source)
{
	drawing_size_axis(&chart->x);
	axis_open(&chart->y, AXIS_LOG);
	chart->y.title = "messages";
	chart->y.unit_name = "million/s";
	chart->y.unit = PER_MILLION;
}

void drawing_add_message_rate(struct chart *chart, const struct drawing_source *source,
			      const struct result_case *line)
{
	struct svg_panel_point point = {.x = (double)line->size, .id = line->id};
	struct drawing_names names;

	if (!drawing_has_room(chart, source, line, DRAWING_CASES_MAIN))
		return;
	drawing_name(&names, line);
	drawing_over_trials(&point, line, &line->trials->messages_per_s, result_rate(line, false));
	chart_add(chart, names.operation, names.modes, &point);
}

void drawing_prepare_windows(struct chart *chart, const struct drawing_source *source)
{
	axis_open(&chart->x, AXIS_LINEAR);
	chart->x.title = "time";
	chart->x.unit_name = "ms";
	chart->x.unit = PER_MILLION;
	/* The length of throughput windows differs between series. */
	chart->x.is_continuous = true;
	drawing_bandwidth_axis(&chart->y, source);
	chart->y.scale = AXIS_LINEAR;
}

#define WINDOWS_SHOWN     40
#define WINDOWS_SHOWN_FEW 20

/* Adds at most that many points, each the mean of adjacent windows; x is where these begin. */
static void add_windows(struct chart *chart, const char *panel, const char *series,
			const struct result_case *line, size_t most)
{
	const struct rate_windows *windows = line->windows;
	size_t together = (windows->count + most - 1) / most;

	for (size_t i = 0; i < windows->count; i += together) {
		struct svg_panel_point point = {.x = (double)(i * windows->window_ns),
						.low = (double)NAN,
						.high = (double)NAN,
						.id = line->id};
		size_t end = i + together < windows->count ? i + together : windows->count;
		double sum = 0;

		for (size_t j = i; j < end; j++)
			sum += (double)rate_windows_rate(windows, j, line->size);
		point.y = sum / (double)(end - i);
		chart_add(chart, panel, series, &point);
	}
}

/* Draws the largest size of each operation. */
void drawing_add_windows(struct chart *chart, const struct drawing_source *source,
			 const struct result_case *line)
{
	struct drawing_names names;
	char size[HTML_NUMBER];
	char panel[SVG_PANEL_TITLE];

	if (!drawing_is_largest(source, line) || line->windows->count < 2)
		return;
	drawing_name(&names, line);
	drawing_name_size(size, line);
	snprintf(panel, sizeof(panel), "%.160s, %s", names.operation, size);
	add_windows(chart, panel, names.modes, line,
		    source->n_cases > DRAWING_CASES ? WINDOWS_SHOWN_FEW : WINDOWS_SHOWN);
}

void drawing_prepare_bandwidth_trials(struct chart *chart, const struct drawing_source *source)
{
	axis_open(&chart->x, AXIS_LINEAR);
	chart->x.title = "trial";
	chart->x.is_counted = true;
	drawing_bandwidth_axis(&chart->y, source);
}

void drawing_add_bandwidth_trials(struct chart *chart, const struct drawing_source *source,
				  const struct result_case *line)
{
	struct drawing_names names;
	char size[HTML_NUMBER];
	char panel[SVG_PANEL_TITLE];

	if (!drawing_is_representative(source, line))
		return;
	drawing_name(&names, line);
	drawing_name_size(size, line);
	snprintf(panel, sizeof(panel), "%.160s, %s", names.operation, size);
	for (size_t i = 0; i < line->n_trials; i++) {
		const struct svg_panel_point point = {.x = (double)(i + 1),
						      .y = line->trials[i].bytes_per_s,
						      .low = (double)NAN,
						      .high = (double)NAN,
						      .id = line->id};

		chart_add(chart, panel, names.modes, &point);
	}
}

void drawing_prepare_cost(struct chart *chart, const struct drawing_source *source)
{
	drawing_size_axis(&chart->x);
	axis_open(&chart->y, AXIS_LOG);
	chart->y.title = "CPU per message";
	chart->y.floor = 1;
	chart->y.unit_name = "us";
	chart->y.unit = NS_PER_US;
}

static void add_cost(struct chart *chart, const struct drawing_names *names, const char *end,
		     const struct result_case *line, const struct result_cost *cost)
{
	const struct svg_panel_point point = {
		.x = (double)line->size,
		.y = result_cpu_ns(cost),
		.low = (double)NAN,
		.high = (double)NAN,
		.id = line->id,
	};
	char panel[SVG_PANEL_TITLE];

	/* Latencies of different kinds cost differently: a ping-pong also receives and answers. */
	snprintf(panel, sizeof(panel), "%.140s: CPU of the %s%s%s", names->operation, end,
		 line->windows ? "" : ", ", line->windows ? "" : names->kind);
	chart_add(chart, panel, names->modes, &point);
}

void drawing_add_cost(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line)
{
	struct drawing_names names;

	if (!drawing_has_room(chart, source, line, DRAWING_CASES))
		return;
	drawing_name(&names, line);
	add_cost(chart, &names, "client", line, &line->client);
	add_cost(chart, &names, "server", line, &line->server);
}

void drawing_prepare_load(struct chart *chart, const struct drawing_source *source)
{
	axis_open(&chart->x, AXIS_LOG);
	chart->x.title = "rate";
	chart->x.unit_name = "messages/s";
	drawing_latency_axis(&chart->y);
}

static const char *note_of(const struct drawing_source *source, const struct result_case *line)
{
	for (size_t i = 0; i < source->knees.count; i++)
		if (source->knees.curve[i].has_beyond && source->knees.curve[i].at.line == line)
			return "knee";
	return pace_is_saturated(line) ? "saturated" : NULL;
}

/* Names a curve by all parameters but the rate, which is the x axis. */
static void name_curve(const struct result_case *line, char panel[static SVG_PANEL_TITLE])
{
	struct drawing_names names;
	char size[HTML_NUMBER];
	const char *rate;
	const char *rest;

	drawing_name(&names, line);
	drawing_name_size(size, line);
	rate = strstr(names.operation, "/rate");
	rest = rate ? strchr(rate + 1, '/') : NULL;
	snprintf(panel, SVG_PANEL_TITLE, "%.*s%.60s, %s, %.40s: %s",
		 rate ? (int)(rate - names.operation) : 100, names.operation, rest ? rest : "",
		 size, names.modes, names.kind);
}

void drawing_add_load(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line)
{
	char panel[SVG_PANEL_TITLE];

	name_curve(line, panel);
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		struct svg_panel_point point = {
			.x = pace_rate(line), .id = line->id, .note = note_of(source, line)};

		if (!statistic->parts_per_million || !statistic->title ||
		    !statistic->is_known(line->latency, statistic))
			continue;
		drawing_over_trials(&point, line, &line->trials->latency[i],
				    statistic->value(line->latency, statistic));
		chart_add(chart, panel, statistic->title, &point);
	}
}
