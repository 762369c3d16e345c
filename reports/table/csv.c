/* SPDX-License-Identifier: MIT */
#include "reports/table/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/finding/bounded.h"
#include "reports/io/json_member.h"
#include "reports/result/breakdown.h"
#include "reports/table/grid.h"

/* The start of all lines of a case. */
struct rows {
	struct grid *grid;
	const char *name;
	const struct result_case *line;
	size_t trial; /* from 1; 0: all trials together */
};

/* Parameters with a column, since ids omit defaults. */
static const char *const parameters[] = {"qps", "threads", "tx-depth"};

static void open_grid(struct grid *grid)
{
	static const char *const titles[] = {
		"file",      "case", "op",      "metric",   "bytes", "cq",     "server_cq",
		"transport", "qps",  "threads", "tx_depth", "kind",  "status", "trial",
		"figure",    "unit", "value",   "low",      "high"};

	grid_open(grid);
	grid_words(grid, titles, ARRAY_LENGTH(titles));
}

void csv_begin(FILE *out)
{
	struct grid grid;

	open_grid(&grid);
	grid_csv(out, &grid);
	grid_close(&grid);
}

static void add_parameter(struct grid *grid, const struct result_case *line, const char *name)
{
	const json_t *value = json_object_get(line->parameters, name);

	grid_put_exact(grid, json_is_integer(value) ? json_number_value(value) : (double)NAN);
}

static void put_row(const struct rows *rows, const char *figure, const char *unit,
		    const struct bounded *value)
{
	const struct result_case *line = rows->line;
	struct grid *grid = rows->grid;
	/* Prefix the file name so that spreadsheets do not take it for a formula ("-" is safe). */
	bool is_formula = json_member_is_formula(rows->name) && rows->name[1];

	grid_put(grid, "%s%s", is_formula ? "./" : "", rows->name);
	grid_put(grid, "%s", line->id);
	grid_put(grid, "%s", line->op);
	grid_put(grid, "%s", line->metric);
	grid_put(grid, "%" PRIu64, line->size);
	grid_put(grid, "%s", line->cq);
	grid_put(grid, "%s", line->server_cq);
	grid_put(grid, "%s", line->transport);
	for (size_t i = 0; i < ARRAY_LENGTH(parameters); i++)
		add_parameter(grid, line, parameters[i]);
	grid_put(grid, "%s", result_has_latency(line) ? result_kind_name(line->kind) : "");
	grid_put(grid, "%s", result_status_name(line->status));
	grid_put_exact(grid, rows->trial ? (double)rows->trial : (double)NAN);
	grid_put(grid, "%s", figure);
	grid_put(grid, "%s", unit);
	grid_put_exact(grid, value->value);
	grid_put_exact(grid, value->low);
	grid_put_exact(grid, value->high);
}

static void add_row(const struct rows *rows, const char *figure, const char *unit, double value)
{
	if (!isnan(value))
		put_row(rows, figure, unit, &(struct bounded){value, (double)NAN, (double)NAN});
}

static void add_latency(const struct rows *rows, const double values[static STATISTICS])
{
	for (size_t i = 0; i < STATISTICS; i++)
		add_row(rows, statistics[i].key, "ns", values[i]);
}

static void add_cost(const struct rows *rows, const char *figure, const struct result_cost *cost)
{
	add_row(rows, figure, "ns", result_cpu_ns(cost));
}

static void add_rates(const struct rows *rows, double bytes_per_s, double messages_per_s)
{
	if (!strcmp(rows->line->metric, "lat"))
		return;
	add_row(rows, "bytes_per_s", "B/s", bytes_per_s);
	add_row(rows, "messages_per_s", "1/s", messages_per_s);
}

/* Adds a figure of all trials together, with its interval. */
static void add_bounded(const struct rows *rows, const char *figure, const char *unit,
			const struct bounded *value)
{
	if (!isnan(value->value))
		put_row(rows, figure, unit, value);
}

static void add_latencies(const struct rows *rows)
{
	struct bounded figure;

	for (size_t i = 0; i < STATISTICS; i++) {
		bounded_statistic(&figure, rows->line, i);
		add_bounded(rows, statistics[i].key, "ns", &figure);
	}
}

