/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong by memory: each end writes into the other's memory and polls its own
 * until the last byte is the number of this round. Nothing else tells the target of
 * a write. The last byte is assumed to be placed last, which devices do for
 * ordinary registrations. The own completion is not waited for.
 */
#ifndef BENCH_LOOP_MEMORY_H
#define BENCH_LOOP_MEMORY_H

#include "bench/loop.h"

/*
 * The byte has not changed for a while: looks for a reason to give up. 0: goes on.
 * -ETIMEDOUT has no error yet.
 */
COLD int memory_look(struct lane *lane, uint64_t *since_ns, bool is_responder, struct error *error);

/* Some microseconds: between two looks the memory is all that is read. */
#define MEMORY_SPINS 4096

/* The initiator waits for the number of its round, the responder for another than its last. */
static ALWAYS_INLINE int memory_await(struct lane *lane, uint8_t round, bool is_responder,
				      struct error *error)
{
	uint64_t since_ns = 0;

	for (;;) {
		int code;

		for (int i = 0; i < MEMORY_SPINS; i++) {
			uint8_t seen = __atomic_load_n(lane->last_received, __ATOMIC_ACQUIRE);

			if ((seen == round) != is_responder)
				return 0;
		}
		code = memory_look(lane, &since_ns, is_responder, error);
		if (unlikely(code))
			return code;
	}
}

static ALWAYS_INLINE int memory_initiate(struct lane *lane, const struct loop_run *run,
					 bool is_verified, enum post_path path, bool is_counter,
					 struct error *error)
{
	uint64_t last = clock_ticks(is_counter);
	uint64_t count = 0;
	uint8_t round = *lane->last_sent;

	while (count < run->messages && last < run->until) {
		uint64_t now;
		int code;

		if (is_verified)
			loop_fill(lane);
		*lane->last_sent = ++round;
		if (unlikely(loop_post(lane, POST_WRITE, path, error)))
			return error->code;
		code = memory_await(lane, round, false, error);
		if (unlikely(code)) {
			if (lane_missed(lane, lane->messages + count, code, error))
				return error->code;
			last = clock_ticks(is_counter);
			continue;
		}
		now = clock_ticks(is_counter);
		hist_add(run->hist, clock_to_ns(now - last, run->mult));
		last = now;
		count++;
		if (is_verified && unlikely(loop_check(lane, error)))
			return error->code;
	}
	lane->messages += count;
	return 0;
}

static ALWAYS_INLINE int memory_respond(struct lane *lane, bool is_verified, enum post_path path,
					struct error *error)
{
	uint8_t round = 0;

	for (;;) {
		if (unlikely(memory_await(lane, round, true, error)))
			return error->code;
		/* Rounds that were lost on their way here are passed over. */
		round = *lane->last_received;
		lane_think(lane);
		if (is_verified) {
			loop_fill(lane);
			if (unlikely(loop_check(lane, error)))
				return error->code;
		}
		*lane->last_sent = round;
		if (unlikely(loop_post(lane, POST_WRITE, path, error)))
			return error->code;
		lane->messages++;
	}
}

static ALWAYS_INLINE int memory(struct lane *lane, const struct loop_run *run, bool is_verified,
				enum post_path path, bool is_counter, struct error *error)
{
	/* The last byte is the number of the round. */
	lane->verify.length = lane->parameters->size - 1;
	if (run->is_responder)
		return memory_respond(lane, is_verified, path, error);
	return memory_initiate(lane, run, is_verified, path, is_counter, error);
}

static ALWAYS_INLINE int loop_memory(struct lane *lane, const struct loop_run *run,
				     enum post_path path, bool is_counter, struct error *error)
{
	return lane->verify.every ? memory(lane, run, true, path, is_counter, error)
				  : memory(lane, run, false, path, is_counter, error);
}

#endif
