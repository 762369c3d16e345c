/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong in memory: each side writes into the peer's memory and polls its own until the last
 * byte is the number of this round. A WRITE gives the target no other sign. The last byte is
 * assumed to be placed last, as devices do for ordinary registrations. Local completions are not
 * waited for.
 */
#ifndef BENCH_LOOP_POLL_MEMORY_H
#define BENCH_LOOP_POLL_MEMORY_H

#include "bench/loop/round.h"

/*
 * Call when the byte has not changed for a while: checks for failures. Returns 0 to go on;
 * -ETIMEDOUT leaves the error unset.
 */
COLD int poll_memory_look(struct lane *lane, uint64_t *since_ns, bool is_responder,
			  struct error *error);

/* Polls of memory between two such checks: some microseconds. */
#define POLL_MEMORY_SPINS 4096

/* Waits until the byte is `round`, or with is_other until it differs. */
static ALWAYS_INLINE int poll_memory_await(struct lane *lane, uint8_t round, bool is_other,
					   bool is_responder, struct error *error)
{
	uint64_t since_ns = 0;

	for (;;) {
		int code;

		for (int i = 0; i < POLL_MEMORY_SPINS; i++) {
			uint8_t seen = memory_peek(&lane->endpoint.memory, lane->last_received);

			if ((seen == round) != is_other)
				return 0;
		}
		code = poll_memory_look(lane, &since_ns, is_responder, error);
		if (unlikely(code))
			return code;
	}
}

/*
 * Moves to the next place. Returns the byte that marks this round: the number of full walks, plus
 * one. Until then, the place holds the byte of the previous walk. The sending buffer is not moved.
 */
static ALWAYS_INLINE uint8_t poll_memory_walk(struct lane *lane)
{
	struct flow *flow = &lane->flows[0];
	uint64_t offset = address_walk_next(&flow->walk);

	flow->work.remote = flow->remote_base + offset;
	lane->last_received = flow->local_base - lane->endpoint.memory.address + offset +
			      lane->settings.parameters->size - 1;
	return (uint8_t)((lane->rounds++ >> flow->walk.bits) + 1);
}

static ALWAYS_INLINE int poll_memory_once(struct lane *lane, const struct round_kind kind,
					  uint64_t number, struct round *round, struct error *error)
{
	const struct memory *memory = &lane->endpoint.memory;
	uint8_t next = kind.walks ? poll_memory_walk(lane)
				  : (uint8_t)(memory_peek(memory, lane->last_sent) + 1);
	int code;

	if (kind.is_verified)
		loop_fill(lane);
	memory_poke(memory, lane->last_sent, next);
	if (unlikely(round_post(lane, kind, error)))
		return error->code;
	round_record(round);
	code = poll_memory_await(lane, next, false, false, error);
	round->took = likely(!code);
	return unlikely(code) ? lane_missed(lane, number, code, error) : 0;
}

static ALWAYS_INLINE int poll_memory_respond(struct lane *lane, const struct round_kind kind,
					     struct error *error)
{
	uint8_t round = 0;

	for (;;) {
		if (kind.walks)
			round = poll_memory_walk(lane);
		/* Walks are only used where nothing is lost. */
		if (unlikely(poll_memory_await(lane, round, !kind.walks, true, error)))
			return error->code;
		/* Skip the rounds that were lost. */
		round = memory_peek(&lane->endpoint.memory, lane->last_received);
		lane_think(lane);
		if (kind.is_verified) {
			loop_find(lane);
			loop_fill(lane);
			if (unlikely(loop_check(lane, error)))
				return error->code;
		}
		memory_poke(&lane->endpoint.memory, lane->last_sent, round);
		if (unlikely(round_post(lane, kind, error)))
			return error->code;
		lane->result.messages++;
	}
}

static ALWAYS_INLINE int poll_memory(struct lane *lane, const struct loop_run *run,
				     const struct round_kind kind, struct error *error)
{
	return run->is_responder ? poll_memory_respond(lane, kind, error)
				 : round_each(lane, run, kind, error);
}

static ALWAYS_INLINE int loop_memory(struct lane *lane, const struct loop_run *run,
				     enum post_operation operation, struct error *error)
{
	const struct round_kind kind = {.once = poll_memory_once, .operation = operation};

	/* The last byte is the round's number. */
	lane->verify.length = lane->settings.parameters->size - 1;
	return round_run(poll_memory, lane, run, kind, error);
}

#endif
