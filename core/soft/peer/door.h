/* SPDX-License-Identifier: MIT */
/*
 * Where peers of the same user ask for this process's arena, doorbell and completion
 * channels: a UNIX socket in the user's directory, no network. A process of another user, one
 * that is not the process that it claims to be, and one that sends anything but hello is
 * disconnected.
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
	uint32_t generation[SOFT_SLOTS]; /* of who came last in the name of each */
};

int soft_door_open(struct soft_door *door);

/* Accepts what is zeroed. */
void soft_door_close(struct soft_door *door);

/* Tells the guests of a completion channel that is new, or of one that goes (fd -1). */
void soft_door_announce(struct soft_door *door, uint32_t number, uint32_t generation, int fd);

#endif
