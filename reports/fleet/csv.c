/* SPDX-License-Identifier: MIT */
#include "reports/fleet/csv.h"

#include <math.h>

#include "reports/io/json_member.h"
#include "reports/io/save.h"
#include "reports/table/grid.h"

static const char *const titles[] = {"round",  "retest",  "from",      "from_rail", "from_device",
				     "to",     "to_rail", "to_device", "case",      "status",
				     "faults", "unit",    "value",     "error"};

static void put_end(struct grid *grid, const struct fleet_node *node, uint8_t rail)
{
	grid_put(grid, "%s", node->name);
	grid_put(grid, "%u", rail);
	grid_put(grid, "%s", rail < node->n_rails ? node->rails[rail].device : "");
}

/* Text of a peer must not begin like a formula of a spreadsheet. */
static void put_error(struct grid *grid, const struct fleet_pair *pair)
{
	const char *text = pair->error ? pair->error : "";

	grid_put(grid, "%s%s", json_member_is_formula(text) ? " " : "", text);
}

static void put_line(struct grid *grid, const struct fleet *fleet, const struct fleet_pair *pair,
		     const struct fleet_case *line, bool is_back, double value)
{
	const struct fleet_node *from = &fleet->nodes[pair->from];
	const struct fleet_node *to = &fleet->nodes[pair->to];
	char faults[128];

	grid_put(grid, "%u", pair->round);
	grid_put(grid, "%u", pair->retest);
	put_end(grid, is_back ? to : from, is_back ? pair->to_rail : pair->from_rail);
	put_end(grid, is_back ? from : to, is_back ? pair->from_rail : pair->to_rail);
	grid_put(grid, "%s", line->id);
	grid_put(grid, "%s", fleet_status_name(pair->status));
	grid_put(grid, "%s", fleet_faults_text(pair->faults, faults, sizeof(faults)));
	grid_put(grid, "%s", line->is_latency ? "ns" : "bytes_per_s");
	if (isfinite(value))
		grid_put(grid, "%.6g", value);
	else
		grid_put(grid, "%s", "");
	put_error(grid, pair);
}

static void print_pair(FILE *out, const struct fleet *fleet, const struct fleet_pair *pair)
{
	struct grid grid;

	grid_open(&grid);
	grid_words(&grid, titles, ARRAY_LENGTH(titles));
	for (size_t i = 0; i < fleet->n_cases; i++)
		for (size_t back = 0; back <= (size_t)fleet->cases[i].is_both_ways; back++)
			put_line(&grid, fleet, pair, &fleet->cases[i], back,
				 pair->figures ? pair->figures[2 * i + back] : (double)NAN);
	grid_csv_rows(out, &grid);
	grid_close(&grid);
}

/* Each pair has a grid of its own, to bound the memory. */
int fleet_csv(FILE *out, const struct fleet *fleet)
{
	for (size_t i = 0; i < ARRAY_LENGTH(titles); i++)
		fprintf(out, "%s%s", i ? "," : "", titles[i]);
	fputc('\n', out);
	for (size_t i = 0; i < fleet->n_pairs; i++)
		print_pair(out, fleet, &fleet->pairs[i]);
	return 0;
}

static int write_csv(FILE *out, const void *fleet)
{
	return fleet_csv(out, fleet);
}

int fleet_csv_write(const struct fleet *fleet, const char *path, struct error *error)
{
	return save_path(path, write_csv, fleet, error);
}
