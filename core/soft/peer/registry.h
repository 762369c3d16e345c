/* SPDX-License-Identifier: MIT */
/*
 * Where the processes of a user find each other: a directory of that user's with a
 * small file of slots. A process holds its slot by a record lock on one byte of the
 * file, which the kernel drops when it dies, however it dies and in whatever PID
 * namespace it lives; the next to take the slot raises the generation. What lies there
 * is in a folder by layout, so that builds that see it otherwise never meet. Functions
 * return 0 or a negative errno.
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
};

/* A port number of rdma_cm that is taken; see cm/port.h. */
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

/* What processes have; for who counts them. */
enum soft_kind {
	SOFT_KIND_PD,
	SOFT_KIND_CQ,
	SOFT_KIND_QP,
	SOFT_KIND_CM_ID,
	SOFT_KIND_MR,
	SOFT_KIND_SRQ,
	SOFT_KINDS,
};

/* Packets, by all that ever had the slot. */
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
	struct soft_lock lock; /* of the ports */
	uint32_t port_count;   /* one more than the highest that was ever taken */
	struct soft_registry_port port[SOFT_PORTS];
	struct soft_registry_counts counts[SOFT_SLOTS];
};

struct soft_registry {
	int fd; /* 0: not open */
	uint32_t slot;
	uint32_t generation;
	char directory[88]; /* the layout's */
	struct soft_registry_file *file;
};

/*
 * Opens the user's directory, made where it is missing, and takes a slot. -ENOSPC: there is no
 * room for the file in any place.
 */
int soft_registry_open(struct soft_registry *registry);

/* Gives the slot back. Accepts what is zeroed. */
void soft_registry_close(struct soft_registry *registry);

/* Whether the process that took the slot in this generation lives. */
bool soft_registry_is_alive(const struct soft_registry *registry, uint32_t slot,
			    uint32_t generation);

/* Whether a process of another slot is the one that holds its, as far as can be seen. */
bool soft_registry_is_holder(const struct soft_registry *registry, uint32_t slot,
			     uint32_t generation, pid_t pid);

/* Whether it is alive with all its threads stopped, as by SIGSTOP. */
bool soft_registry_is_stopped(const struct soft_registry *registry, uint32_t slot,
			      uint32_t generation);

/* Takes the socket of this process out of the directory: for one that ends. */
void soft_registry_retire(const struct soft_registry *registry);

/* What the processes that live have, all together. */
void soft_registry_sum(const struct soft_registry *registry, uint32_t sum[SOFT_KINDS]);

/* How many packets were ever sent. */
uint64_t soft_registry_sent(const struct soft_registry *registry);

/* The address of the socket of a slot. */
void soft_registry_address(const struct soft_registry *registry, uint32_t slot,
			   struct sockaddr_un *address);

static inline uint32_t soft_registry_generation(const struct soft_registry *registry, uint32_t slot)
{
	return atomic_load_explicit(&registry->file->generation[slot], memory_order_acquire);
}

/* What a process is called in locks: its slot and as much of the generation as fits. */
static inline uint32_t soft_registry_holder(uint32_t slot, uint32_t generation)
{
	return generation << SOFT_SLOT_BITS | slot;
}

#endif
