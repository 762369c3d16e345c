/* SPDX-License-Identifier: MIT */
/*
 * One at a time: what all latency loops are at the end that drives. Each takes one
 * sample for each round, from the end of one to the end of the next. It is recorded while
 * the next message is under way, so that this adds nothing to what is measured; where none
 * is, as a post was the whole operation, many are recorded at once between two rounds. The
 * samples add up to all the time there was, but for that. A shape says what a round is.
 */
#ifndef BENCH_LOOP_ROUND_H
#define BENCH_LOOP_ROUND_H

#include "bench/loop.h"

struct round_kind;

/* So many samples wait at most: what is written for each is a word behind the one before. */
#define ROUND_OWED 64

struct round {
	const struct loop_run *run;
	bool took; /* this one has: where messages may be lost, it may not */
	unsigned int n_owed;
	uint64_t owed[ROUND_OWED]; /* ticks of those before, not recorded yet */
};

/* One round, of that number; where its message is under way it calls round_record. */
typedef int round_function(struct lane *lane, const struct round_kind kind, uint64_t number,
			   struct round *round, struct error *error);

/* What makes another loop of it. Constants at the call. */
struct round_kind {
	round_function *once;
	enum post_operation operation;
	enum post_path path;
	bool is_counter;
	bool is_notified; /* the notification of the specification is behind each message */
	bool rings;       /* a message is as many writes as there are to a doorbell */
	bool is_verified; /* the payloads that go, and those that come */
	bool walks;       /* each has another place than the one before */
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

/* One: a message may be under way for no longer than that takes. */
static ALWAYS_INLINE void round_record(struct round *round)
{
	if (likely(round->n_owed))
		hist_add(round->run->hist,
			 clock_to_ns(round->owed[--round->n_owed], round->run->mult));
}

static ALWAYS_INLINE void round_record_all(struct round *round)
{
	while (round->n_owed)
		round_record(round);
}

/* A round took so long, until now. Returns when the next one begins. */
static ALWAYS_INLINE uint64_t round_owe(struct round *round, uint64_t ticks, uint64_t now,
					bool is_counter)
{
	round->owed[round->n_owed++] = ticks;
	if (likely(round->n_owed < ROUND_OWED))
		return now;
	round_record_all(round);
	return clock_ticks(is_counter);
}

static ALWAYS_INLINE int round_each(struct lane *lane, const struct loop_run *run,
				    const struct round_kind kind, struct error *error)
{
	uint64_t last = clock_ticks(kind.is_counter);
	struct round round;
	uint64_t count = 0;
	int code = 0;

	round.run = run;
	round.n_owed = 0;
	while (count < run->messages && last < run->until) {
		uint64_t now;

		round.took = false;
		code = kind.once(lane, kind, lane->messages + count, &round, error);
		if (unlikely(code))
			break;
		now = clock_ticks(kind.is_counter);
		if (likely(round.took)) {
			count++;
			last = round_owe(&round, now - last, now, kind.is_counter);
		} else {
			last = now;
		}
		if (kind.is_verified && likely(round.took)) {
			code = loop_check(lane, error);
			if (unlikely(code))
				break;
		}
	}
	round_record_all(&round);
	lane->messages += count;
	return code;
}

/* All writes up to the one that rings, which is the signalled one. */
static ALWAYS_INLINE int round_ring(struct lane *lane, const struct round_kind kind,
				    struct error *error)
{
	struct flow *flow = &lane->flows[0];
	int signalled = 0;

	while (!signalled) {
		if (kind.walks)
			lane_walk(flow, &flow->work);
		signalled = loop_next_signal(lane, error);
		if (unlikely(signalled < 0 ||
			     loop_post_ringing(flow, kind.path, (unsigned int)signalled, error)))
			return error->code;
	}
	return 0;
}

#endif
