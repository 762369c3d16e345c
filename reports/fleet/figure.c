/* SPDX-License-Identifier: MIT */
#include "reports/fleet/figure.h"

#include <math.h>
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
