/* SPDX-License-Identifier: MIT */
#include "bench/fleet/schedule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

const struct option_value schedule_patterns[SCHEDULE_PATTERNS] = {
	{"pairs",       "every pair once, each node in one pair at a time"   },
	{"ring",        "each node with its two neighbors"                   },
	{"bisection",   "each node of the first half with each of the second"},
	{"one-to-many", "the first node sends to all others, one at a time"  },
	{"many-to-one", "all others send to the first node, one at a time"   },
	{"all-to-all",  "every ordered pair; each node sends and receives"   },
	{"self",        "each node alone: loopback between its rails"        },
};

const struct option_value schedule_modes[SCHEDULE_MODES] = {
	{"same",  "each rail with the peer's rail of the same number, all at once"},
	{"one",   "the same, one rail after another"                              },
	{"cross", "each rail with each of the peer's"                             },
};

static size_t find_value(const struct option_value *values, size_t count, const char *text)
{
	size_t i = 0;

	while (i < count && strcmp(values[i].name, text) != 0)
		i++;
	return i;
}

const char *schedule_parse_pattern(const char *text, void *field)
{
	size_t found = find_value(schedule_patterns, SCHEDULE_PATTERNS, text);

	*(enum schedule_pattern *)field = (enum schedule_pattern)found;
	return found < SCHEDULE_PATTERNS
		       ? NULL
		       : "is not pairs, ring, bisection, one-to-many, many-to-one, all-to-all or self";
}

const char *schedule_parse_mode(const char *text, void *field)
{
	size_t found = find_value(schedule_modes, SCHEDULE_MODES, text);

	*(enum schedule_mode *)field = (enum schedule_mode)found;
	return found < SCHEDULE_MODES ? NULL : "is not same, one or cross";
}

const char *schedule_parse_share(const char *text, void *field)
{
	char *end;
	unsigned long share = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || (*end && strcmp(end, "%") != 0) || share < 1 ||
	    share > 100)
		return "is not a percentage from 1% to 100%";
	*(uint32_t *)field = (uint32_t)share;
	return NULL;
}

/* Returns the number of rounds of the whole pattern. */
static uint32_t count_rounds(const struct schedule *schedule)
{
	uint32_t n = schedule->size;

	if (schedule->pattern == SCHEDULE_SELF)
		return 1;
	if (n < 2)
		return 0;
	switch (schedule->pattern) {
	case SCHEDULE_PAIRS:
		return n - 1 + n % 2;
	case SCHEDULE_RING:
		return n == 2 ? 1 : 2 + n % 2;
	case SCHEDULE_BISECTION:
		return n - n / 2;
	case SCHEDULE_ONE_TO_MANY:
	case SCHEDULE_MANY_TO_ONE:
	case SCHEDULE_ALL_TO_ALL:
		return n - 1;
	case SCHEDULE_SELF:
	case SCHEDULE_PATTERNS:
		break;
	}
	return 0;
}

uint32_t schedule_rounds(const struct schedule *schedule)
{
	uint32_t all = count_rounds(schedule);
	uint64_t wanted = all;

	if (schedule->rounds)
		wanted = schedule->rounds;
	else if (schedule->share)
		wanted = ((uint64_t)all * schedule->share + 99) / 100;
	return wanted < all ? (uint32_t)wanted : all;
}

uint64_t schedule_pairs(const struct schedule *schedule, size_t n_rails)
{
	bool is_cross = schedule->mode == SCHEDULE_CROSS && schedule->pattern != SCHEDULE_SELF;
	uint64_t meetings = schedule->size / 2;

	if (schedule->pattern == SCHEDULE_SELF || schedule->pattern == SCHEDULE_ALL_TO_ALL)
		meetings = schedule->size;
	else if (schedule->pattern == SCHEDULE_ONE_TO_MANY ||
		 schedule->pattern == SCHEDULE_MANY_TO_ONE)
		meetings = 1;
	return schedule_rounds(schedule) * meetings * n_rails * (is_cross ? n_rails : 1);
}

/* Returns the round of the whole pattern that runs as this one: random within its stratum. */
static uint32_t choose_round(const struct schedule *schedule, uint32_t round)
{
	uint64_t all = count_rounds(schedule);
	uint64_t chosen = schedule_rounds(schedule);
	uint64_t first = all * round / chosen;
	uint64_t next = all * (round + 1) / chosen;

	return (uint32_t)(first +
			  random_mix(random_mix(schedule->seed + 1) + round) % (next - first));
}

/* Pairs by the circle method: ranks meet in the round that is their sum. */
static bool find_partner(uint32_t n, uint32_t round, uint32_t rank, uint32_t *partner)
{
	uint32_t odd = n - 1 + n % 2;
	uint32_t half = (uint32_t)((uint64_t)round * ((odd + 1) / 2) % odd);

	/* With an even number, the last rank meets the one that would meet itself. */
	if (rank == odd) {
		*partner = half;
		return true;
	}
	*partner = (round + odd - rank % odd) % odd;
	if (*partner != rank)
		return true;
	*partner = odd;
	return n % 2 == 0;
}

