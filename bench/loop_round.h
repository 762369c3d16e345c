/* SPDX-License-Identifier: MIT */
/*
 * One at a time: what all latency loops are at the end that drives. Each takes one
 * sample for each round, from the end of one to the end of the next, so that the samples
 * add up to all the time there was. A shape says what a round is.
 */
#ifndef BENCH_LOOP_ROUND_H
#define BENCH_LOOP_ROUND_H

#include "bench/loop.h"

struct round_kind;

/* One round. *took: it has; where messages may be lost, number may be. */
typedef int round_function(struct lane *lane, const struct round_kind kind, uint64_t number,
			   bool *took, struct error *error);

/* What makes another loop of it. Constants at the call. */
struct round_kind {
	round_function *once;
	enum post_operation operation;
	enum post_path path;
	bool is_counter;
	bool is_notified; /* the notification of the specification is behind each message */
	bool is_verified; /* the payloads that go, and those that come */
};

/* Posts the operation, one in signal_every signalled. */
static ALWAYS_INLINE int round_post(struct lane *lane, const struct round_kind kind,
				    struct error *error)
{
	int signalled = loop_next_signal(lane, error);

	if (unlikely(signalled < 0))
		return signalled;
	return loop_post_flow(&lane->flows[0], kind.operation, kind.path, kind.is_notified,
			      (unsigned int)signalled, error);
}

static ALWAYS_INLINE int round_each(struct lane *lane, const struct loop_run *run,
				    const struct round_kind kind, struct error *error)
{
	uint64_t last = clock_ticks(kind.is_counter);
	uint64_t count = 0;
	int code = 0;

	while (count < run->messages && last < run->until) {
		uint64_t now;
		bool took = false;

		code = kind.once(lane, kind, lane->messages + count, &took, error);
		if (unlikely(code))
			break;
		now = clock_ticks(kind.is_counter);
		if (likely(took)) {
			hist_add(run->hist, clock_to_ns(now - last, run->mult));
			count++;
		}
		last = now;
		if (kind.is_verified && likely(took)) {
			code = loop_check(lane, error);
			if (unlikely(code))
				break;
		}
	}
	lane->messages += count;
	return code;
}

#endif
