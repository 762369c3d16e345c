/* SPDX-License-Identifier: MIT */
#include "reports/fleet/blame/reason.h"

#include <math.h>
#include <stdio.h>

#include "reports/result/digits.h"
#include "reports/stats/median.h"

/* A figure and what to compare it with. */
struct contrast {
	const struct suspects *suspects;
	const struct fleet_pair *pair;
	size_t figure;
	double value;
	const char *side;
};

static void print_figure(const struct fleet_case *line, double figure, char *text, size_t size)
{
	char digits[DIGITS_TEXT];

	if (line->is_latency)
		digits_print(digits, figure / 1e3, DIGITS_US);
	else
		digits_print(digits, figure * 8 / 1e9, DIGITS_AMOUNT);
	snprintf(text, size, "%.20s %s", digits, line->is_latency ? "us" : "Gb/s");
}

/* Prints "41.2 Gb/s as receiver, median 97.5 Gb/s". */
static void print_contrast(const struct contrast *with, struct fleet_blame *blame)
{
	const struct yardsticks *yardsticks = &with->suspects->yardsticks;
	const struct fleet *fleet = with->suspects->fleet;
	size_t number = with->figure / 2;
	int direction = (int)(with->figure % 2);
	const struct fleet_case *line = &fleet->cases[number];
	double expected = yardstick_of(yardsticks, with->pair, number, direction)->median;
	double floor = yardstick_floor(fleet, with->pair, number);
	uint8_t faults = yardstick_judge(yardsticks, with->pair, number, direction).faults;
	char found[32];
	char median[32];
	char worst[32] = "";

	print_figure(line, with->value, found, sizeof(found));
	print_figure(line, expected, median, sizeof(median));
	if (faults & FLEET_FAULT_FLOOR && !(faults & FLEET_FAULT_OUTLIER))
		print_figure(line, floor, worst, sizeof(worst));
	snprintf(blame->reason, REASON_MOST, "%s%s, median %s%s%s", found, with->side, median,
		 *worst ? ", floor " : "", worst);
}

/* Prints "error counters rose: symbol_error, ...". */
static void print_counters(const struct fleet_pair *pair, struct fleet_blame *blame)
{
	char *text = blame->reason;
	size_t used = (size_t)snprintf(text, REASON_MOST, "error counters rose");
	const char *separator = ": ";
	const char *end;
	const char *name;
	json_t *names;
	json_t *value;

	json_object_foreach(pair->errors, end, names)
	{
		json_object_foreach(names, name, value)
		{
			if (used < REASON_MOST)
				used += (size_t)snprintf(text + used, REASON_MOST - used, "%s%s",
							 separator, name);
			separator = ", ";
		}
	}
}

static enum suspect_state state_of(const struct reason *reason, uint64_t meet)
{
	return suspects_state(reason->suspects, reason->rail, meet, reason->channel);
}

/* Returns the figure's number in the pair. */
static size_t figure_of(const struct reason *reason, uint64_t meet)
{
	return suspects_figure(reason->suspects, reason->rail, meet, reason->channel);
}

/* Returns the first measurement that is bad, else the first that is low. */
static const uint64_t *first_bad(const struct reason *reason)
{
	const uint64_t *low = NULL;

	for (size_t i = 0; i < reason->count; i++) {
		enum suspect_state state = state_of(reason, reason->meets[i]);

		if (state == SUSPECT_BAD)
			return &reason->meets[i];
		if (state == SUSPECT_LOW && !low)
			low = &reason->meets[i];
	}
	return low;
}

/* Returns the median of the figures that are bad or low. */
static double median_bad(const struct reason *reason)
{
	size_t found = 0;

	for (size_t i = 0; i < reason->count; i++)
		if (state_of(reason, reason->meets[i]) >= SUSPECT_LOW)
			reason->values[found++] =
				suspects_pair(reason->suspects, reason->meets[i])
					->figures[figure_of(reason, reason->meets[i])];
	median_sort(reason->values, found);
	return found ? median_of_sorted(reason->values, found) : (double)NAN;
}

/* Returns " as sender" or " as receiver" if the rail is bad in that direction only. */
static const char *side_of(const struct reason *reason)
{
	size_t opposite = suspects_opposite(reason->suspects, reason->channel);
	struct suspect_tally other;

	if (opposite == reason->channel || !reason->with_side)
		return "";
	other = suspects_tally(reason->suspects, reason->rail, opposite);
	if (!other.good || suspects_explains(reason->suspects, opposite, &other))
		return "";
	return (reason->channel - SUSPECT_CASES) % 2 ? " as receiver" : " as sender";
}

void reason_print(const struct reason *reason, struct fleet_blame *blame)
{
	const uint64_t *bad = first_bad(reason);
	const struct fleet_pair *pair;

	blame->reason[0] = '\0';
	if (!bad)
		return;
	pair = suspects_pair(reason->suspects, *bad);
	if (reason->channel == SUSPECT_FAILURES)
		snprintf(blame->reason, REASON_MOST, "%s", pair->error ? pair->error : "failed");
	else if (reason->channel == SUSPECT_COUNTERS)
		print_counters(pair, blame);
	else
		print_contrast(&(struct contrast){.suspects = reason->suspects,
						  .pair = pair,
						  .figure = figure_of(reason, *bad),
						  .value = median_bad(reason),
						  .side = side_of(reason)},
			       blame);
}

void reason_print_loopback(const struct suspects *suspects, const struct fleet_pair *pair,
			   struct fleet_blame *blame)
{
	if (pair->status == FLEET_FAILED)
		snprintf(blame->reason, REASON_MOST, "loopback: %s",
			 pair->error ? pair->error : "failed");
	else if (pair->faults & FLEET_FAULT_COUNTERS)
		print_counters(pair, blame);
	for (size_t i = 0; pair->figures && i < 2 * suspects->fleet->n_cases; i++)
		if (!isnan(pair->figures[i]) &&
		    yardstick_judge(&suspects->yardsticks, pair, i / 2, (int)(i % 2)).faults)
			print_contrast(&(struct contrast){.suspects = suspects,
							  .pair = pair,
							  .figure = i,
							  .value = pair->figures[i],
							  .side = " in loopback"},
				       blame);
}
