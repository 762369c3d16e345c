/* SPDX-License-Identifier: MIT */
#include "reports/fleet/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/fleet/figure.h"
#include "reports/fleet/hostlist.h"
#include "reports/fleet/place.h"
#include "reports/fleet/worst.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"

#define CULPRITS_MOST 20
#define ERROR_MOST    48 /* columns of a pair's error */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static size_t count_culprits(const struct fleet *fleet)
{
	size_t count = fleet->n_blames;

	for (size_t i = 0; i < fleet->n_nodes; i++)
		count += fleet_is_only_lost(fleet, i);
	return count;
}

static int compare_texts(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Returns the number of hosts; of nodes if memory runs out. */
static size_t count_hosts(const struct fleet *fleet)
{
	const char **hosts = calloc(fleet->n_nodes + 1, sizeof(*hosts));
	size_t count = 0;

	if (!hosts)
		return fleet->n_nodes;
	for (size_t i = 0; i < fleet->n_nodes; i++)
		hosts[i] = fleet->nodes[i].host;
	qsort(hosts, fleet->n_nodes, sizeof(*hosts), compare_texts);
	for (size_t i = 0; i < fleet->n_nodes; i++)
		count += !i || strcmp(hosts[i - 1], hosts[i]) != 0;
	free(hosts);
	return count;
}

static size_t count_rails(const struct fleet *fleet)
{
	size_t most = 0;

	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (fleet->nodes[i].n_rails > most)
			most = fleet->nodes[i].n_rails;
	return most;
}

static size_t count_pairs(const struct fleet *fleet, enum fleet_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->n_pairs; i++)
		count += fleet->pairs[i].status == status;
	return count;
}

static bool parse_time(const char *text, time_t *found)
{
	struct tm parts = {0};

	if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &parts))
		return false;
	*found = timegm(&parts);
	return true;
}

static void print_duration(FILE *out, const struct fleet *fleet)
{
	time_t started;
	time_t finished;
	long long seconds;

	if (!parse_time(fleet->started, &started) || !parse_time(fleet->finished, &finished) ||
	    finished < started)
		return;
	seconds = (long long)(finished - started);
	if (seconds < 60)
		fprintf(out, ", %lld s", seconds);
	else if (seconds < 3600)
		fprintf(out, ", %lld min %lld s", seconds / 60, seconds % 60);
	else
		fprintf(out, ", %lld h %lld min", seconds / 3600, seconds / 60 % 60);
}

void fleet_table_counts(FILE *out, const struct fleet *fleet)
{
	size_t hosts = count_hosts(fleet);
	size_t rails = count_rails(fleet);
	size_t failed = count_pairs(fleet, FLEET_FAILED);
	size_t skipped = count_pairs(fleet, FLEET_SKIPPED) + count_pairs(fleet, FLEET_NOT_RUN);
	size_t measured = count_pairs(fleet, FLEET_MEASURED);

	fprintf(out, "%zu node%s", fleet->n_nodes, plural(fleet->n_nodes));
	if (hosts != fleet->n_nodes)
		fprintf(out, " on %zu host%s", hosts, plural(hosts));
	fprintf(out, ", %zu rail%s; %zu pair%s measured", rails, plural(rails), measured,
		plural(measured));
	if (failed)
		fprintf(out, ", %zu failed", failed);
	if (skipped)
		fprintf(out, ", %zu skipped", skipped);
	fprintf(out, "; %" PRIu32 " round%s", fleet->n_rounds, plural(fleet->n_rounds));
	print_duration(out, fleet);
}

static void print_summary(const struct terminal *terminal, const struct fleet *fleet)
{
	size_t culprits = count_culprits(fleet);

	if (fleet_uses_soft(fleet))
		fprintf(terminal->out, "%s\n", BANNER_SOFT);
	if (fleet->is_simulated)
		fputs("SIMULATION: no link was measured\n", terminal->out);
	if (culprits)
		fprintf(terminal->out, "BAD (%zu): ", culprits);
	else
		fputs(fleet_exit_status(fleet) ? "INCOMPLETE: " : "All good: ", terminal->out);
	fleet_table_counts(terminal->out, fleet);
	fputc('\n', terminal->out);
	if (fleet_exit_status(fleet) == 3 && !fleet->is_interrupted)
		fputs("too few figures to compare, and no floor: nothing was judged; see --floor\n",
		      terminal->out);
	if (fleet->is_interrupted)
		fprintf(terminal->out, "interrupted%s%s\n", fleet->interruption[0] ? ": " : "",
			fleet->interruption);
}

