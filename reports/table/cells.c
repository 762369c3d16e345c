/* SPDX-License-Identifier: MIT */
#include "reports/table/cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/finding/bounded.h"
#include "reports/io/json_member.h"
#include "reports/result/digits.h"
#include "reports/result/statistic.h"

/* A plan with a shorter warm-up checks what works, and wants no stable figures. */
#define WARMUP_LEAST_NS 10000000

#define NS_PER_US 1000.0

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
	WIDTH_FIGURE = 6,
	WIDTH_INTERVAL = 12,
	WIDTH_PART = 5,
	WIDTH_WINDOWS = 14,
	WIDTH_RATE = 7,
	WIDTH_COSTS = 11,
};

#define INTERVAL "95% CI"

#define LAG_QUANTILE 990000

static void add_figure(struct grid *grid, double value, int most_decimals)
{
	char text[DIGITS_TEXT];

	digits_print(text, value, most_decimals);
	grid_put(grid, "%s", text);
}

/* Adds a figure and its interval. */
static void add_bounded(struct grid *grid, const struct bounded *figure, int most_decimals)
{
	char low[DIGITS_TEXT];
	char high[DIGITS_TEXT];

	add_figure(grid, figure->value, most_decimals);
	digits_print(low, figure->low, most_decimals);
	digits_print(high, figure->high, most_decimals);
	if (isnan(figure->low))
		grid_put(grid, "-");
	else
		grid_put(grid, "%s..%s", low, high);
}

static void add_costs(struct grid *grid, const struct result_case *line)
{
	char client[DIGITS_TEXT];
	char server[DIGITS_TEXT];

	digits_print(client, result_cpu_ns(&line->client) / NS_PER_US, DIGITS_US);
	digits_print(server, result_cpu_ns(&line->server) / NS_PER_US, DIGITS_US);
	grid_put(grid, "%s/%s", client, server);
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

void cells_names(struct grid *grid, const struct result_case *line, const char *extras)
{
	char modes[CELLS_MODES];
	char size[DIGITS_SIZE];

	cells_modes(modes, line);
	digits_size(size, line->size);
	grid_put(grid, "%s%s", line->op, extras);
	grid_put(grid, "%s", size);
	grid_put(grid, "%s", modes);
}

/* Adds the range of throughput windows; "-" if they have too few messages. */
static void add_windows(struct grid *grid, const struct table_unit *unit,
			const struct result_case *line)
{
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t messages = 0;
	char low[DIGITS_TEXT];
	char high[DIGITS_TEXT];

	for (size_t i = 0; i < line->windows->count; i++) {
		uint64_t rate = rate_windows_rate(line->windows, i, line->size);

		least = rate < least ? rate : least;
		most = rate > most ? rate : most;
		messages += line->windows->messages[i];
	}
	digits_print(low, (double)least / unit->bytes, DIGITS_AMOUNT);
	digits_print(high, (double)most / unit->bytes, DIGITS_AMOUNT);
	if (!messages || messages < RATE_WINDOWS_MESSAGES * line->windows->count)
		grid_put(grid, "-");
	else
		grid_put(grid, "%s..%s", low, high);
}

/* Formats "fairness 0.998 of 3 flows of 20.1..20.9 Gb/s". */
static void print_flows(char text[static 160], const struct table_unit *unit,
			const struct result_case *line)
{
	double scale = (double)line->size / unit->bytes;
	char low[DIGITS_TEXT];
	char high[DIGITS_TEXT];

	digits_print(low, flows_slowest(&line->flows) * scale, DIGITS_AMOUNT);
	digits_print(high, flows_fastest(&line->flows) * scale, DIGITS_AMOUNT);
	snprintf(text, 160, "fairness %.3f of %zu flow%s of %.32s..%.32s %s",
		 flows_fairness(&line->flows), line->flows.count, line->flows.count > 1 ? "s" : "",
		 low, high, unit->name);
}

/* A single receiver has lost what the case has lost. */
static bool has_own_losses(const struct receivers *receivers)
{
	for (size_t i = 0; i < receivers->count && receivers->count > 1; i++)
		if (receivers->receiver[i].lost)
			return true;
	return false;
}

bool cells_evenness(char text[static 160], const struct table_unit *unit,
		    const struct result_case *line)
{
	if (has_own_losses(&line->receivers))
		receivers_print(&line->receivers, text);
	else if (line->flows.count)
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
	uint64_t line_mbps = cells_line_mbps(result);
	struct bounded messages;
	struct bounded rate;

	bounded_rate(&messages, line);
	rate = messages;
	bounded_scale(&rate, result_payload(line) / unit->bytes);
	add_bounded(grid, &rate, DIGITS_AMOUNT);
	if (line_mbps)
		cells_put_amount(grid, rate.value * unit->bytes * 8e-4 / (double)line_mbps);
	cells_put_amount(grid, messages.value / 1e6);
}

static void title_bandwidth(struct grid *grid, const struct table_unit *unit,
			    const struct result *result)
{
	const struct grid_column columns[] = {
		{unit->name, GRID_FIGURES, WIDTH_FIGURE  },
		{INTERVAL,   GRID_FIGURES, WIDTH_INTERVAL},
		{"%line",    GRID_FIGURES, WIDTH_PART    },
		{"Mmsg/s",   GRID_FIGURES, WIDTH_RATE    },
	};

	grid_add_columns(grid, columns, 2);
	if (cells_line_mbps(result))
		grid_add_columns(grid, &columns[2], 1);
	grid_add_columns(grid, &columns[3], 1);
}

static void add_times(struct grid *grid, const struct result_case *line)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		struct bounded figure;

		if (!statistics[i].title)
			continue;
		bounded_statistic(&figure, line, i);
		bounded_scale(&figure, 1 / NS_PER_US);
		if (!strcmp(statistics[i].key, "p50"))
			add_bounded(grid, &figure, DIGITS_US);
		else
			cells_put_us(grid, figure.value);
	}
}

