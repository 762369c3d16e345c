/* SPDX-License-Identifier: MIT */
#include "reports/table/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/io/json_member.h"
#include "reports/result/statistic.h"
#include "reports/result/trials.h"

#define NS_PER_US 1000.0

#define PLUS_MINUS "\xc2\xb1"

struct table_unit {
	const char *name;
	double bytes;
};

/* The first one where nobody asks. M and G are powers of ten. */
static const struct table_unit units[] = {
	{"Gb/s",  1e9 / 8},
        {"Mb/s",  1e6 / 8},
        {"GB/s",  1e9    },
        {"MB/s",  1e6    },
        {"MiB/s", 1048576},
};

const char *table_parse_unit(const char *text, void *unit)
{
	for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
		if (strcmp(units[i].name, text) != 0)
			continue;
		*(const struct table_unit **)unit = &units[i];
		return NULL;
	}
	return "is none of Gb/s, Mb/s, GB/s, MB/s, MiB/s";
}

const char *table_unit_name(const struct table_unit *unit)
{
	return (unit ? unit : &units[0])->name;
}

double table_unit_bytes(const struct table_unit *unit)
{
	return (unit ? unit : &units[0])->bytes;
}

enum {
	WIDTH_BYTES = 7,
	WIDTH_FIGURE = 7,
	WIDTH_INTERVAL = 6,
	WIDTH_PART = 5,
	WIDTH_WINDOWS = 14,
	WIDTH_RATE = 8,
};

#define LAG_QUANTILE 990000

static struct cell *table_cells_add(struct cells *cells, int width)
{
	struct cell *cell = &cells->cell[cells->count++];

	*cell = (struct cell){.width = width};
	return cell;
}

static void FORMAT(2, 3) add_name(struct cells *cells, const char *format, ...)
{
	struct cell *cell = table_cells_add(cells, 0);
	va_list arguments;

	cell->is_name = true;
	va_start(arguments, format);
	vsnprintf(cell->text, sizeof(cell->text), format, arguments);
	va_end(arguments);
}

static void add_title(struct cells *cells, int width, const char *title)
{
	struct cell *cell = table_cells_add(cells, width);

	snprintf(cell->text, sizeof(cell->text), "%s", title);
}

static void add_figure(struct cells *cells, int width, int digits, double value)
{
	struct cell *cell = table_cells_add(cells, width);

	if (isnan(value))
		snprintf(cell->text, sizeof(cell->text), "-");
	else
		snprintf(cell->text, sizeof(cell->text), "%.*f", digits, value);
}

static void add_costs(struct cells *cells, const struct result_case *line)
{
	const double ns[] = {result_cpu_ns(&line->client), result_cpu_ns(&line->server)};
	char text[ARRAY_LENGTH(ns)][32] = {"-", "-"};

	for (size_t i = 0; i < ARRAY_LENGTH(ns); i++)
		if (!isnan(ns[i]))
			snprintf(text[i], sizeof(text[i]), "%.2f", ns[i] / NS_PER_US);
	add_name(cells, "%s/%s", text[0], text[1]);
}

/* Three digits that say something, whatever the scale. */
static int digits_for(double value)
{
	static const double steps[] = {1000, 10, 1, 0.1};
	int digits = 0;

	while (digits < (int)ARRAY_LENGTH(steps) && value < steps[digits])
		digits++;
	return digits;
}

/* Of microseconds: nothing is known below a nanosecond, and of what takes long, below ten. */
static int latency_digits(double us)
{
	int digits = digits_for(us);

	if (us < 0.1)
		return 3;
	return digits > 2 ? 2 : digits;
}

/* Half of what the interval of the median over trials spans; NAN without one. */
static double width_over_trials(const struct result_case *line, const double *first)
{
	struct interval interval;
	struct error ignored = {0};

	if (trials_interval(&interval, line, first, &ignored) || !interval_is_sure(&interval))
		return (double)NAN;
	return (interval.high - interval.low) / 2;
}

/* The operation with whatever of the case is not at its default, the size, the modes. */
void cells_names(struct cells *cells, const struct result_case *line)
{
	const char *extras = line->id;
	bool has_two = strcmp(line->cq, line->server_cq) != 0;

	cells->count = 0;
	for (int i = 0; i < 4 && extras; i++)
		extras = strchr(extras + (i > 0), '/');
	if (has_two && extras)
		extras = strchr(extras + 1, '/');
	add_name(cells, "%s%s", line->op, extras ? extras : "");
	add_figure(cells, WIDTH_BYTES, 0, (double)line->size);
	add_name(cells, "%s%s%s", line->cq, has_two ? "/" : "", has_two ? line->server_cq : "");
}

