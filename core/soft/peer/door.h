/* SPDX-License-Identifier: MIT */
/*
 * Accepts connections from peers of the same user and hands them this process's arena, doorbell and
 * completion channels. The door is a UNIX socket in the user's directory; no network is involved.
 * It disconnects a process of another user, a process that is not the one that it claims to be, and
 * a process whose first message is not a valid request.
 */
#ifndef CORE_SOFT_PEER_DOOR_H
#define CORE_SOFT_PEER_DOOR_H

#include <pthread.h>
#include <stdint.h>

#include "core/soft/peer/image.h"
#include "core/soft/peer/service.h"

struct soft_guest;

struct soft_door {
	struct soft_source source;
	pthread_mutex_t mutex;
	struct soft_guest *guests;
	uint32_t generation[SOFT_SLOTS]; /* of the last process seen in each slot */
};

int soft_door_open(struct soft_door *door);

/* Accepts a zeroed door. */
void soft_door_close(struct soft_door *door);

/* Tells all guests about a new completion channel, or that a channel is gone (fd -1). */
void soft_door_announce(struct soft_door *door, uint32_t number, uint32_t generation, int fd);

#endif
