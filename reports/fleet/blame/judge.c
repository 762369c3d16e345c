/* SPDX-License-Identifier: MIT */
#include "reports/fleet/blame/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/fleet/blame/yardstick.h"

static uint8_t judge_figures(const struct yardsticks *yardsticks, const struct fleet_pair *pair)
{
	uint8_t faults = 0;

	for (size_t i = 0; i < 2 * yardsticks->fleet->n_cases; i++)
		if (!isnan(pair->figures[i]))
			faults |= yardstick_judge(yardsticks, pair, i / 2, (int)(i % 2)).faults;
	return faults;
}

static uint8_t judge(const struct yardsticks *yardsticks, const struct fleet_pair *pair)
{
	uint8_t faults = 0;

	if (pair->status == FLEET_FAILED)
		return FLEET_FAULT_FAILED;
	if (pair->status != FLEET_MEASURED)
		return 0;
	if (pair->figures)
		faults = judge_figures(yardsticks, pair);
	return fleet_counters_rose(pair) ? faults | FLEET_FAULT_COUNTERS : faults;
}

bool fleet_counters_rose(const struct fleet_pair *pair)
{
	return json_object_size(json_object_get(pair->errors, "from")) ||
	       json_object_size(json_object_get(pair->errors, "to"));
}

static int set_spreads(struct fleet *fleet, const struct yardsticks *yardsticks)
{
	size_t most = fleet->n_cases * yardsticks->n_rails * YARDSTICK_COMMON;
	struct fleet_spread *spreads = calloc(most + 1, sizeof(*spreads));
	size_t count = 0;

	if (!spreads)
		return -ENOMEM;
	for (size_t i = 0; i < most; i++) {
		enum yardstick_kind kind = i % YARDSTICK_COMMON;
		size_t rail = i / YARDSTICK_COMMON % yardsticks->n_rails;
		size_t number = i / YARDSTICK_COMMON / yardsticks->n_rails;
		const struct yardstick *from = yardstick_at(yardsticks, number, rail, kind);

		if (from->count)
			spreads[count++] = (struct fleet_spread){
				.number = (uint32_t)number,
				.rail = (uint8_t)rail,
				.is_between = kind == YARDSTICK_BETWEEN,
				.is_loopback = kind == YARDSTICK_SELF,
				.count = from->count,
				.median = from->median,
				.mad = from->mad,
				.least = from->least,
				.most = from->most,
			};
	}
	free(fleet->spreads);
	fleet->spreads = spreads;
	fleet->n_spreads = count;
	return 0;
}

int fleet_judge(struct fleet *fleet, struct error *error)
{
	struct yardsticks yardsticks;
	int code = yardsticks_open(&yardsticks, fleet, error);

	if (code)
		return code;
	for (size_t i = 0; i < fleet->n_pairs; i++)
		fleet->pairs[i].faults = judge(&yardsticks, &fleet->pairs[i]);
	code = set_spreads(fleet, &yardsticks);
	if (code)
		error_set(error, code, "no memory for the spreads of %zu cases", fleet->n_cases);
	yardsticks_close(&yardsticks);
	return code;
}

/* Returns the number of figures that an outlier would be compared with. */
static size_t comparable(const struct fleet *fleet, const struct fleet_pair *pair, size_t number,
			 uint8_t rail)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->n_spreads; i++) {
		const struct fleet_spread *spread = &fleet->spreads[i];

		if (spread->number == number && spread->rail == rail &&
		    spread->is_loopback == (pair->from == pair->to))
			count += spread->count;
	}
	return count;
}

enum verdict fleet_pair_verdict(const struct fleet *fleet, const struct fleet_pair *pair)
{
	enum verdict verdict = VERDICT_INVALID;

	if (pair->faults)
		return VERDICT_WORSE;
	if (pair->status != FLEET_MEASURED || !pair->figures)
		return VERDICT_INVALID;
	for (size_t i = 0; i < 2 * fleet->n_cases; i++) {
		uint8_t rail = i % 2 ? pair->to_rail : pair->from_rail;

		if (isnan(pair->figures[i]))
			continue;
		if (!isnan(yardstick_floor(fleet, pair, i / 2)) ||
		    comparable(fleet, pair, i / 2, rail) >= FLEET_OUTLIER_LEAST)
			return VERDICT_SAME;
		verdict = VERDICT_UNCLEAR;
	}
	return verdict;
}
