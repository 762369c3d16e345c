/* SPDX-License-Identifier: MIT */
/*
 * How the processes of a user find each other: a directory of that user with a small file of slots.
 * A process holds its slot by a record lock on one byte of the file. The kernel drops the lock
 * whenever and however the process dies, in any PID namespace. The next process to take the slot
 * increments its generation. The name of the directory depends on the layout of the shared data, so
 * builds with different layouts never meet. Functions return 0 or a negative errno.
 */
#ifndef CORE_SOFT_PEER_REGISTRY_H
#define CORE_SOFT_PEER_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "core/soft/peer/image.h"

enum {
	SOFT_PORTS = 16384,
	SOFT_MEMBERS = 4096,
};

/* An rdma_cm port number in use; see cm/port.h. */
struct soft_registry_port {
	uint32_t owner; /* as in locks; 0: free */
	uint32_t space;
	uint64_t network;
	union ibv_gid gid;
	uint16_t port;
	uint8_t is_v6;
	uint8_t is_v6_only;
	uint8_t is_sharing;
	uint8_t is_listening;
};

/* A queue pair that is attached to a multicast group; see op/multicast.h. */
struct soft_registry_member {
	_Atomic uint32_t sequence; /* odd while the entry is being changed */
	_Atomic uint32_t owner;    /* as in locks; 0: free */
	_Atomic uint32_t qp_num;
	_Atomic uint64_t group[2]; /* a GID */
};

/* Kinds of objects that are counted per process. */
enum soft_kind {
	SOFT_KIND_PD,
	SOFT_KIND_CQ,
	SOFT_KIND_QP,
	SOFT_KIND_CM_ID,
	SOFT_KIND_MR,
	SOFT_KIND_SRQ,
	SOFT_KINDS,
};

/* Packets sent by all processes that ever held the slot. */
struct soft_registry_sent {
	_Alignas(SOFT_LINE) _Atomic uint64_t packets;
};

struct soft_registry_counts {
	_Alignas(SOFT_LINE) _Atomic uint32_t of[SOFT_KINDS];
	struct soft_registry_sent sent[SOFT_SENDERS];
};

struct soft_registry_file {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t generation[SOFT_SLOTS];
	struct soft_lock lock; /* guards the ports */
	uint32_t port_count;   /* highest entry ever used plus 1 */
	struct soft_registry_port port[SOFT_PORTS];
	struct soft_registry_counts counts[SOFT_SLOTS];
	struct soft_lock members_lock; /* held to change members */
	_Atomic uint32_t member_count; /* highest entry in use plus 1 */
	struct soft_registry_member member[SOFT_MEMBERS];
};

struct soft_registry {
	int fd; /* 0: not open */
	uint32_t slot;
	uint32_t generation;
	char directory[88]; /* for this layout */
	struct soft_registry_file *file;
};

/*
 * Opens the user's directory, creating it if missing, and takes a slot. Returns -ENOSPC if no
 * candidate directory has room for the file.
 */
int soft_registry_open(struct soft_registry *registry);

/* Releases the slot. Accepts a zeroed registry. */
void soft_registry_close(struct soft_registry *registry);

/* Returns whether the process that took the slot in this generation is alive. */
bool soft_registry_is_alive(const struct soft_registry *registry, uint32_t slot,
			    uint32_t generation);

/*
 * Returns whether the process pid holds the slot in this generation, as far as this process can
 * see. Always false for its own slot.
 */
bool soft_registry_is_holder(const struct soft_registry *registry, uint32_t slot,
			     uint32_t generation, pid_t pid);

/* Returns whether the slot's process is alive with all threads stopped (e.g. by SIGSTOP). */
bool soft_registry_is_stopped(const struct soft_registry *registry, uint32_t slot,
			      uint32_t generation);

/* Removes this process's socket from the directory. Call when the process ends. */
void soft_registry_retire(const struct soft_registry *registry);

/* Sums the objects of all live processes. */
void soft_registry_sum(const struct soft_registry *registry, uint32_t sum[SOFT_KINDS]);

/* Returns the number of packets ever sent. */
uint64_t soft_registry_sent(const struct soft_registry *registry);

/* Fills in the address of a slot's socket. */
void soft_registry_address(const struct soft_registry *registry, uint32_t slot,
			   struct sockaddr_un *address);

static inline uint32_t soft_registry_generation(const struct soft_registry *registry, uint32_t slot)
{
	return atomic_load_explicit(&registry->file->generation[slot], memory_order_acquire);
}

/* Returns a process's name in locks: its slot and the low bits of the generation. */
static inline uint32_t soft_registry_holder(uint32_t slot, uint32_t generation)
{
	return generation << SOFT_SLOT_BITS | slot;
}

#endif
