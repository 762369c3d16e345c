/* SPDX-License-Identifier: MIT */
/*
 * Who measures with whom: pure functions of the pattern, the round, the rank and the number of
 * ranks, so that each rank computes its own part. Time and memory are constant per round.
 *
 * Rounds by pattern, for n ranks:
 *   pairs: n - 1 for even n; n for odd n, and one rank is idle in each round
 *   ring: 2 for even n, 3 for odd n, 1 for two ranks
 *   bisection: n / 2 for even n; (n + 1) / 2 for odd n, and one rank of the second half, which is
 *     the larger one, is idle in each round
 *   one-to-many, many-to-one, all-to-all: n - 1
 *   self: 1
 * One rank alone has no rounds, except in self.
 */
#ifndef BENCH_FLEET_SCHEDULE_H
#define BENCH_FLEET_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cli/option.h"

enum schedule_pattern {
	SCHEDULE_PAIRS,       /* every pair once, each rank in at most one pair per round */
	SCHEDULE_RING,        /* each rank with its two neighbors */
	SCHEDULE_BISECTION,   /* each rank of the first half with each of the second */
	SCHEDULE_ONE_TO_MANY, /* rank 0 drives all others, one per round */
	SCHEDULE_MANY_TO_ONE, /* all others drive rank 0, one per round */
	SCHEDULE_ALL_TO_ALL,  /* every ordered pair once; each rank drives one and serves one */
	SCHEDULE_SELF,        /* each rank alone: loopback between its rails */
	SCHEDULE_PATTERNS
};

enum schedule_mode {
	SCHEDULE_SAME,  /* rail i to rail i, all rails of the pair at once */
	SCHEDULE_ONE,   /* the same, one rail after another */
	SCHEDULE_CROSS, /* all combinations; in a step, each rail is in at most one */
	SCHEDULE_MODES
};

struct schedule {
	enum schedule_pattern pattern;
	enum schedule_mode mode;
	uint32_t size;   /* ranks */
	uint32_t share;  /* of the rounds, in percent; 0: all */
	uint32_t rounds; /* number of rounds to run; 0: all */
	uint64_t seed;   /* of the choice of rounds, if not all run */
};

/* A rank's part in a round. */
struct schedule_meeting {
	uint32_t peer;
	bool is_client;
};

/* A rank takes part in at most this number of pairs per round: as client and as server. */
#define SCHEDULE_MEETINGS 2

/* Rails of the client and the server, by number. */
struct schedule_rails {
	uint8_t from;
	uint8_t to;
};

extern const struct option_value schedule_patterns[SCHEDULE_PATTERNS];
extern const struct option_value schedule_modes[SCHEDULE_MODES];

/* Option parsers for the members of a struct schedule. */
const char *schedule_parse_pattern(const char *text, void *field);
const char *schedule_parse_mode(const char *text, void *field);
const char *schedule_parse_share(const char *text, void *field);

/* Returns the number of rounds to run. */
uint32_t schedule_rounds(const struct schedule *schedule);

/* Returns the most measurements of a check whose nodes have that many rails, without retests. */
uint64_t schedule_pairs(const struct schedule *schedule, size_t n_rails);

/*
 * Sets the meetings of a rank in a round, counted from 0. Returns their number: 0 if the rank is
 * idle, or if no round or rank has that number. A rank that meets itself measures loopback.
 */
size_t schedule_meetings(const struct schedule *schedule, uint32_t round, uint32_t rank,
			 struct schedule_meeting meetings[static SCHEDULE_MEETINGS]);

/* Returns the number of steps in which a pair of nodes with that many rails is measured. */
size_t schedule_steps(const struct schedule *schedule, size_t n_from, size_t n_to);

/* Sets the rails that are measured at once in a step. Returns their number, at most n_from. */
size_t schedule_step(const struct schedule *schedule, size_t n_from, size_t n_to, size_t step,
		     struct schedule_rails *rails);

#endif