static void add_rates_of_case(const struct rows *rows)
{
	struct bounded messages;
	struct bounded bytes;

	if (!strcmp(rows->line->metric, "lat"))
		return;
	bounded_of(&messages, rows->line, &rows->line->trials->messages_per_s,
		   result_rate(rows->line, false));
	bytes = messages;
	bounded_scale(&bytes, (double)rows->line->size);
	add_bounded(rows, "bytes_per_s", "B/s", &bytes);
	add_bounded(rows, "messages_per_s", "1/s", &messages);
}

static void add_losses(const struct rows *rows, uint64_t sent, uint64_t lost)
{
	if (!sent)
		return;
	add_row(rows, "sent", "1", (double)sent);
	add_row(rows, "lost", "1", (double)lost);
}

static void add_pace(const struct rows *rows, const struct pace_trial *pace)
{
	if (!rows->line->pace)
		return;
	add_row(rows, "rate", "1/s", pace->rate);
	add_row(rows, "unsent", "1", (double)pace->unsent);
	add_row(rows, "saturated", "1", pace->is_saturated);
}

/* Adds the mean and the median of each part. */
static void add_breakdown(const struct rows *rows)
{
	const struct breakdown *breakdown = rows->line->breakdown;
	char figure[64];

	for (size_t i = 0; i < BREAKDOWN_PARTS && breakdown; i++) {
		if (i == BREAKDOWN_WAKEUP && !breakdown_has_wakeup(breakdown))
			continue;
		snprintf(figure, sizeof(figure), "breakdown_%s_mean", breakdown_names[i]);
		add_row(rows, figure, "ns", hist_mean(&breakdown->parts[i]));
		snprintf(figure, sizeof(figure), "breakdown_%s_p50", breakdown_names[i]);
		add_row(rows, figure, "ns", hist_quantile(&breakdown->parts[i], 500000));
	}
}

/* Adds the counts of each receiver, numbered from 1. */
static void add_receivers(const struct rows *rows)
{
	const struct receivers *receivers = &rows->line->receivers;
	char figure[64];

	for (size_t i = 0; i < receivers->count; i++) {
		snprintf(figure, sizeof(figure), "receiver_%zu_arrived", i + 1);
		add_row(rows, figure, "1", (double)receivers->receiver[i].arrived);
		snprintf(figure, sizeof(figure), "receiver_%zu_lost", i + 1);
		add_row(rows, figure, "1", (double)receivers->receiver[i].lost);
	}
}

static void add_trials(struct rows *rows)
{
	for (size_t i = 0; i < rows->line->n_trials; i++) {
		const struct result_trial *trial = &rows->line->trials[i];

		rows->trial = i + 1;
		add_row(rows, "messages", "1", (double)trial->messages);
		if (trial->duration_ns)
			add_row(rows, "duration", "ns", (double)trial->duration_ns);
		if (result_has_latency(rows->line))
			add_latency(rows, trial->latency);
		add_rates(rows, trial->messages_per_s * (double)rows->line->size,
			  trial->messages_per_s);
		if (trial->has_far)
			add_row(rows, "far_messages_per_s", "1/s", trial->far_messages_per_s);
		add_pace(rows, &trial->pace);
		add_losses(rows, trial->sent, trial->lost);
		add_cost(rows, "client_cpu", &trial->client);
		add_cost(rows, "server_cpu", &trial->server);
	}
}

static void add_case(struct rows *rows)
{
	const struct result_case *line = rows->line;
	const struct bounded unknown = {(double)NAN, (double)NAN, (double)NAN};

	if (line->status != RESULT_COMPLETE || !line->n_trials) {
		put_row(rows, "", "", &unknown);
		return;
	}
	add_row(rows, "messages", "1", (double)line->messages);
	if (line->duration_ns)
		add_row(rows, "duration", "ns", (double)line->duration_ns);
	add_latencies(rows);
	add_rates_of_case(rows);
	add_cost(rows, "client_cpu", &line->client);
	add_cost(rows, "server_cpu", &line->server);
	if (line->pace) {
		add_row(rows, "rate", "1/s", pace_rate(line));
		add_row(rows, "saturated", "1", pace_is_saturated(line));
	}
	add_losses(rows, line->sent, line->lost);
	add_breakdown(rows);
	add_receivers(rows);
	add_trials(rows);
}

void csv_add(FILE *out, const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		struct grid grid;

		open_grid(&grid);
		add_case(&(struct rows){.grid = &grid, .name = name, .line = &result->cases[i]});
		grid_csv_rows(out, &grid);
		grid_close(&grid);
	}
}
