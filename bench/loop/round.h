/* SPDX-License-Identifier: MIT */
/*
 * One at a time: what all latency loops are at the end that drives. Each takes one
 * sample for each round, from the end of one to the end of the next. It is recorded while
 * the next message is under way, so that this adds nothing to what is measured; where none
 * is, as a post was the whole operation, and that of the last round of a turn, between two
 * turns. So is done all that need not be done for each round. What is done there is in no
 * sample; the checks of the payload are, which are between rounds. A shape says what one is.
 */
#ifndef BENCH_LOOP_ROUND_H
#define BENCH_LOOP_ROUND_H

#include "bench/loop/loop.h"

struct round_kind;

/* Of a turn, at most: what is written for each is a word behind the one before. */
#define ROUND_MOST 64

/* The alarm is looked at between turns: one that took longer is followed by a shorter one. */
#define ROUND_TURN_NS NS_PER_MS

struct round {
	const struct loop_run *run;
	struct flow *flow;              /* the lane's first: a load less in each */
	bool took;                      /* this one has: where messages may be lost, it may not */
	size_t n;                       /* of this turn, that have, */
	size_t recorded;                /* of which so many are in the histogram */
	uint64_t ticks[ROUND_MOST + 1]; /* when it began, and when each of them was over */
};

/* One round, of that number; where its message is under way it calls round_record. */
typedef int round_function(struct lane *lane, const struct round_kind kind, uint64_t number,
			   struct round *round, struct error *error);

/*
 * What a round does. All members are constants of plain rounds. Where rounds walk or are verified,
 * path, is_verified and walks are run-time values.
 */
struct round_kind {
	round_function *once;
	enum post_operation operation;
	enum post_path path;
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
	size_t i = round->recorded;

	if (unlikely(i == round->n))
		return;
	hist_add(round->run->hist,
		 clock_to_ns(round->ticks[i + 1] - round->ticks[i], round->run->mult));
	round->recorded++;
}

/* Rounds until there are so many, one has not taken, or the time is over. */
static ALWAYS_INLINE int round_turn(struct lane *lane, struct round *round, uint64_t most,
				    const struct round_kind kind, struct error *error)
{
	bool is_counter = round->run->is_counter;
	uint64_t until = round->run->until;
	uint64_t now;

	round->n = 0;
	round->recorded = 0;
	do {
		int code;

		round->took = false;
		code = kind.once(lane, kind, lane->result.messages + round->n, round, error);
		if (unlikely(code))
			return code;
		if (unlikely(!round->took))
			return 0;
		now = clock_ticks(is_counter);
		round->ticks[++round->n] = now;
		code = kind.is_verified ? loop_check(lane, error) : 0;
		if (unlikely(code))
			return code;
	} while (now < until && round->n < most);
	return 0;
}

/* How many the next turn has, after one of so many at most. */
static inline uint64_t round_most(const struct round *round, uint64_t most)
{
	uint64_t ticks = round->ticks[round->n] - round->ticks[0];

	if (clock_to_ns(ticks, round->run->mult) < ROUND_TURN_NS)
		return most < ROUND_MOST ? 2 * most : most;
	return most > 1 ? most / 2 : most;
}

static ALWAYS_INLINE int round_each(struct lane *lane, const struct loop_run *run,
				    const struct round_kind kind, struct error *error)
{
	struct round round;
	uint64_t left = run->messages;
	uint64_t most = 1;
	int code = 0;

	round.run = run;
	round.flow = &lane->flows[0];
	round.took = false;
	while (!code && left) {
		/* Where the device is fast no poll is ever empty, and nobody else would look. */
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		round.ticks[0] = kind.is_verified && round.took ? round.ticks[round.n]
								: clock_ticks(run->is_counter);
		if (unlikely(round.ticks[0] >= run->until))
			break;
		code = round_turn(lane, &round, most < left ? most : left, kind, error);
		while (round.recorded < round.n)
			round_record(&round);
		left -= round.n;
		lane->result.messages += round.n;
		most = round_most(&round, most);
	}
	return code;
}

/* A shape: the loop of the client, and of the server where it answers. */
typedef int round_shape(struct lane *lane, const struct loop_run *run, const struct round_kind kind,
			struct error *error);

/* Runs a shape: one instance of it for plain rounds on each path, and one for all other rounds. */
static ALWAYS_INLINE int round_run(round_shape *shape, struct lane *lane,
				   const struct loop_run *run, struct round_kind kind,
				   struct error *error)
{
	if (lane->settings.walks || lane->verify.every) {
		kind.path = lane->path;
		kind.is_verified = lane->verify.every;
		kind.walks = lane->settings.walks;
		return shape(lane, run, kind, error);
	}
	return LOOP_ON_PATH(lane, kind, shape(lane, run, kind, error));
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
