/* SPDX-License-Identifier: MIT */
#include "reports/table/cells.h"

#include <inttypes.h>
#include <math.h>
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

/* The first is the default. M and G are powers of ten. */
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
	return "is not one of Gb/s, Mb/s, GB/s, MB/s, MiB/s";
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

static void add_figure(struct grid *grid, int digits, double value)
{
	if (isnan(value))
		grid_put(grid, "-");
	else
		grid_put(grid, "%.*f", digits, value);
}

static void add_costs(struct grid *grid, const struct result_case *line)
{
	const double ns[] = {result_cpu_ns(&line->client), result_cpu_ns(&line->server)};
	char text[ARRAY_LENGTH(ns)][32] = {"-", "-"};

	for (size_t i = 0; i < ARRAY_LENGTH(ns); i++)
		if (!isnan(ns[i]))
			snprintf(text[i], sizeof(text[i]), "%.2f", ns[i] / NS_PER_US);
	grid_put(grid, "%s/%s", text[0], text[1]);
}

/* Returns the number of decimal places that shows at least three significant digits. */
static int digits_for(double value)
{
	static const double steps[] = {1000, 10, 1, 0.1};
	int digits = 0;

	while (digits < (int)ARRAY_LENGTH(steps) && value < steps[digits])
		digits++;
	return digits;
}

/* Limits microseconds to the resolution of the data: 1 ns below 0.1 us, 10 ns above. */
static int latency_digits(double us)
{
	int digits = digits_for(us);

	if (us < 0.1)
		return 3;
	return digits > 2 ? 2 : digits;
}

/* Returns half the width of the median's confidence interval over trials; NAN without one. */
static double width_over_trials(const struct result_case *line, const double *first)
{
	struct interval interval;
	struct error ignored = {0};

	if (trials_interval(&interval, line, first, &ignored) || !interval_is_sure(&interval))
		return (double)NAN;
	return (interval.high - interval.low) / 2;
}

static bool has_two_modes(const struct result_case *line)
{
	return strcmp(line->cq, line->server_cq) != 0;
}

const char *cells_extras(const struct result_case *line)
{
	const char *extras = line->id;

	for (int i = 0; i < 4 && extras; i++)
		extras = strchr(extras + (i > 0), '/');
	if (has_two_modes(line) && extras)
		extras = strchr(extras + 1, '/');
	return extras ? extras : "";
}

void cells_modes(char text[static CELLS_MODES], const struct result_case *line)
{
	bool has_two = has_two_modes(line);

	snprintf(text, CELLS_MODES, "%s%s%s", line->cq, has_two ? "/" : "",
		 has_two ? line->server_cq : "");
}

void cells_names(struct grid *grid, const struct result_case *line)
{
	char modes[CELLS_MODES];

	cells_modes(modes, line);
	grid_put(grid, "%s%s", line->op, cells_extras(line));
	grid_put(grid, "%" PRIu64, line->size);
	grid_put(grid, "%s", modes);
}

/* Adds the range of throughput windows; "-" if they have too few messages. */
static void add_windows(struct grid *grid, const struct table_unit *unit,
			const struct result_case *line)
{
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t messages = 0;
	double high;

	for (size_t i = 0; i < line->windows->count; i++) {
		uint64_t rate = rate_windows_rate(line->windows, i, line->size);

		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
		messages += line->windows->messages[i];
	}
	high = (double)most / unit->bytes;
	if (!messages || messages < RATE_WINDOWS_MESSAGES * line->windows->count)
		grid_put(grid, "-");
	else
		grid_put(grid, "%.*f..%.*f", digits_for(high), (double)least / unit->bytes,
			 digits_for(high), high);
}

/* Formats "fairness 0.998 of 3 flows of 20.1..20.9 Gb/s". */
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

bool cells_lone_mean(const struct result_case *line, char text[static 64])
{
	double mean = result_named(line, "mean");

	if (!line->is_imported || !isnan(result_named(line, "p50")) || isnan(mean))
		return false;
	snprintf(text, 64, "mean %.2f", mean / 1000);
	return true;
}

static void add_bandwidth(struct grid *grid, const struct table_unit *unit,
			  const struct result *result, const struct result_case *line)
{
	double messages_per_s = result_rate(line, false);
	double bytes_per_s = messages_per_s * (double)line->size;
	double rate = bytes_per_s / unit->bytes;
	uint64_t line_mbps = result_line_mbps(result);

	cells_put_amount(grid, rate);
	add_figure(grid, digits_for(rate),
		   width_over_trials(line, &line->trials->bytes_per_s) / unit->bytes);
	add_figure(grid, 1, line_mbps ? bytes_per_s * 8e-4 / (double)line_mbps : (double)NAN);
	cells_put_amount(grid, messages_per_s / 1e6);
	add_windows(grid, unit, line);
}

static void title_bandwidth(struct grid *grid, const struct table_unit *unit)
{
	const struct grid_column columns[] = {
		{unit->name, GRID_FIGURES, WIDTH_FIGURE  },
		{PLUS_MINUS, GRID_FIGURES, WIDTH_INTERVAL},
		{"%line",    GRID_FIGURES, WIDTH_PART    },
		{"Mmsg/s",   GRID_FIGURES, WIDTH_FIGURE  },
		{"windows",  GRID_FIGURES, WIDTH_WINDOWS },
	};

	grid_add_columns(grid, columns, ARRAY_LENGTH(columns));
}