/* What windows span; those too short for the messages say nothing. */
static void add_windows(struct cells *cells, const struct table_unit *unit,
			const struct result_case *line)
{
	struct cell *cell = table_cells_add(cells, WIDTH_WINDOWS);
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t messages = 0;
	double high;

	snprintf(cell->text, sizeof(cell->text), "-");
	for (size_t i = 0; i < line->windows->count; i++) {
		uint64_t rate = rate_windows_rate(line->windows, i, line->size);

		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
		messages += line->windows->messages[i];
	}
	if (!messages || messages < RATE_WINDOWS_MESSAGES * line->windows->count)
		return;
	high = (double)most / unit->bytes;
	snprintf(cell->text, sizeof(cell->text), "%.*f..%.*f", digits_for(high),
		 (double)least / unit->bytes, digits_for(high), high);
}

/* "fairness 0.998 of 3 flows of 20.1..20.9 Gb/s". */
static void print_flows(char text[static 160], const struct table_unit *unit,
			const struct result_case *line)
{
	double scale = (double)line->size / unit->bytes;
	double low = flows_slowest(&line->flows) * scale;
	double high = flows_fastest(&line->flows) * scale;

	snprintf(text, 160, "fairness %.3f of %zu flow%s of %.*f..%.*f %s",
		 flows_fairness(&line->flows), line->flows.count, line->flows.count > 1 ? "s" : "",
		 digits_for(high), low, digits_for(high), high, unit->name);
}

bool cells_evenness(char text[static 160], const struct table_unit *unit,
		    const struct result_case *line)
{
	if (line->flows.count)
		print_flows(text, unit ? unit : &units[0], line);
	else if (shares_are_several(&line->shares))
		shares_print(&line->shares, text);
	else
		return false;
	return true;
}

void cells_flow(char text[static FLOWS_TEXT], const struct table_unit *unit,
		const struct result_case *line, size_t number)
{
	const struct flow_share *flow = &line->flows.flow[number];
	const struct table_unit *shown = unit ? unit : &units[0];
	double rate = flows_rate(flow) * (double)line->size / shown->bytes;

	snprintf(text, FLOWS_TEXT, "%s -> %s: %.*f %s", flow->from, flow->to, digits_for(rate),
		 rate, shown->name);
}

bool cells_lone_mean(const struct result_case *line, char text[static 64])
{
	double mean = result_named(line, "mean");

	if (!line->is_imported || !isnan(result_named(line, "p50")) || isnan(mean))
		return false;
	snprintf(text, 64, "mean %.2f", mean / 1000);
	return true;
}

static void add_bandwidth(struct cells *cells, const struct table_unit *unit,
			  const struct result *result, const struct result_case *line)
{
	double messages_per_s = result_rate(line, false);
	double bytes_per_s = messages_per_s * (double)line->size;
	double rate = bytes_per_s / unit->bytes;
	uint64_t line_mbps = result_line_mbps(result, line);

	cells_put_amount(cells, rate);
	add_figure(cells, WIDTH_INTERVAL, digits_for(rate),
		   width_over_trials(line, &line->trials->bytes_per_s) / unit->bytes);
	add_figure(cells, WIDTH_PART, 1,
		   line_mbps ? bytes_per_s * 8e-4 / (double)line_mbps : (double)NAN);
	cells_put_amount(cells, messages_per_s / 1e6);
	add_windows(cells, unit, line);
}

static void title_bandwidth(struct cells *cells, const struct table_unit *unit)
{
	add_title(cells, WIDTH_FIGURE, unit->name);
	add_title(cells, WIDTH_INTERVAL, PLUS_MINUS);
	add_title(cells, WIDTH_PART, "%line");
	add_title(cells, WIDTH_FIGURE, "Mmsg/s");
	add_title(cells, WIDTH_WINDOWS, "windows");
}

static void add_times(struct cells *cells, const struct result_case *line)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		double value = result_statistic(line, i) / NS_PER_US;

		if (!statistic->title)
			continue;
		add_figure(cells, WIDTH_FIGURE, latency_digits(value), value);
		if (!strcmp(statistic->key, "p50"))
			add_figure(cells, WIDTH_INTERVAL, latency_digits(value),
				   width_over_trials(line, &line->trials->latency[i]) / NS_PER_US);
	}
}

static void title_times(struct cells *cells)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		if (!statistics[i].title)
			continue;
		add_title(cells, WIDTH_FIGURE, statistics[i].title);
		if (!strcmp(statistics[i].key, "p50"))
			add_title(cells, WIDTH_INTERVAL, PLUS_MINUS);
	}
}

/* Messages per second. */
static void add_rate(struct cells *cells, double rate)
{
	add_figure(cells, WIDTH_RATE, digits_for(rate), rate);
}

