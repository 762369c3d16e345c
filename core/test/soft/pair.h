/* SPDX-License-Identifier: MIT */
/*
 * Two processes: the test's own, and a child that was forked before either of them
 * opened the device. They tell each other what they need through a pair of sockets, and
 * each step of the child is asked for.
 */
#ifndef CORE_TEST_SOFT_PAIR_H
#define CORE_TEST_SOFT_PAIR_H

#include "core/test/soft/stage.h"

/* What an end says of itself. */
struct card {
	uint32_t number;
	uint32_t rkey;
	uint32_t cq;
	uint32_t pad;
	uint64_t address;
	union ibv_gid gid;
};

struct pair {
	struct stage stage;
	struct card there;
	pid_t child;
	int socket;
};

/* The child's part: until it is told to, it does nothing, not even poll. */
typedef void pair_part(struct pair *pair);

void pair_tell(int socket, const void *what, size_t size);
void pair_hear(int socket, void *what, size_t size);
void pair_sleep(struct pair *pair); /* until it is told anything */

/*
 * Forks the child, which opens nothing before it is told to; then both open, and connect.
 * pair_set_up does all of it.
 */
void pair_start(struct pair *pair, pair_part *part, const struct stage_ways *ways);
void pair_meet(struct pair *pair, const struct stage_ways *ways);
void pair_set_up(struct pair *pair, pair_part *part, const struct stage_ways *ways);
void pair_tear_down(struct pair *pair);

/* A test's teardown: what failed in a child has been told by it, and ends there. */
int pair_end_child(void **state);

/* From the first end to the other process's memory; and what became of it. */
void pair_post(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length);
enum ibv_wc_status pair_status(struct pair *pair);

#endif
