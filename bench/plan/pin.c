/* SPDX-License-Identifier: MIT */
#include "bench/plan/pin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/cli/value.h"

/* A range is this bit plus the first CPU, the last CPU and the step, BITS bits each. */
#define RANGE (1ULL << 62)
#define BITS  13
#define MASK  ((1ULL << BITS) - 1)

_Static_assert(CPULIST_MAX == 1U << BITS, "a CPU number fits in BITS bits");

static uint64_t first(uint64_t value)
{
	return value & MASK;
}

static uint64_t last(uint64_t value)
{
	return value & RANGE ? value >> BITS & MASK : first(value);
}

static uint64_t step(uint64_t value)
{
	return value & RANGE ? value >> 2 * BITS & MASK : 1;
}

/* Cuts the text at a character. Returns the text behind it, or NULL. */
static char *cut(char *text, char at)
{
	char *rest = strchr(text, at);

	if (rest)
		*rest++ = '\0';
	return rest;
}

bool pin_parse(const char *text, uint64_t *value)
{
	char copy[32];
	char *high;
	char *by;
	uint64_t from;
	uint64_t to;
	uint64_t in_steps = 1;

	if (strlen(text) >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%s", text);
	high = cut(copy, '-');
	by = high ? cut(high, '+') : NULL;
	if (!high || !value_count(copy, 0, MASK, &from) || !value_count(high, 0, MASK, &to) ||
	    (by && !value_count(by, 1, MASK, &in_steps)) || to < from + in_steps)
		return false;
	to -= (to - from) % in_steps;
	*value = RANGE | in_steps << 2 * BITS | to << BITS | from;
	return true;
}

void pin_print(uint64_t value, char *text, size_t size)
{
	if (!(value & RANGE))
		snprintf(text, size, "%" PRIu64, value);
	else if (step(value) == 1)
		snprintf(text, size, "%" PRIu64 "-%" PRIu64, first(value), last(value));
	else
		snprintf(text, size, "%" PRIu64 "-%" PRIu64 "+%" PRIu64, first(value), last(value),
			 step(value));
}

unsigned int pin_count(uint64_t value)
{
	return (unsigned int)((last(value) - first(value)) / step(value)) + 1;
}

unsigned int pin_cpu(uint64_t value, unsigned int number)
{
	return (unsigned int)(first(value) + number % pin_count(value) * step(value));
}
