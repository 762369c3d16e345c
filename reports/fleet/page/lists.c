/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/page/culprits.h"

#define WORST_MOST  20
#define FAILED_MOST 20
#define NAMED_MOST  3 /* culprits in the summary */

static const char *device_of(const struct fleet *fleet, uint32_t node, uint8_t rail)
{
	const struct fleet_node *owner = &fleet->nodes[node];

	return rail < owner->n_rails ? owner->rails[rail].device : "-";
}

void fleet_culprit_text(char text[static FLEET_CULPRIT_TEXT], const struct fleet *fleet,
			const struct fleet_blame *blame)
{
	const char *name = fleet->nodes[blame->node].name;
	const char *peer = fleet->nodes[blame->peer].name;
	const char *culprit = fleet_culprit_name(blame->culprit);

	if (blame->culprit == FLEET_CULPRIT_NODE)
		snprintf(text, FLEET_CULPRIT_TEXT, "node %s", name);
	else if (blame->culprit == FLEET_CULPRIT_RAIL)
		snprintf(text, FLEET_CULPRIT_TEXT, "rail %u (%s) of %s", blame->rail,
			 device_of(fleet, blame->node, blame->rail), name);
	else if (blame->rail == blame->peer_rail && blame->rail != FLEET_ALL_RAILS)
		snprintf(text, FLEET_CULPRIT_TEXT, "%s %s to %s, rail %u", culprit, name, peer,
			 blame->rail);
	else if (blame->rail != FLEET_ALL_RAILS && blame->peer_rail != FLEET_ALL_RAILS)
		snprintf(text, FLEET_CULPRIT_TEXT, "%s %s rail %u to %s rail %u", culprit, name,
			 blame->rail, peer, blame->peer_rail);
	else
		snprintf(text, FLEET_CULPRIT_TEXT, "%s %s to %s", culprit, name, peer);
}

/* Names a culprit in a verdict; number: of those before it. */
static int name_culprit(char *text, int length, size_t number, const char *name)
{
	if (number >= NAMED_MOST || length >= FLEET_SUMMARY)
		return length;
	return length + snprintf(text + length, FLEET_SUMMARY - (size_t)length, "%s%s",
				 number ? "; " : "BAD: ", name);
}

const char *fleet_verdict(char text[static FLEET_SUMMARY], const struct fleet *fleet)
{
	char culprit[FLEET_CULPRIT_TEXT];
	size_t count = 0;
	int length = 0;

	for (; count < fleet->n_blames; count++) {
		fleet_culprit_text(culprit, fleet, &fleet->blames[count]);
		length = name_culprit(text, length, count, culprit);
	}
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (fleet_is_only_lost(fleet, i)) {
			snprintf(culprit, sizeof(culprit), "lost node %s", fleet->nodes[i].name);
			length = name_culprit(text, length, count++, culprit);
		}
	if (count > NAMED_MOST && length < FLEET_SUMMARY)
		snprintf(text + length, FLEET_SUMMARY - (size_t)length, " and %zu more",
			 count - NAMED_MOST);
	if (count)
		return "bad";
	if (!fleet_exit_status(fleet)) {
		snprintf(text, FLEET_SUMMARY, "All good");
		return "good";
	}
	snprintf(text, FLEET_SUMMARY, "%s",
		 fleet->is_interrupted ? "INCOMPLETE"
				       : "NOT JUDGED: too few figures to compare, and no floor");
	return "incomplete";
}

static const char *lost_reason(const struct fleet_node *node)
{
	if (node->error[0])
		return node->error;
	return node->presence == FLEET_ABSENT ? "never joined" : "stopped responding";
}

/* Returns whether a row of its own says why a node is missing or could not measure. */
static bool is_listed(const struct fleet *fleet, size_t node)
{
	const struct fleet_node *one = &fleet->nodes[node];

	return fleet_is_only_lost(fleet, node) || one->presence == FLEET_ABSENT ||
	       (one->presence == FLEET_PRESENT && one->error[0]);
}

static void put_blame(struct grid *grid, const struct fleet *fleet, const struct fleet_blame *blame)
{
	char text[FLEET_CULPRIT_TEXT];

	fleet_culprit_text(text, fleet, blame);
	grid_put(grid, "%s", text);
	grid_put(grid, "%s", blame->reason);
	grid_put(grid, "%u", blame->bad);
	grid_put(grid, "%u", blame->good);
}

size_t fleet_list_culprits(struct grid *grid, const struct fleet *fleet)
{
	static const char *const titles[] = {"bad", "why"};
	static const struct grid_column columns[] = {
		{"bad pairs",  GRID_FIGURES, 0},
                {"good pairs", GRID_FIGURES, 0}
        };
	size_t count = fleet->n_blames;

	grid_open(grid);
	grid_words(grid, titles, 2);
	grid_add_columns(grid, columns, 2);
	for (size_t i = 0; i < count && i < CULPRITS_MOST; i++)
		put_blame(grid, fleet, &fleet->blames[i]);
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (is_listed(fleet, i) && count++ < CULPRITS_MOST) {
			grid_put(grid, "node %s", fleet->nodes[i].name);
			grid_put(grid, "%s", lost_reason(&fleet->nodes[i]));
			grid_put(grid, "-");
			grid_put(grid, "-");
		}
	return count > CULPRITS_MOST ? count - CULPRITS_MOST : 0;
}