static void add_times(struct grid *grid, const struct result_case *line)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		double value = result_statistic(line, i) / NS_PER_US;

		if (!statistic->title)
			continue;
		add_figure(grid, latency_digits(value), value);
		if (!strcmp(statistic->key, "p50"))
			add_figure(grid, latency_digits(value),
				   width_over_trials(line, &line->trials->latency[i]) / NS_PER_US);
	}
}

static void title_times(struct grid *grid)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct grid_column columns[] = {
			{statistics[i].title, GRID_FIGURES, WIDTH_FIGURE  },
			{PLUS_MINUS,          GRID_FIGURES, WIDTH_INTERVAL},
		};

		if (statistics[i].title)
			grid_add_columns(grid, columns, strcmp(statistics[i].key, "p50") ? 1 : 2);
	}
}

static void add_rate(struct grid *grid, double rate)
{
	add_figure(grid, digits_for(rate), rate);
}

/* Whether the schedule was kept is a word next to the figures, so that no reader misses it. */
static void add_load(struct grid *grid, const struct result_case *line)
{
	const struct hist *lag = &line->pace->lag;
	double lag_us = (double)NAN;

	if (hist_has_quantile(lag, LAG_QUANTILE))
		lag_us = hist_quantile(lag, LAG_QUANTILE) / NS_PER_US;
	grid_put(grid, "%s", pace_is_saturated(line) ? "saturated" : "kept");
	add_rate(grid, pace_rate(line));
	add_rate(grid, pace_got(line));
	add_times(grid, line);
	add_figure(grid, latency_digits(lag_us), lag_us);
}

static void title_load(struct grid *grid)
{
	static const struct grid_column columns[] = {
		{"schedule", GRID_WORDS,   0           },
		{"msg/s",    GRID_FIGURES, WIDTH_RATE  },
		{"achieved", GRID_FIGURES, WIDTH_RATE  },
		{"lag p99",  GRID_FIGURES, WIDTH_FIGURE},
	};

	grid_add_columns(grid, columns, 3);
	title_times(grid);
	grid_add_columns(grid, &columns[3], 1);
}

/* Returns the rate of back-to-back calls. */
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

void cells_open(struct grid *grid, const struct table_unit *unit, enum cells_table which)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "LATENCY us",
		[CELLS_BANDWIDTH] = "BANDWIDTH",
		[CELLS_LOAD] = "LOAD us",
		[CELLS_CALLS] = "CALLS us",
	};
	static const struct grid_column kind = {"kind", GRID_WORDS, 0};
	static const struct grid_column calls = {"calls/s", GRID_FIGURES, WIDTH_RATE};
	static const struct grid_column cpu = {"CPU us/msg client/server", GRID_WORDS, 0};
	const struct grid_column names[] = {
		{titles[which], GRID_WORDS,   0          },
		{"bytes",       GRID_FIGURES, WIDTH_BYTES},
		{"cq",          GRID_WORDS,   0          },
	};

	grid_open(grid);
	grid_add_columns(grid, names, ARRAY_LENGTH(names));
	switch (which) {
	case CELLS_BANDWIDTH:
		title_bandwidth(grid, unit ? unit : &units[0]);
		break;
	case CELLS_LOAD:
		title_load(grid);
		break;
	case CELLS_LATENCY:
		grid_add_columns(grid, &kind, 1);
		title_times(grid);
		break;
	case CELLS_CALLS:
		title_times(grid);
		grid_add_columns(grid, &calls, 1);
		break;
	}
	grid_add_columns(grid, &cpu, 1);
}

void cells_add(struct grid *grid, const struct table_unit *unit, const struct result *result,
	       const struct result_case *line)
{
	cells_names(grid, line);
	switch (cells_table(line)) {
	case CELLS_BANDWIDTH:
		add_bandwidth(grid, unit ? unit : &units[0], result, line);
		break;
	case CELLS_LOAD:
		add_load(grid, line);
		break;
	case CELLS_LATENCY:
		grid_put(grid, "%s", result_kind_name(line->kind));
		add_times(grid, line);
		break;
	case CELLS_CALLS:
		add_times(grid, line);
		add_rate(grid, calls_per_second(line));
		break;
	}
	add_costs(grid, line);
}

/* Returns whether warm-up did not converge in most trials. */
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
			 "%zu of %zu cases did not stabilize during warm-up (e.g. %.120s)",
			 unsteady, with_figures, first->id);
	return first;
}

bool cells_has_figures(const struct result_case *line)
{
	return line->status == RESULT_COMPLETE && line->n_trials;
}

bool cells_grid(struct grid *grid, const struct table_unit *unit, const struct result *result,
		enum cells_table which)
{
	bool has_any = false;

	cells_open(grid, unit, which);
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!cells_has_figures(line) || cells_table(line) != which)
			continue;
		cells_add(grid, unit, result, line);
		has_any = true;
	}
	return has_any;
}

void cells_put_us(struct grid *grid, double us)
{
	add_figure(grid, latency_digits(us), us);
}

void cells_put_amount(struct grid *grid, double amount)
{
	/* Small amounts must not appear as zero. */
	if (amount > 0 && amount < 0.001)
		grid_put(grid, "%.1e", amount);
	else
		add_figure(grid, digits_for(amount), amount);
}
