/* SPDX-License-Identifier: MIT */
/*
 * Completion channels. A channel is an eventfd that counts events, shared with peers, and a list of
 * completion queues, each of which counts the events that it raised.
 */
#ifndef CORE_SOFT_OP_CHANNEL_H
#define CORE_SOFT_OP_CHANNEL_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

#include "core/base/compiler.h"

struct soft_cq;

struct soft_channel {
	struct ibv_comp_channel verbs;
	uint32_t number;
	uint32_t generation;
	pthread_mutex_t mutex;
	struct soft_cq *cqs; /* the one to check first is at the front */
};

static inline struct soft_channel *soft_channel_of(struct ibv_comp_channel *channel)
{
	return CONTAINER_OF(channel, struct soft_channel, verbs);
}

void soft_channel_add(struct soft_channel *channel, struct soft_cq *cq);
void soft_channel_remove(struct soft_channel *channel, struct soft_cq *cq);

#endif
