/* SPDX-License-Identifier: MIT */
/*
 * The client side of all latency loops: one round at a time. Each round gives one sample, from the
 * end of the previous round to its own end. The sample is recorded while the next message is in
 * flight, so that recording does not add to the measurement. If nothing is in flight (the post was
 * the whole operation), and at the end of a turn, samples are recorded between turns. Everything
 * else that is not needed in each round also happens between turns. Work between turns is in no
 * sample; payload verification between rounds is. A shape defines what a round does.
 */
#ifndef BENCH_LOOP_ROUND_H
#define BENCH_LOOP_ROUND_H

#include "bench/loop/loop.h"

struct round_kind;

/* Most rounds in a turn. Each round stores one more word. */
#define ROUND_MOST TIMELINE_ROUNDS

/*
 * Target length of a turn. The alarm is checked between turns; a longer turn is followed by a
 * shorter one.
 */
#define ROUND_TURN_NS NS_PER_MS

struct round {
	const struct loop_run *run;
	struct flow *flow; /* the lane's first, cached */
	bool took;         /* this round succeeded; it may fail if messages can be lost */
	size_t n;          /* successful rounds of this turn */
	size_t recorded;   /* rounds that are in the histogram */
	uint64_t ticks[ROUND_MOST + 1]; /* start of the turn, and end of each round */
};

/* Runs one round. Calls round_record while its message is in flight. */
typedef int round_function(struct lane *lane, const struct round_kind kind, uint64_t number,
			   struct round *round, struct error *error);

/*
 * Properties of a round. All members are constants in plain rounds. If rounds walk or are
 * verified, path, is_verified and walks are run-time values.
 */
struct round_kind {
	round_function *once;
	enum post_operation operation;
	enum post_path path;
	enum loop_notice notice;
	bool is_asked;    /* the message replies to one that carries a key, which it invalidates */
	bool rings;       /* a message is a series of writes up to a doorbell */
	bool is_verified; /* sent and received payloads */
	bool walks;       /* each message uses another address */
	bool is_split;    /* record the parts of each round */
};

/* Posts the operation; one in signal_every is signaled. */
static ALWAYS_INLINE int round_post(struct lane *lane, const struct round_kind kind,
				    struct error *error)
{
	int signaled = loop_next_signal(lane, error);

	if (unlikely(signaled < 0))
		return signaled;
	return loop_post_flow(&lane->flows[0], kind.operation, kind.path, kind.notice,
			      (unsigned int)signaled, error);
}

/* Records at most one sample: more could take longer than the message is in flight. */
static ALWAYS_INLINE void round_record(struct round *round)
{
	size_t i = round->recorded;

	if (unlikely(i == round->n))
		return;
	hist_add(round->run->hist,
		 clock_to_ns(round->ticks[i + 1] - round->ticks[i], round->run->mult));
	round->recorded++;
}

/* Stores the samples of a turn in order. */
static inline void round_store(const struct round *round)
{
	for (size_t i = 0; i < round->n; i++)
		samples_add(round->run->samples,
			    clock_to_ns(round->ticks[i + 1] - round->ticks[i], round->run->mult));
}

/* Runs up to `most` rounds. Stops early if one fails to complete or the time is up. */
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

/* Returns the size of the next turn, after one of up to `most` rounds. */
static inline uint64_t round_most(const struct round *round, uint64_t most)
{
	uint64_t ticks = round->ticks[round->n] - round->ticks[0];

	if (clock_to_ns(ticks, round->run->mult) < ROUND_TURN_NS)
		return most < ROUND_MOST ? 2 * most : most;
	return most > 1 ? most / 2 : most;
}

/* Records the end of the post, and the completion of this round, if its parts are wanted. */
static ALWAYS_INLINE void round_posted(const struct round *round, const struct round_kind kind)
{
	if (kind.is_split)
		timeline_post(round->run->timeline, round->n);
}

static ALWAYS_INLINE void round_completed(const struct round *round, const struct round_kind kind,
					  const struct lane *lane)
{
	if (kind.is_split)
		timeline_complete(round->run->timeline, round->n, &lane->endpoint.completion);
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
	if (kind.is_split)
		code = timeline_begin(run->timeline, error);
	while (!code && left) {
		/* On a fast device no poll is ever empty, so check the alarm here. */
		if (unlikely(alarm_raised(&lane->endpoint.alarm)))
			return alarm_reason(&lane->endpoint.alarm, error);
		round.ticks[0] = kind.is_verified && round.took ? round.ticks[round.n]
								: clock_ticks(run->is_counter);
		if (unlikely(round.ticks[0] >= run->until))
			break;
		code = round_turn(lane, &round, most < left ? most : left, kind, error);
		while (round.recorded < round.n)
			round_record(&round);
		if (unlikely(run->samples))
			round_store(&round);
		if (kind.is_split && likely(!code))
			code = timeline_turn(run->timeline, round.ticks, round.n, error);
		left -= round.n;
		lane->result.messages += round.n;
		most = round_most(&round, most);
	}
	return code;
}

/* A shape: the loop of the client, and of a server that replies. */
typedef int round_shape(struct lane *lane, const struct loop_run *run, const struct round_kind kind,
			struct error *error);

/*
 * Runs a shape: one instance of it for plain rounds on each path, one for rounds whose parts are
 * recorded, and one for all other rounds.
 */
static ALWAYS_INLINE int round_run(round_shape *shape, struct lane *lane,
				   const struct loop_run *run, struct round_kind kind,
				   struct error *error)
{
	if (run->timeline) {
		kind.path = lane->path;
		kind.walks = lane->settings.walks;
		kind.is_split = true;
		return shape(lane, run, kind, error);
	}
	if (lane->settings.walks || lane->verify.every) {
		kind.path = lane->path;
		kind.is_verified = lane->verify.every;
		kind.walks = lane->settings.walks;
		return shape(lane, run, kind, error);
	}
	return LOOP_ON_PATH(lane, kind, shape(lane, run, kind, error));
}

/* Posts writes up to and including the one that rings, which is signaled. */
static ALWAYS_INLINE int round_ring(struct lane *lane, const struct round_kind kind,
				    struct error *error)
{
	struct flow *flow = &lane->flows[0];
	int signaled = 0;

	while (!signaled) {
		if (kind.walks)
			lane_walk(flow, &flow->work);
		signaled = loop_next_signal(lane, error);
		if (unlikely(signaled < 0 ||
			     loop_post_ringing(flow, kind.path, (unsigned int)signaled, error)))
			return error->code;
	}
	return 0;
}

#endif