/* Whether the schedule was kept is a word, and so is seen wherever the figures are. */
static void add_load(struct cells *cells, const struct result_case *line)
{
	const struct hist *lag = &line->pace->lag;
	double lag_us = (double)NAN;

	if (hist_has_quantile(lag, LAG_QUANTILE))
		lag_us = hist_quantile(lag, LAG_QUANTILE) / NS_PER_US;
	add_name(cells, "%s", pace_is_saturated(line) ? "saturated" : "kept");
	add_rate(cells, pace_rate(line));
	add_rate(cells, pace_got(line));
	add_times(cells, line);
	add_figure(cells, WIDTH_FIGURE, latency_digits(lag_us), lag_us);
}

static void title_load(struct cells *cells)
{
	add_name(cells, "schedule");
	add_title(cells, WIDTH_RATE, "msg/s");
	add_title(cells, WIDTH_RATE, "went");
	title_times(cells);
	add_title(cells, WIDTH_FIGURE, "lag p99");
}

/* Of one after another, with nothing between them. */
static double calls_per_second(const struct result_case *line)
{
	return 1e9 / result_named(line, "mean");
}

enum cells_table cells_table(const struct result_case *line)
{
	if (line->windows)
		return CELLS_BANDWIDTH;
	if (line->pace)
		return CELLS_LOAD;
	return line->kind == RESULT_CALL ? CELLS_CALLS : CELLS_LATENCY;
}

void cells_title(struct cells *cells, const struct table_unit *unit, const struct result_case *line)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "LATENCY us",
		[CELLS_BANDWIDTH] = "BANDWIDTH",
		[CELLS_LOAD] = "LOAD us",
		[CELLS_CALLS] = "CALLS us",
	};

	cells->count = 0;
	add_name(cells, "%s", titles[cells_table(line)]);
	add_title(cells, WIDTH_BYTES, "bytes");
	add_name(cells, "cq");
	switch (cells_table(line)) {
	case CELLS_BANDWIDTH:
		title_bandwidth(cells, unit ? unit : &units[0]);
		break;
	case CELLS_LOAD:
		title_load(cells);
		break;
	case CELLS_LATENCY:
		add_name(cells, "kind");
		title_times(cells);
		break;
	case CELLS_CALLS:
		title_times(cells);
		add_title(cells, WIDTH_RATE, "calls/s");
		break;
	}
	add_name(cells, "CPU us/msg near/far");
}

void cells_fill(struct cells *cells, const struct table_unit *unit, const struct result *result,
		const struct result_case *line)
{
	cells_names(cells, line);
	switch (cells_table(line)) {
	case CELLS_BANDWIDTH:
		add_bandwidth(cells, unit ? unit : &units[0], result, line);
		break;
	case CELLS_LOAD:
		add_load(cells, line);
		break;
	case CELLS_LATENCY:
		add_name(cells, "%s", result_kind_name(line->kind));
		add_times(cells, line);
		break;
	case CELLS_CALLS:
		add_times(cells, line);
		add_rate(cells, calls_per_second(line));
		break;
	}
	add_costs(cells, line);
}

/* Most of its trials were measured before their warm-up had come to an end. */
static bool is_unsteady(const struct result_case *line)
{
	size_t count = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		count += !line->trials[i].warmup.has_converged;
	return cells_has_figures(line) && !line->is_imported && 2 * count > line->n_trials;
}

bool cells_unsteady(char text[static 256], const struct result *result)
{
	const struct result_case *first = NULL;
	size_t with_figures = 0;
	size_t unsteady = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		with_figures += cells_has_figures(&result->cases[i]);
		if (!is_unsteady(&result->cases[i]))
			continue;
		first = unsteady++ ? first : &result->cases[i];
	}
	if (first)
		snprintf(text, 256,
			 "%zu of %zu cases had not become steady when they were measured, "
			 "such as %.120s",
			 unsteady, with_figures, first->id);
	return first;
}

bool cells_has_figures(const struct result_case *line)
{
	return line->status == RESULT_COMPLETE && line->n_trials;
}

void cells_put_name(struct cells *cells, const char *text)
{
	add_name(cells, "%s", text);
}

void cells_put_title(struct cells *cells, const char *text)
{
	add_title(cells, WIDTH_FIGURE, text);
}

void cells_put_us(struct cells *cells, double us)
{
	add_figure(cells, WIDTH_FIGURE, latency_digits(us), us);
}

void cells_put_amount(struct cells *cells, double amount)
{
	/* What is small is not shown as nothing. */
	if (amount > 0 && amount < 0.001)
		snprintf(table_cells_add(cells, WIDTH_FIGURE)->text, sizeof(cells->cell->text),
			 "%.1e", amount);
	else
		add_figure(cells, WIDTH_FIGURE, digits_for(amount), amount);
}

const char *cells_unit(const struct table_unit *unit, double *bytes)
{
	*bytes = (unit ? unit : &units[0])->bytes;
	return (unit ? unit : &units[0])->name;
}