static void title_times(struct grid *grid)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct grid_column columns[] = {
			{statistics[i].title, GRID_FIGURES, WIDTH_FIGURE  },
			{INTERVAL,            GRID_FIGURES, WIDTH_INTERVAL},
		};

		if (statistics[i].title)
			grid_add_columns(grid, columns, strcmp(statistics[i].key, "p50") ? 1 : 2);
	}
}

/* Whether the schedule was kept is a word next to the figures, so that no reader misses it. */
static void add_load(struct grid *grid, const struct result_case *line)
{
	const struct hist *lag = &line->pace->lag;
	double lag_us = (double)NAN;

	if (hist_has_quantile(lag, LAG_QUANTILE))
		lag_us = hist_quantile(lag, LAG_QUANTILE) / NS_PER_US;
	grid_put(grid, "%s", pace_is_saturated(line) ? "saturated" : "kept");
	cells_put_amount(grid, pace_rate(line));
	cells_put_amount(grid, pace_got(line));
	add_times(grid, line);
	cells_put_us(grid, lag_us);
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

void cells_open(struct grid *grid, const struct table_unit *unit, const struct result *result,
		enum cells_table which)
{
	static const char *const titles[] = {
		[CELLS_LATENCY] = "LATENCY us",
		[CELLS_BANDWIDTH] = "BANDWIDTH",
		[CELLS_LOAD] = "LOAD us",
		[CELLS_CALLS] = "CALLS us",
	};
	static const struct grid_column kind = {"kind", GRID_WORDS, 0};
	static const struct grid_column calls = {"calls/s", GRID_FIGURES, WIDTH_RATE};
	static const struct grid_column cpu = {"CPU us/msg client/server", GRID_WORDS, WIDTH_COSTS};
	const struct grid_column names[] = {
		{titles[which], GRID_WORDS,   0},
		{"size",        GRID_FIGURES, 0},
		{"mode",        GRID_WORDS,   0},
	};

	grid_open(grid);
	grid_add_columns(grid, names, ARRAY_LENGTH(names));
	switch (which) {
	case CELLS_BANDWIDTH:
		title_bandwidth(grid, unit ? unit : &units[0], result);
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
	       const struct result_case *line, const char *extras)
{
	cells_names(grid, line, extras);
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
		cells_put_amount(grid, calls_per_second(line));
		break;
	}
	add_costs(grid, line);
}

/* Returns whether the plan allows a warm-up that is long enough to converge. */
static bool may_converge(const struct result_case *line)
{
	const json_t *limit_ns = json_object_get(line->parameters, "warmup_ns");

	return !limit_ns || json_integer_value(limit_ns) >= WARMUP_LEAST_NS;
}

/* Returns whether warm-up did not converge in most trials. */
static bool is_unsteady(const struct result_case *line)
{
	size_t count = 0;

	if (!may_converge(line))
		return false;
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
		enum cells_table which, bool has_windows)
{
	static const struct grid_column windows = {"windows", GRID_FIGURES, WIDTH_WINDOWS};
	bool has_any = false;

	has_windows = has_windows && which == CELLS_BANDWIDTH;
	cells_open(grid, unit, result, which);
	if (has_windows)
		grid_add_columns(grid, &windows, 1);
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!cells_has_figures(line) || cells_table(line) != which)
			continue;
		cells_add(grid, unit, result, line, cells_extras(line));
		if (has_windows)
			add_windows(grid, unit ? unit : &units[0], line);
		has_any = true;
	}
	return has_any;
}

void cells_put_us(struct grid *grid, double us)
{
	add_figure(grid, us, DIGITS_US);
}

void cells_put_amount(struct grid *grid, double amount)
{
	add_figure(grid, amount, DIGITS_AMOUNT);
}
