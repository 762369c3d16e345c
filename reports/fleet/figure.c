/* SPDX-License-Identifier: MIT */
#include "reports/fleet/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/html.h"

#define NS_PER_US 1000.0

bool fleet_is_between(const struct fleet *fleet, uint32_t from, uint32_t to)
{
	return strcmp(fleet->nodes[from].group, fleet->nodes[to].group) != 0;
}

bool fleet_figure(const struct fleet *fleet, const struct fleet_pair *pair, size_t number,
		  int direction, struct fleet_figure *figure)
{
	if (direction && !fleet->cases[number].is_both_ways)
		return false;
	*figure = (struct fleet_figure){
		.from = direction ? pair->to : pair->from,
		.to = direction ? pair->from : pair->to,
		.view = {.number = (uint32_t)number,
			 .from_rail = direction ? pair->to_rail : pair->from_rail,
			 .to_rail = direction ? pair->from_rail : pair->to_rail},
		.value = (double)NAN,
		.share = (double)NAN,
		.faults = FLEET_FAULT_FAILED,
	};
	if (pair->status == FLEET_FAILED)
		return true;
	if (pair->status != FLEET_MEASURED || !pair->figures ||
	    isnan(pair->figures[2 * number + (size_t)direction]))
		return false;
	figure->value = pair->figures[2 * number + (size_t)direction];
	figure->faults = 0;
	return true;
}

bool fleet_judged_figure(const struct yardsticks *yardsticks, const struct fleet_pair *pair,
			 size_t number, int direction, struct fleet_figure *figure)
{
	const struct fleet *fleet = yardsticks->fleet;
	double median;

	if (!fleet_figure(fleet, pair, number, direction, figure))
		return false;
	if (isnan(figure->value))
		return true;
	median = yardstick_of(yardsticks, pair, number, direction)->median;
	if (!fleet->cases[number].is_latency && !(figure->value > 0))
		figure->share = 0;
	else if (median > 0 && figure->value > 0)
		figure->share = fleet->cases[number].is_latency ? median / figure->value
								: figure->value / median;
	figure->faults = yardstick_judge(yardsticks, pair, number, direction).faults |
			 (pair->faults & FLEET_FAULT_COUNTERS);
	return true;
}

/* Indexed by case and rails. */
static size_t slot_of(const struct fleet_view *view)
{
	return ((size_t)view->number * FLEET_MOST_RAILS + view->from_rail) * FLEET_MOST_RAILS +
	       view->to_rail;
}

static struct fleet_view *collect(const bool *seen, size_t slots, size_t *count)
{
	struct fleet_view *views = NULL;

	for (size_t i = 0; i < slots; i++)
		*count += seen[i];
	if (*count)
		views = calloc(*count, sizeof(*views));
	*count = views ? *count : 0;
	for (size_t i = 0, at = 0; at < *count; i++)
		if (seen[i])
			views[at++] = (struct fleet_view){
				.number = (uint32_t)(i / FLEET_MOST_RAILS / FLEET_MOST_RAILS),
				.from_rail = i / FLEET_MOST_RAILS % FLEET_MOST_RAILS,
				.to_rail = i % FLEET_MOST_RAILS,
			};
	return views;
}

struct fleet_view *fleet_views(const struct fleet *fleet, size_t *count)
{
	size_t slots = fleet->n_cases * FLEET_MOST_RAILS * FLEET_MOST_RAILS;
	bool *seen = calloc(slots + 1, sizeof(*seen));
	struct fleet_view *views;
	struct fleet_figure figure;

	*count = 0;
	if (!seen)
		return NULL;
	for (size_t i = 0; i < fleet->n_pairs; i++)
		for (size_t j = 0; j < 2 * fleet->n_cases; j++)
			if (fleet_figure(fleet, &fleet->pairs[i], j / 2, (int)(j % 2), &figure))
				seen[slot_of(&figure.view)] = true;
	views = collect(seen, slots, count);
	free(seen);
	return views;
}

const char *fleet_unit_name(const struct fleet_case *line, const struct table_unit *unit)
{
	return line->is_latency ? "us" : table_unit_name(unit);
}

double fleet_unit(const struct fleet_case *line, const struct table_unit *unit)
{
	return line->is_latency ? NS_PER_US : table_unit_bytes(unit);
}

const char *fleet_value_text(char text[static FLEET_TEXT], const struct fleet_case *line,
			     const struct table_unit *unit, double value)
{
	char number[HTML_NUMBER];

	if (isnan(value)) {
		snprintf(text, FLEET_TEXT, "-");
		return text;
	}
	html_short(number, value / fleet_unit(line, unit), 4);
	snprintf(text, FLEET_TEXT, "%s %s", number, fleet_unit_name(line, unit));
	return text;
}

void fleet_view_text(char text[static FLEET_VIEW_TEXT], const struct fleet *fleet,
		     const struct fleet_view *view)
{
	int length = snprintf(text, FLEET_VIEW_TEXT, "%s, rail %u", fleet->cases[view->number].id,
			      view->from_rail);

	if (view->from_rail != view->to_rail && length < FLEET_VIEW_TEXT)
		snprintf(text + length, FLEET_VIEW_TEXT - (size_t)length, " to rail %u",
			 view->to_rail);
}
