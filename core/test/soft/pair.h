/* SPDX-License-Identifier: MIT */
/*
 * Two processes: the test and a child that is forked before either opens the device. They exchange
 * data through a socket pair, and the test triggers each step of the child.
 */
#ifndef CORE_TEST_SOFT_PAIR_H
#define CORE_TEST_SOFT_PAIR_H

#include "core/test/soft/stage.h"

/* The data that a process sends about itself. */
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
	struct card peer;
	pid_t child;
	int socket;
};

/* The function of the child. It does nothing, not even poll, unless the test asks for it. */
typedef void pair_part(struct pair *pair);

void pair_send(int socket, const void *data, size_t size);
void pair_receive(int socket, void *data, size_t size);
void pair_wait(struct pair *pair); /* for a byte from the peer */

/*
 * pair_start forks the child, which opens nothing yet. In pair_meet, both processes open the device
 * and connect. pair_set_up does all of it.
 */
void pair_start(struct pair *pair, pair_part *part, const struct stage_ways *ways);
void pair_meet(struct pair *pair, const struct stage_ways *ways);
void pair_set_up(struct pair *pair, pair_part *part, const struct stage_ways *ways);
void pair_tear_down(struct pair *pair);

/* Teardown of a test: ends a child whose assertion failed; cmocka has reported the failure. */
int pair_end_child(void **state);

/* Post a request from end[0] to the memory of the peer process, and return its status. */
void pair_post(struct pair *pair, enum ibv_wr_opcode opcode, uint32_t length);
enum ibv_wc_status pair_status(struct pair *pair);

#endif
