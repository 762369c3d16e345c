/* SPDX-License-Identifier: MIT */
/*
 * The image: the first part of a process's arena, which peers map too. Peers take receives and
 * write completions here. Locations are numbers and offsets, because each process maps the arena at
 * a different address. Number 0 of every table means none.
 *
 * Data that one side writes often has its own cache lines. Threads with their own queue pairs and
 * completion queues share no lines that they write: see soft_cq.sender.
 *
 * A peer may write anything here, so code reads each value once and validates what it has read. The
 * addresses of registered memory are in a separate table (soft_memory_image) that only the owner
 * can write.
 */
#ifndef CORE_SOFT_PEER_IMAGE_H
#define CORE_SOFT_PEER_IMAGE_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/soft/peer/lock.h"

#define SOFT_IMAGE_MAGIC   0x766d7366 /* "vmsf" */
#define SOFT_IMAGE_VERSION 13

enum {
	SOFT_SLOT_BITS = 11,
	SOFT_INDEX_BITS = 13,
	SOFT_SLOTS = 1 << SOFT_SLOT_BITS,
	SOFT_QPS = 1 << SOFT_INDEX_BITS,
	SOFT_CQS = 16384,
	SOFT_SRQS = 8192,
	SOFT_REGIONS = 65536,
	SOFT_CHANNELS = 4096,
	SOFT_GIDS = 64,
	SOFT_SENDERS = 16,
	SOFT_LANES = 16,
	SOFT_ATOMICS = 64,
	SOFT_EVENTS = 1024,
	SOFT_LINE = 64,
	SOFT_GRH = 40,
	SOFT_SMALL = 256,                      /* longest data that travels in a completion */
	SOFT_PAYLOAD = SOFT_SMALL + SOFT_LINE, /* with a GRH in front */
};

/* A posted receive. Its scatter/gather list follows. */
struct soft_receive {
	uint64_t wr_id;
	uint32_t length;
	uint32_t count;
	struct ibv_sge sge[];
};

/*
 * A ring of receives. A thread that takes receives holds the lock. The owner posts without any
 * shared lock. Indices increase without wrapping at the size, which is a power of two.
 */
struct soft_queue {
	_Alignas(SOFT_LINE) struct soft_lock lock;
	_Atomic uint32_t head;
	uint32_t tail_seen;
	_Atomic uint32_t psn;   /* queue pair only: the next PSN that it expects */
	_Atomic uint32_t limit; /* SRQ only: below this count, raise an event; 0: never */
	_Atomic uint32_t owed;  /* a receive has been taken, but its completion not yet put, */
	uint32_t owed_head;     /* and the queue's head after that receive */
	_Alignas(SOFT_LINE) uint64_t offset;
	uint32_t size;
	uint32_t stride;
	_Alignas(SOFT_LINE) _Atomic uint32_t tail;
};

/* A queue pair as its peers see it. The lock of its receive queue also guards the state. */
struct soft_qp_image {
	struct soft_queue queue;
	_Alignas(SOFT_LINE) _Atomic uint32_t state;
	uint32_t type;
	_Atomic uint32_t number; /* 0: unused */
	_Atomic uint32_t peer;
	uint32_t pd;
	uint32_t recv_cq;
	uint32_t srq;
	uint32_t xrcd;   /* XRC target only */
	uint64_t dc_key; /* DC target only */
	_Atomic uint32_t access;
	_Atomic uint32_t qkey;
	_Atomic uint32_t pkey_index;
	_Atomic uint32_t min_rnr_timer;
	_Atomic uint32_t max_dest_rd_atomic;
	/*
	 * Held while memory is read or written through this queue pair without a receive. The owner
	 * takes it to wait for such accesses after a state change.
	 */
	_Alignas(SOFT_LINE) struct soft_lock work;
};

struct soft_srq_image {
	struct soft_queue queue;
	_Alignas(SOFT_LINE) uint32_t pd;
	uint32_t cq;           /* XRC only */
	_Atomic uint32_t xrcd; /* 0: not an XRC SRQ. Set to 0 with the queue's lock held. */
};

enum soft_arming {
	SOFT_UNARMED,
	SOFT_ARMED_SOLICITED,
	SOFT_ARMED,
};

