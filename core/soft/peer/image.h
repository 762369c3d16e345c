/* SPDX-License-Identifier: MIT */
/*
 * What a process shares with its peers: the first part of its arena. Peers take
 * receives and write completions here; all places are numbers and offsets, since each
 * process has the arena somewhere else. What one side writes often has cache lines of
 * its own, and threads of a process that have queue pairs and completion queues of their
 * own write none of each other's: see soft_cq.sender. Number 0 of every table stands for
 * none. Any peer may write anything here: who uses a value checks what it has read, and
 * reads it once. Where memory is, is said in a table of its own, which only its owner can
 * write.
 */
#ifndef CORE_SOFT_PEER_IMAGE_H
#define CORE_SOFT_PEER_IMAGE_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/soft/peer/lock.h"

#define SOFT_IMAGE_MAGIC   0x766d7366 /* "vmsf" */
#define SOFT_IMAGE_VERSION 10

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
	SOFT_SMALL = 256,                      /* travels inside of a completion */
	SOFT_PAYLOAD = SOFT_SMALL + SOFT_LINE, /* with a GRH in front */
};

/* A receive as it was posted; its pieces of memory follow. */
struct soft_receive {
	uint64_t wr_id;
	uint32_t length;
	uint32_t count;
	struct ibv_sge sge[];
};

/*
 * A ring of receives. Who takes holds the lock; the owner puts, and needs none of the
 * shared ones. Indices run on, and size is a power of two.
 */
struct soft_queue {
	_Alignas(SOFT_LINE) struct soft_lock lock;
	_Atomic uint32_t head;
	uint32_t tail_seen;
	_Atomic uint32_t psn;   /* of a queue pair: the next that it expects */
	_Atomic uint32_t limit; /* of a shared receive queue: below it, an event; 0: none */
	_Atomic uint32_t owed;  /* whether a receive is taken and its completion is not there, */
	uint32_t owed_head;     /* and the head behind it */
	_Alignas(SOFT_LINE) uint64_t offset;
	uint32_t size;
	uint32_t stride;
	_Alignas(SOFT_LINE) _Atomic uint32_t tail;
};

/* A queue pair as its peers see it. Its queue's lock guards the state, too. */
struct soft_qp_image {
	struct soft_queue queue;
	_Alignas(SOFT_LINE) _Atomic uint32_t state;
	uint32_t type;
	_Atomic uint32_t number; /* 0: it is nobody's */
	_Atomic uint32_t peer;
	uint32_t pd;
	uint32_t recv_cq;
	uint32_t srq;
	_Atomic uint32_t access;
	_Atomic uint32_t qkey;
	_Atomic uint32_t min_rnr_timer;
	_Atomic uint32_t max_dest_rd_atomic;
	/* Who writes or reads memory through it, without a receive; its owner looks at the state. */
	_Alignas(SOFT_LINE) struct soft_lock work;
};

struct soft_srq_image {
	struct soft_queue queue;
	_Alignas(SOFT_LINE) uint32_t pd;
};

enum soft_arming {
	SOFT_UNARMED,
	SOFT_ARMED_SOLICITED,
	SOFT_ARMED,
};

struct soft_cq_image {
	_Alignas(SOFT_LINE) struct soft_lock lock; /* who puts */
	uint32_t tail;
	uint32_t head_seen;
	uint32_t armed;
	uint32_t is_overrun;
	_Atomic uint32_t raised; /* events of its channel, ever */
	uint32_t rung;           /* of them, those that its descriptor was told */
	_Alignas(SOFT_LINE) uint64_t offset;
	uint32_t size;
	uint32_t channel;
	uint32_t channel_generation;
	uint32_t is_timed;
	uint32_t ignores_overrun;
	_Alignas(SOFT_LINE) _Atomic uint32_t head;
};

enum soft_mark {
	SOFT_MARK_DUE = 1, /* not there before its time */
	SOFT_MARK_SOLICITED = 2,
};

/* An entry of a completion queue; valid when sequence is the index after its own. */
struct soft_completion {
	_Atomic uint32_t sequence;
	uint16_t status;
	uint8_t opcode;
	uint8_t marks; /* enum soft_mark */
	uint64_t wr_id;
	uint32_t taken; /* of a receive: its queue's head behind it */
	uint32_t byte_len;
	uint32_t imm;
	uint32_t qp_num;
	uint32_t src_qp;
	uint32_t flags;
	uint64_t time_ns; /* when it was put, if the queue is timed; or when it is due */
	/* Data that the receiver copies to its memory when it polls. */
	uint64_t address;
	uint32_t key;
	uint32_t carried;
	unsigned char payload[SOFT_PAYLOAD];
};

struct soft_region_image {
	_Alignas(SOFT_LINE) _Atomic uint32_t key; /* 0: none */
	uint32_t pd;
	uint32_t access;
	uint32_t file; /* one more than its owner's descriptor of the memory; 0: none */
	uint64_t address;
	uint64_t iova;
	uint64_t length;
	uint64_t offset; /* in the file */
	uint64_t inode;
};

/* The memory of a process: not in its arena, and for its peers to read only. */
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

/* The keys that a sender of a slot is copying with at this moment. */
struct soft_lanes {
	_Alignas(SOFT_LINE) _Atomic uint32_t key[SOFT_LANES];
};

/* Of the atomics on some of the addresses: those of one address have one lock. */
struct soft_atomics {
	_Alignas(SOFT_LINE) struct soft_lock lock;
};

struct soft_image {
	uint32_t magic;
	uint32_t version;
	uint32_t slot;
	uint32_t generation;
	uint64_t size;
	uint64_t address; /* where its owner has it */
	uint32_t gid_count;
	_Atomic uint32_t is_down; /* what is sent there is lost */
	union ibv_gid gid[SOFT_GIDS];
	uint32_t interface[SOFT_GIDS]; /* whose address it is */
	struct soft_atomics atomics[SOFT_ATOMICS];
	struct soft_events_image events;
	struct soft_lanes lanes[SOFT_SLOTS][SOFT_SENDERS];
	struct soft_qp_image qp[SOFT_QPS];
	struct soft_srq_image srq[SOFT_SRQS];
	struct soft_cq_image cq[SOFT_CQS];
};

/* What anybody may change meanwhile, once. */
static inline uint32_t soft_image_read(const uint32_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline uint64_t soft_image_read_long(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

/* What somebody may read meanwhile. */
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
