/* SPDX-License-Identifier: MIT */
/*
 * A process as this one sees it: its arena, doorbell and completion channels. This process is also
 * a peer of itself. A peer stays until the service thread finds it dead and no operation that could
 * use it is in progress.
 */
#ifndef CORE_SOFT_PEER_PEER_H
#define CORE_SOFT_PEER_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/soft/peer/arena.h"
#include "core/soft/peer/service.h"

struct soft_copy_client;
struct soft_mappings;

/*
 * A peer's completion channel. Written under the peer's mutex; read without it to raise events.
 * Threads that raise an event count themselves in writers. When the channel goes, the last writer
 * closes the descriptor, so its number cannot be reused for another file before.
 */
struct soft_peer_channel {
	_Atomic int fd;
	_Atomic uint32_t generation; /* 0: none */
	_Atomic uint64_t writers;    /* from bit SOFT_PARTING: the descriptor to close plus 1 */
};

enum {
	SOFT_PARTING = 32,
};

struct soft_peer {
	struct soft_source source;
	uint32_t slot;
	uint32_t generation;
	pid_t pid;
	bool is_self;
	int memory;      /* descriptor of /proc/PID/mem for copies; 0: none */
	bool is_forward; /* copies through it go from the first byte to the last */
	int copy_error;  /* why no data can be copied: 0, or a negative errno */
	struct soft_copy_client *copy_client; /* NULL: this process may copy directly */
	struct soft_mappings *mappings;       /* NULL: none */
	int doorbell;
	struct soft_arena *arena;
	struct soft_arena mapped;
	pthread_mutex_t mutex;
	struct soft_peer_channel *channel;
};

/*
 * Returns the peer of a slot, or NULL if the slot is free or its process does not answer. May wait
 * for the handshake, except on the service thread, which gets only peers already known. The peer
 * stays valid while the caller holds the lock of a queue pair.
 */
struct soft_peer *soft_peer_find(uint32_t slot);

/*
 * Connects to the process of a slot, verifies its user and that it holds the slot, and sends a
 * message of this kind. Returns the socket or a negative errno. Waits, but not for long.
 */
int soft_peer_knock(uint32_t slot, uint32_t kind, pid_t *pid);

/*
 * Returns the peer of a slot, even if another process holds the slot by now, or NULL. Call on the
 * service thread, or with soft_process.lookup_mutex held.
 */
struct soft_peer *soft_peer_known(uint32_t slot);

/*
 * Disconnects a peer: the service thread treats it as dead. If it is alive, the next lookup
 * performs a new handshake.
 */
void soft_peer_leave(const struct soft_peer *peer);

void soft_peer_ring(const struct soft_peer *peer);

/* Sets a channel, or removes it and closes its descriptor. Call with the peer's mutex held. */
void soft_peer_set_channel(struct soft_peer_channel *channel, int fd, uint32_t generation);
void soft_peer_part_channel(struct soft_peer_channel *channel);

/* Signals a peer's completion channel `count` times, unless the channel is gone. */
void soft_peer_ring_channel(struct soft_peer *peer, uint32_t number, uint32_t generation,
			    uint32_t count);

/* Returns whether the peer has this GID. */
bool soft_peer_has_gid(const struct soft_peer *peer, const union ibv_gid *gid);

/* The same for the process of a slot. For callers that hold no lock. */
bool soft_peer_of_slot_has_gid(uint32_t slot, const union ibv_gid *gid);

/* Makes this process the peer of itself. */
void soft_peer_init_self(struct soft_peer *peer);

/* Removes all peers. Call when no thread uses them. */
void soft_peer_leave_all(void);

#endif
