/* SPDX-License-Identifier: MIT */
/*
 * Completion channels: an eventfd that counts events, which peers have, too, and the
 * completion queues on it, each of which counts how often it raised one.
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
	struct soft_cq *cqs; /* the next to be looked at first */
};

static inline struct soft_channel *soft_channel_of(struct ibv_comp_channel *channel)
{
	return CONTAINER_OF(channel, struct soft_channel, verbs);
}

void soft_channel_add(struct soft_channel *channel, struct soft_cq *cq);
void soft_channel_remove(struct soft_channel *channel, struct soft_cq *cq);

#endif