struct soft_cq_image {
	_Alignas(SOFT_LINE) struct soft_lock lock; /* held to put a completion */
	uint32_t tail;
	uint32_t head_seen;
	uint32_t armed;
	uint32_t is_overrun;
	_Atomic uint32_t raised; /* events raised for its channel so far */
	uint32_t rung;           /* how many of those were written to the channel's descriptor */
	uint32_t held;           /* completions since the last event, if moderated */
	uint64_t held_ns;        /* when the first of them was put */
	_Alignas(SOFT_LINE) uint64_t offset;
	uint32_t size;
	uint32_t channel;
	uint32_t channel_generation;
	uint32_t is_timed;
	uint32_t ignores_overrun;
	uint32_t event_count; /* above 1: moderated */
	uint32_t event_period_us;
	_Alignas(SOFT_LINE) _Atomic uint32_t head;
};

enum soft_mark {
	SOFT_MARK_DUE = 1, /* must not be polled before time_ns */
	SOFT_MARK_SOLICITED = 2,
};

/* A completion queue entry. It is valid when sequence is its index plus 1. */
struct soft_completion {
	_Atomic uint32_t sequence;
	uint8_t status;
	uint8_t sl;
	uint8_t opcode;
	uint8_t marks; /* enum soft_mark */
	uint64_t wr_id;
	uint32_t taken; /* receives only: the head of its queue after it */
	uint32_t byte_len;
	uint32_t imm;
	uint32_t qp_num;
	uint32_t src_qp;
	uint32_t flags;
	/* When the link model completes the operation, or when it was put, if timestamps are on. */
	uint64_t time_ns;
	/* Data that the receiver copies to its memory when it polls the completion. */
	uint64_t address;
	uint32_t key;
	uint32_t carried;
	unsigned char payload[SOFT_PAYLOAD];
};

struct soft_region_image {
	_Alignas(SOFT_LINE) _Atomic uint32_t key; /* 0: none */
	uint32_t pd;
	uint32_t access;
	uint32_t file; /* the owner's descriptor of the memory plus 1; 0: none */
	uint64_t address;
	uint64_t iova;
	uint64_t length;
	uint64_t offset; /* in the file */
	uint64_t inode;
	uint32_t qp; /* windows of type 2 only: the queue pair that may use it */
};

/* A process's registered memory. Outside the arena because peers may only read it. */
struct soft_memory_image {
	struct soft_region_image region[SOFT_REGIONS];
};

struct soft_event_image {
	uint32_t type; /* enum ibv_event_type */
	uint32_t index;
};

struct soft_events_image {
	_Alignas(SOFT_LINE) struct soft_lock lock;
	_Atomic uint32_t tail;
	_Atomic uint32_t head;
	struct soft_event_image event[SOFT_EVENTS];
};

/* The keys of regions that one sender of a slot is currently copying to or from. */
struct soft_lanes {
	_Alignas(SOFT_LINE) _Atomic uint32_t key[SOFT_LANES];
};

/* Lock for atomics on a subset of the addresses. Each address maps to one lock. */
struct soft_atomics {
	_Alignas(SOFT_LINE) struct soft_lock lock;
};

struct soft_image {
	uint32_t magic;
	uint32_t version;
	uint32_t slot;
	uint32_t generation;
	uint64_t size;
	uint64_t address; /* in its owner's address space */
	uint32_t gid_count;
	_Atomic uint32_t is_down; /* the port is down: messages to this process are lost */
	union ibv_gid gid[SOFT_GIDS];
	uint32_t interface[SOFT_GIDS]; /* the interface of each GID */
	struct soft_atomics atomics[SOFT_ATOMICS];
	struct soft_events_image events;
	struct soft_lanes lanes[SOFT_SLOTS][SOFT_SENDERS];
	struct soft_qp_image qp[SOFT_QPS];
	struct soft_srq_image srq[SOFT_SRQS];
	struct soft_cq_image cq[SOFT_CQS];
	_Atomic uint32_t revoked[SOFT_REGIONS]; /* windows whose key is this one are invalid */
};

/* Reads a value once that a peer may be changing. */
static inline uint32_t soft_image_read(const uint32_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline uint64_t soft_image_read_long(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

/* Writes a value that a peer may be reading. */
static inline void soft_image_write(uint32_t *value, uint32_t to)
{
	__atomic_store_n(value, to, __ATOMIC_RELAXED);
}

static inline void soft_image_write_long(uint64_t *value, uint64_t to)
{
	__atomic_store_n(value, to, __ATOMIC_RELAXED);
}

static inline uint32_t soft_image_slot(uint32_t qp_num)
{
	return qp_num >> SOFT_INDEX_BITS & (SOFT_SLOTS - 1);
}

static inline uint32_t soft_image_index(uint32_t qp_num)
{
	return qp_num & (SOFT_QPS - 1);
}

#endif