static void put_lost(struct grid *grid, const struct fleet_node *node)
{
	grid_put(grid, "lost");
	grid_put(grid, "%s", node->name);
	grid_put(grid, "%s", node->error[0] ? node->error : "stopped responding");
}

static void put_blame(struct grid *grid, const struct fleet *fleet, const struct fleet_blame *blame)
{
	char place[FLEET_CULPRIT];

	grid_put(grid, "%s", fleet_culprit_name(blame->culprit));
	grid_put(grid, "%s", fleet_culprit_place(fleet, blame, place));
	grid_put(grid, "%s", blame->reason);
}

static void print_culprits(const struct terminal *terminal, const struct fleet *fleet)
{
	static const char *const titles[] = {"BAD", "WHERE", "WHY"};
	size_t count = count_culprits(fleet);
	size_t shown = 0;
	struct grid grid;

	if (!count)
		return;
	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < fleet->n_blames && shown < CULPRITS_MOST; i++, shown++)
		put_blame(&grid, fleet, &fleet->blames[i]);
	for (size_t i = 0; i < fleet->n_nodes && shown < CULPRITS_MOST; i++)
		if (fleet_is_only_lost(fleet, i)) {
			put_lost(&grid, &fleet->nodes[i]);
			shown++;
		}
	fputc('\n', terminal->out);
	grid_text(terminal, &grid);
	grid_close(&grid);
	if (count > shown)
		fprintf(terminal->out, "and %zu more, which --json and --csv list\n",
			count - shown);
}

static void put_figure(struct grid *grid, const struct table_unit *unit,
		       const struct fleet_case *line, double value)
{
	if (isnan(value))
		grid_put(grid, "-");
	else if (line->is_latency)
		cells_put_us(grid, value / fleet_unit(line, unit));
	else
		cells_put_amount(grid, value / fleet_unit(line, unit));
}

static void put_share(struct grid *grid, double share)
{
	if (isfinite(share))
		grid_put(grid, "%.1f %%", share * 100);
	else
		grid_put(grid, "-");
}

static void put_worst(struct grid *grid, const struct table_unit *unit, const struct fleet *fleet,
		      const struct fleet_worst *at)
{
	const struct fleet_pair *pair = at->pair;
	bool has_failed = pair->status == FLEET_FAILED;
	const struct fleet_case *line = has_failed ? NULL : &fleet->cases[at->number];
	char places[2][FLEET_PLACE];
	char faults[128];

	fleet_place(fleet, pair->from, pair->from_rail, places[at->is_back]);
	fleet_place(fleet, pair->to, pair->to_rail, places[!at->is_back]);
	grid_put(grid, "%s", places[0]);
	grid_put(grid, "%s", places[1]);
	grid_put(grid, "%s", line ? line->id : "-");
	if (line)
		put_figure(grid, unit, line, at->figure);
	else
		grid_put(grid, "-");
	grid_put(grid, "%s", line ? fleet_unit_name(line, unit) : "");
	put_share(grid, at->of_median);
	if (has_failed && pair->error)
		grid_put(grid, "%.*s", ERROR_MOST, pair->error);
	else
		grid_put(grid, "%s", fleet_faults_text(pair->faults, faults, sizeof(faults)));
}

static int print_worst(const struct terminal *terminal, const struct table_unit *unit,
		       const struct fleet *fleet, struct error *error)
{
	static const struct grid_column columns[] = {
		{"WORST PAIRS: FROM", GRID_WORDS,   0},
		{"TO",                GRID_WORDS,   0},
		{"CASE",              GRID_WORDS,   0},
		{"FIGURE",            GRID_FIGURES, 0},
		{"UNIT",              GRID_WORDS,   0},
		{"OF MEDIAN",         GRID_FIGURES, 0},
		{"WHY",               GRID_WORDS,   0},
	};
	struct fleet_worst worst[FLEET_WORST];
	size_t count;
	struct grid grid;
	int code = fleet_find_worst(fleet, worst, &count, error);

	if (!count)
		return code;
	grid_open(&grid);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < count; i++)
		put_worst(&grid, unit, fleet, &worst[i]);
	fputc('\n', terminal->out);
	grid_text(terminal, &grid);
	grid_close(&grid);
	return 0;
}

static int compare_rates(const void *one, const void *other)
{
	const uint64_t *a = one;
	const uint64_t *b = other;

	return (*a > *b) - (*a < *b);
}

/*
 * Returns the usual rate of a rail in bytes per second: the median of the nodes. NAN: unknown, or the
 * rails are software, whose rate means nothing.
 */