/* The edges of a ring, from each rank to the next, have the numbers of their first ranks. */
static bool find_neighbor(uint32_t n, uint32_t round, uint32_t rank, uint32_t *partner)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t edge = i ? rank : (rank + n - 1) % n;
		uint32_t turn = n % 2 && edge == n - 1 ? 2 : edge % 2;

		if (turn != round || (n == 2 && edge))
			continue;
		*partner = edge == rank ? (rank + 1) % n : edge;
		return true;
	}
	return false;
}

static bool find_opposite(uint32_t n, uint32_t round, uint32_t rank, uint32_t *partner)
{
	uint32_t first = n / 2;
	uint32_t second = n - first;

	if (rank < first) {
		*partner = first + (rank + round) % second;
		return true;
	}
	*partner = (rank - first + second - round % second) % second;
	return *partner < first;
}

/*
 * Each rank of a ring drives the next one. In other patterns the client alternates, so that each
 * rank is client about as often as server.
 */
static bool is_client(const struct schedule *schedule, uint32_t round, uint32_t rank,
		      uint32_t partner)
{
	if (rank == partner)
		return true;
	if (schedule->pattern == SCHEDULE_RING && schedule->size > 2)
		return partner == (rank + 1) % schedule->size;
	return (rank < partner) == (round % 2 == 0);
}

static size_t meet_all(uint32_t n, uint32_t round, uint32_t rank, struct schedule_meeting *meetings)
{
	uint32_t distance = round + 1;

	meetings[0] = (struct schedule_meeting){(uint32_t)(((uint64_t)rank + distance) % n), true};
	meetings[1] =
		(struct schedule_meeting){(uint32_t)(((uint64_t)rank + n - distance) % n), false};
	return 2;
}

/* One rank meets all others. */
static size_t meet_star(const struct schedule *schedule, uint32_t round, uint32_t rank,
			struct schedule_meeting *meetings)
{
	bool is_sender = (rank == 0) == (schedule->pattern == SCHEDULE_ONE_TO_MANY);

	if (rank && rank != round + 1)
		return 0;
	meetings[0] = (struct schedule_meeting){rank ? 0 : round + 1, is_sender};
	return 1;
}

size_t schedule_meetings(const struct schedule *schedule, uint32_t round, uint32_t rank,
			 struct schedule_meeting meetings[static SCHEDULE_MEETINGS])
{
	uint32_t n = schedule->size;
	uint32_t partner = rank;
	bool is_met = true;
	uint32_t turn;

	if (round >= schedule_rounds(schedule) || rank >= n)
		return 0;
	turn = choose_round(schedule, round);
	switch (schedule->pattern) {
	case SCHEDULE_PAIRS:
		is_met = find_partner(n, turn, rank, &partner);
		break;
	case SCHEDULE_RING:
		is_met = find_neighbor(n, turn, rank, &partner);
		break;
	case SCHEDULE_BISECTION:
		is_met = find_opposite(n, turn, rank, &partner);
		break;
	case SCHEDULE_ONE_TO_MANY:
	case SCHEDULE_MANY_TO_ONE:
		return meet_star(schedule, turn, rank, meetings);
	case SCHEDULE_ALL_TO_ALL:
		return meet_all(n, turn, rank, meetings);
	case SCHEDULE_SELF:
	case SCHEDULE_PATTERNS:
		break;
	}
	if (!is_met)
		return 0;
	meetings[0] = (struct schedule_meeting){partner, is_client(schedule, turn, rank, partner)};
	return 1;
}

size_t schedule_steps(const struct schedule *schedule, size_t n_from, size_t n_to)
{
	size_t least = n_from < n_to ? n_from : n_to;

	if (!least)
		return 0;
	if (schedule->mode == SCHEDULE_SAME || schedule->pattern == SCHEDULE_SELF)
		return 1;
	if (schedule->mode == SCHEDULE_ONE)
		return least;
	return n_from > n_to ? n_from : n_to;
}

size_t schedule_step(const struct schedule *schedule, size_t n_from, size_t n_to, size_t step,
		     struct schedule_rails *rails)
{
	size_t most = n_from > n_to ? n_from : n_to;
	size_t count = 0;
	/* How much higher the server's rail is; in loopback, each rail sends to the next. */
	size_t shift = schedule->pattern == SCHEDULE_SELF ? 1
		       : schedule->mode == SCHEDULE_CROSS ? step
							  : 0;

	for (size_t i = 0; i < n_from; i++) {
		size_t to = (i + shift) % most;

		if (to >= n_to || (schedule->mode == SCHEDULE_ONE && i != step &&
				   schedule->pattern != SCHEDULE_SELF))
			continue;
		rails[count++] = (struct schedule_rails){(uint8_t)i, (uint8_t)to};
	}
	return count;
}