/* The worst figures so far, worst first. */
struct worst {
	struct fleet_figure list[WORST_MOST + 1];
	size_t count;
};

static void add_worst(struct worst *worst, const struct fleet_figure *figure)
{
	size_t at = worst->count;

	if (isnan(figure->share))
		return;
	while (at && worst->list[at - 1].share > figure->share)
		at--;
	if (at == WORST_MOST)
		return;
	memmove(&worst->list[at + 1], &worst->list[at],
		(worst->count - at) * sizeof(worst->list[0]));
	worst->list[at] = *figure;
	worst->count += worst->count < WORST_MOST;
}

static void put_figure(struct grid *grid, const struct table_unit *unit, const struct fleet *fleet,
		       const struct fleet_figure *figure)
{
	char view[FLEET_VIEW_TEXT];
	char value[FLEET_TEXT];
	char faults[80];

	fleet_view_text(view, fleet, &figure->view);
	grid_put(grid, "%s", fleet->nodes[figure->from].name);
	grid_put(grid, "%s", fleet->nodes[figure->to].name);
	grid_put(grid, "%s", view);
	grid_put(grid, "%s", fleet_faults_text(figure->faults, faults, sizeof(faults)));
	grid_put(grid, "%s",
		 fleet_value_text(value, &fleet->cases[figure->view.number], unit, figure->value));
	grid_put(grid, "%.1f %%", 100 * figure->share);
}

size_t fleet_list_worst(struct grid *grid, const struct table_unit *unit,
			const struct yardsticks *yardsticks)
{
	static const char *const titles[] = {"from", "to", "case", "verdict"};
	static const struct grid_column columns[] = {
		{"figure",    GRID_FIGURES, 0},
                {"of median", GRID_FIGURES, 0}
        };
	const struct fleet *fleet = yardsticks->fleet;
	struct worst worst = {.count = 0};
	struct fleet_figure figure;
	size_t bad = 0;
	size_t shown = 0;

	for (size_t i = 0; i < fleet->n_pairs; i++)
		for (size_t j = 0; j < 2 * fleet->n_cases; j++) {
			if (!fleet_judged_figure(yardsticks, &fleet->pairs[i], j / 2, (int)(j % 2),
						 &figure) ||
			    isnan(figure.value))
				continue;
			bad += figure.faults != 0;
			add_worst(&worst, &figure);
		}
	grid_open(grid);
	grid_words(grid, titles, 4);
	grid_add_columns(grid, columns, 2);
	for (size_t i = 0; i < worst.count; i++) {
		put_figure(grid, unit, fleet, &worst.list[i]);
		shown += worst.list[i].faults != 0;
	}
	return bad - shown;
}

static void put_rail(struct grid *grid, const struct fleet *fleet, uint32_t node, uint8_t rail)
{
	grid_put(grid, "%s rail %u (%s)", fleet->nodes[node].name, rail,
		 device_of(fleet, node, rail));
}

size_t fleet_list_failed(struct grid *grid, const struct fleet *fleet)
{
	static const char *const titles[] = {"from", "to", "reason"};
	size_t count = 0;

	grid_open(grid);
	grid_words(grid, titles, 3);
	for (size_t i = 0; i < fleet->n_pairs; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i];

		if (pair->status != FLEET_FAILED || count++ >= FAILED_MOST)
			continue;
		put_rail(grid, fleet, pair->from, pair->from_rail);
		put_rail(grid, fleet, pair->to, pair->to_rail);
		grid_put(grid, "%s", pair->error ? pair->error : "-");
	}
	return count > FAILED_MOST ? count - FAILED_MOST : 0;
}

void fleet_list_spreads(struct grid *grid, const struct table_unit *unit, const struct fleet *fleet)
{
	static const char *const titles[] = {"case", "groups"};
	static const struct grid_column columns[] = {
		{"rail",      GRID_FIGURES, 0},
                {"figures",   GRID_FIGURES, 0},
		{"median",    GRID_FIGURES, 0},
                {"deviation", GRID_FIGURES, 0},
		{"least",     GRID_FIGURES, 0},
                {"most",      GRID_FIGURES, 0}
        };

	grid_open(grid);
	grid_words(grid, titles, 2);
	grid_add_columns(grid, columns, 6);
	for (size_t i = 0; i < fleet->n_spreads; i++) {
		const struct fleet_spread *spread = &fleet->spreads[i];
		const struct fleet_case *line = &fleet->cases[spread->number];
		char text[FLEET_TEXT];

		grid_put(grid, "%s", line->id);
		grid_put(grid, spread->is_loopback  ? "loopback"
			       : spread->is_between ? "between"
						    : "within");
		grid_put(grid, "%u", spread->rail);
		grid_put(grid, "%zu", spread->count);
		grid_put(grid, "%s", fleet_value_text(text, line, unit, spread->median));
		if (spread->median > 0)
			grid_put(grid, "%.1f %%", 100 * spread->mad / spread->median);
		else
			grid_put(grid, "-");
		grid_put(grid, "%s", fleet_value_text(text, line, unit, spread->least));
		grid_put(grid, "%s", fleet_value_text(text, line, unit, spread->most));
	}
}