static double usual_rate(const struct fleet *fleet, uint8_t rail)
{
	uint64_t *rates = calloc(fleet->n_nodes + 1, sizeof(*rates));
	double usual = (double)NAN;
	size_t count = 0;
	size_t middle;

	for (size_t i = 0; i < fleet->n_nodes && rates; i++) {
		const struct fleet_node *node = &fleet->nodes[i];

		if (rail < node->n_rails && node->rails[rail].rate_mbps &&
		    !node->rails[rail].is_soft)
			rates[count++] = node->rails[rail].rate_mbps;
	}
	if (count) {
		qsort(rates, count, sizeof(*rates), compare_rates);
		middle = count / 2;
		usual = (double)rates[middle] * 1e6 / 8;
	}
	free(rates);
	return usual;
}

static void put_spread(struct grid *grid, const struct table_unit *unit, const struct fleet *fleet,
		       const struct fleet_spread *spread)
{
	const struct fleet_case *line = &fleet->cases[spread->number];

	grid_put(grid, "%s", line->id);
	grid_put(grid, "%u%s", spread->rail,
		 spread->is_loopback  ? " loopback"
		 : spread->is_between ? " between groups"
				      : "");
	grid_put(grid, "%zu", spread->count);
	put_figure(grid, unit, line, spread->median);
	put_figure(grid, unit, line, spread->least);
	put_figure(grid, unit, line, spread->most);
	grid_put(grid, "%s", fleet_unit_name(line, unit));
	put_share(grid, spread->mad / spread->median);
	put_share(grid, line->is_latency ? (double)NAN
					 : spread->median / usual_rate(fleet, spread->rail));
}

static void print_spreads(const struct terminal *terminal, const struct table_unit *unit,
			  const struct fleet *fleet)
{
	static const struct grid_column columns[] = {
		{"CASE",    GRID_WORDS,   0},
                {"RAIL",    GRID_WORDS,   0},
		{"FIGURES", GRID_FIGURES, 0},
                {"MEDIAN",  GRID_FIGURES, 0},
		{"LEAST",   GRID_FIGURES, 0},
                {"MOST",    GRID_FIGURES, 0},
		{"UNIT",    GRID_WORDS,   0},
                {"MAD",     GRID_FIGURES, 0},
		{"OF LINE", GRID_FIGURES, 0},
	};
	struct grid grid;

	if (!fleet->n_spreads)
		return;
	grid_open(&grid);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < fleet->n_spreads; i++)
		put_spread(&grid, unit, fleet, &fleet->spreads[i]);
	fputc('\n', terminal->out);
	grid_text(terminal, &grid);
	grid_close(&grid);
}

static void print_warnings(const struct terminal *terminal, const struct fleet *fleet)
{
	size_t count = json_array_size(fleet->warnings);

	if (count)
		fputc('\n', terminal->out);
	for (size_t i = 0; i < count; i++)
		fprintf(terminal->out, "warning: %s\n",
			json_string_value(json_array_get(fleet->warnings, i)));
}

/* Prints how to measure again the rail of the first blame. */
static void print_repeat(const struct terminal *terminal, const struct fleet *fleet)
{
	const struct fleet_blame *blame = &fleet->blames[0];
	const struct fleet_node *node = &fleet->nodes[blame->node];
	uint8_t rail = blame->rail == FLEET_ALL_RAILS ? 0 : blame->rail;

	if (rail < node->n_rails)
		fprintf(terminal->out,
			"to measure one link alone: 'verbmark serve' on %s, then 'verbmark run %s "
			"-d %s' on another node\n",
			node->host, node->host, node->rails[rail].device);
}

static void print_advice(const struct terminal *terminal, const struct fleet *fleet)
{
	char *bad = fleet_bad_nodes(fleet);

	if (count_culprits(fleet))
		fputc('\n', terminal->out);
	if (bad && *bad && strcmp(fleet->launcher, "slurm") == 0)
		fprintf(terminal->out,
			"to exclude them: scontrol update NodeName=%s State=DRAIN Reason=verbmark\n",
			bad);
	else if (bad && *bad)
		fprintf(terminal->out, "bad nodes: %s\n", bad);
	free(bad);
	if (fleet->n_blames)
		print_repeat(terminal, fleet);
}

int fleet_table(const struct terminal *terminal, const struct table_unit *unit,
		const struct fleet *fleet, struct error *error)
{
	int code;

	print_summary(terminal, fleet);
	print_culprits(terminal, fleet);
	code = print_worst(terminal, unit, fleet, error);
	print_spreads(terminal, unit, fleet);
	print_warnings(terminal, fleet);
	print_advice(terminal, fleet);
	return code;
}
