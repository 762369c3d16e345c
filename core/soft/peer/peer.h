/* SPDX-License-Identifier: MIT */
/*
 * A process as this one sees it: its arena, its doorbell, its completion channels. This
 * process is a peer of itself. A peer stays until the service thread finds it dead, and
 * then until no operation is under way that could use it.
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
struct soft_windows;

/*
 * Written under the mutex of its peer, and read by who raises events without it. He counts
 * himself, and the last of those who were at it as it went closes its descriptor: nobody else's
 * file has got that number before.
 */
struct soft_peer_channel {
	_Atomic int fd;
	_Atomic uint32_t generation; /* 0: none */
	_Atomic uint64_t writers; /* and, from SOFT_PARTING on, the descriptor that went, plus 1 */
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
	int memory;     /* a descriptor of it, by which the kernel copies; 0: none */
	bool has_order; /* and does so from the first byte to the last */
	int copy_error; /* why nothing can be copied: 0, or a negative errno */
	struct soft_copy_client *copy_client; /* NULL: the kernel lets this process copy itself */
	struct soft_windows *windows;         /* NULL: none */
	int doorbell;
	struct soft_arena *arena;
	struct soft_arena mapped;
	pthread_mutex_t mutex;
	struct soft_peer_channel *channel;
};

/*
 * The process of a slot, or NULL: there is none, or it does not answer. The service
 * thread, which others wait for, waits for none: it gets only what is known already. It
 * stays for who holds the lock of a queue pair.
 */
struct soft_peer *soft_peer_find(uint32_t slot);

/*
 * A socket to the process of a slot, which is of the same user, holds the slot, and was
 * told what this one wants; or a negative errno. It waits, but for a while only.
 */
int soft_peer_knock(uint32_t slot, uint32_t kind, pid_t *pid);

/*
 * The peer of a slot, whoever has it by now; NULL: none. For the service thread, or with the mutex
 * of who looks at one without a queue pair.
 */
struct soft_peer *soft_peer_known(uint32_t slot);

/* The service thread takes it for dead; if it is not, whoever looks for it meets it anew. */
void soft_peer_leave(const struct soft_peer *peer);

void soft_peer_ring(const struct soft_peer *peer);

/* Under the mutex: another, where there is none; and none, with its descriptor closed. */
void soft_peer_set_channel(struct soft_peer_channel *channel, int fd, uint32_t generation);
void soft_peer_part_channel(struct soft_peer_channel *channel);

/* Rings a completion channel of the peer's that often, unless it is gone. */
void soft_peer_ring_channel(struct soft_peer *peer, uint32_t number, uint32_t generation,
			    uint32_t count);

/* Whether a GID is one of the peer's. */
bool soft_peer_has_gid(const struct soft_peer *peer, const union ibv_gid *gid);

/* The same of the process of a slot: for who holds no lock. */
bool soft_peer_of_slot_has_gid(uint32_t slot, const union ibv_gid *gid);

/* Makes this process the peer of itself. */
void soft_peer_init_self(struct soft_peer *peer);

/* Leaves all, when no thread uses them. */
void soft_peer_leave_all(void);

#endif
