/* SPDX-License-Identifier: MIT */
/*
 * The moments of each round of a turn, for --breakdown: the end of the post, the device's timestamp
 * of the completion, and the last wake-up. The device's clock is read between turns, so that each
 * timestamp lies between two readings at most a turn apart.
 */
#ifndef BENCH_LOOP_TIMELINE_H
#define BENCH_LOOP_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/clock.h"
#include "core/verbs/completion.h"
#include "core/verbs/device_clock.h"
#include "reports/result/breakdown.h"

/* Most rounds in a turn. */
#define TIMELINE_ROUNDS 64

struct timeline {
	struct device_clock clock;
	struct device_clock_reading first; /* of all since timeline_clear */
	struct device_clock_reading last;
	bool is_begun;
	uint64_t mult; /* nanoseconds per tick, as in struct clock */
	uint64_t posted[TIMELINE_ROUNDS];
	uint64_t stamps[TIMELINE_ROUNDS];
	uint64_t woken[TIMELINE_ROUNDS];
	struct breakdown seen;
};

int timeline_open(struct timeline *timeline, struct ibv_context *verbs, const struct clock *clock,
		  struct error *error);

void timeline_clear(struct timeline *timeline);

/* Reads the clocks before the first turn of a loop. */
int timeline_begin(struct timeline *timeline, struct error *error);

/* Records the end of the post of round i of a turn, and its completion. */
static ALWAYS_INLINE void timeline_post(struct timeline *timeline, size_t i)
{
	timeline->posted[i] = clock_ticks(timeline->clock.is_counter);
}

static ALWAYS_INLINE void timeline_complete(struct timeline *timeline, size_t i,
					    const struct completion *completion)
{
	timeline->stamps[i] = completion->stamp;
	timeline->woken[i] = completion->woken;
}

/*
 * Reads the clocks and adds the parts of a turn of n rounds. Round i lasted from ticks[i] to
 * ticks[i + 1].
 */
int timeline_turn(struct timeline *timeline, const uint64_t *ticks, size_t n, struct error *error);

#endif
