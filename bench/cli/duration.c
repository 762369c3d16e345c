/* SPDX-License-Identifier: MIT */
#include "bench/cli/duration.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/clock.h"

/* The ratio of real to estimated time starts as if this much had taken as long as estimated. */
#define PRIOR_NS (2.0 * (double)NS_PER_S)

/* An estimate that grows beyond twice the last one and this much was wrong: show the new one. */
#define WRONG_NS (10.0 * (double)NS_PER_S)

#define GROWTH_NS ((double)NS_PER_S)

static void print_units(char text[static DURATION_TEXT], uint64_t amount, unsigned int per_unit,
			const char *unit, const char *part)
{
	uint64_t rest = amount % per_unit;

	if (rest)
		snprintf(text, DURATION_TEXT, "%" PRIu64 " %s %" PRIu64 " %s", amount / per_unit,
			 unit, rest, part);
	else
		snprintf(text, DURATION_TEXT, "%" PRIu64 " %s", amount / per_unit, unit);
}

void duration_words(char text[static DURATION_TEXT], uint64_t duration_ns)
{
	uint64_t seconds = duration_ns / NS_PER_S + (duration_ns % NS_PER_S >= NS_PER_S / 2);

	if (seconds < 60)
		snprintf(text, DURATION_TEXT, "%" PRIu64 " s", seconds);
	else if (seconds < 3600)
		print_units(text, seconds, 60, "min", "s");
	else
		print_units(text, (seconds + 30) / 60, 60, "h", "min");
}

uint64_t duration_left_update(struct duration_left *left, uint64_t now_ns, uint64_t done_ns,
			      uint64_t estimate_ns)
{
	double rest_ns = done_ns < estimate_ns ? (double)(estimate_ns - done_ns) : 0;
	double new_ns;

	if (!left->has_begun)
		*left = (struct duration_left){true, now_ns, rest_ns};
	new_ns = rest_ns * ((double)(now_ns - left->start_ns) + PRIOR_NS) /
		 ((double)done_ns + PRIOR_NS);
	if (new_ns > left->left_ns + GROWTH_NS && new_ns <= 2 * left->left_ns + WRONG_NS)
		new_ns = left->left_ns + GROWTH_NS;
	left->left_ns = new_ns;
	return (uint64_t)new_ns;
}
