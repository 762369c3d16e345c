/* SPDX-License-Identifier: MIT */
/*
 * Resources shared by the connections of one side: protection domain, buffer, completion
 * queue, alarm, and optionally a shared receive queue. A context has an endpoint of its own
 * or shares one with other contexts (context_use, manual_qp_open); the alarm then ends the
 * waits of all of them. The verbs context belongs to the caller and must outlive the
 * endpoint, which must outlive its contexts. They are all used by one thread; other threads
 * may only raise the alarm.
 */
#ifndef CORE_RDMA_ENDPOINT_H
#define CORE_RDMA_ENDPOINT_H

#include "core/base/alarm.h"
#include "core/base/watch.h"
#include "core/memory/memory.h"
#include "core/rdma/cm.h"
#include "core/verbs/completion.h"
#include "core/verbs/limits.h"

/* Value of numa_node: no preference. */
#define ENDPOINT_NO_NODE (-2)

/* Access rights of the peer to an endpoint's memory. */
#define ENDPOINT_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

struct endpoint_settings {
	size_t buffer_size;               /* 4096 if 0 */
	const struct memory_kind *memory; /* NULL: ordinary pages, or what suits the device */
	const char *detail;               /* of the memory; NULL: none */
	bool has_regions;                 /* the caller registers the buffer, in parts */
	bool is_relaxed;                  /* register with IBV_ACCESS_RELAXED_ORDERING */
	int numa_node;                    /* of the buffer; -1: the device's; or ENDPOINT_NO_NODE */
	uint32_t cq_depth;                /* outstanding completions of all queue pairs together */
	enum rdma_wait_mode wait;
	bool is_timed;       /* completions have timestamps */
	unsigned int vector; /* completion vector, modulo the device's number of vectors */
	struct ibv_moderate_cq moderation; /* of its CQ's events; cq_count 0: none */
	unsigned int spin_us; /* RDMA_ADAPTIVE polls this long before it sleeps; 50 if 0 */
	uint32_t srq_depth; /* depth of the shared receive queue; 0: each queue pair has its own */
	uint32_t sges;      /* scatter/gather elements of a shared receive; at least POST_SGES */
	bool is_xrc;        /* its queue pairs are of XRC: srq_depth is not 0 */
	uint32_t n_senders; /* contexts that share one initiator of DC; 1 if 0 */
	uint64_t send_ops;  /* IBV_QP_EX_WITH_... that queue pairs need besides the usual ones */
	struct memory *spare; /* reused if it fits, and receives the buffer on close; NULL: none */
};

struct endpoint {
	struct alarm alarm;
	struct ibv_context *verbs;
	struct ibv_device_attr device;
	struct ibv_pd *pd;
	struct completion completion;
	struct memory memory;
	struct memory *spare; /* or NULL */
	uint64_t send_ops;    /* as in the settings */
	size_t buffer_size;
	/* Of the buffer: the peer reads, writes and does atomics on it; or NULL. */
	struct ibv_mr *mr;
	int access;               /* of that region, or of its parts */
	int ordering;             /* of the region: IBV_ACCESS_RELAXED_ORDERING, or 0 */
	struct ibv_xrcd *xrcd;    /* NULL: not for XRC */
	struct ibv_qp *initiator; /* of DC, of all contexts; NULL: none yet */
	uint32_t n_senders;       /* as in the settings */
	struct ibv_srq *srq;      /* or NULL */
	uint32_t srq_depth;
	uint32_t sges;
	unsigned int n_contexts;           /* contexts that borrow the endpoint */
	unsigned int n_queues;             /* their queue pairs */
	bool is_used;                      /* had a queue pair since it was opened or renewed */
	struct limits_inline taken_inline; /* the last result of limits_inline */
	atomic_bool is_broken;             /* device, CQ or SRQ failed: permanent */
	/* This id is bound to the device, if possible: only bound ids receive device removal. */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct watch watch;
};

/*
 * Creates all resources on a device; see device_open. The error names what exceeds the
 * device's limits.
 */
int endpoint_open(struct endpoint *endpoint, struct ibv_context *verbs,
		  const struct endpoint_settings *settings, struct error *error);

/* Registers a part of the buffer as the whole would be. Returns NULL and sets the error on failure. */
struct ibv_mr *endpoint_register(const struct endpoint *endpoint, size_t offset, size_t length,
				 struct error *error);

/*
 * Releases everything; a zeroed endpoint is fine. Returns -EBUSY and does nothing while
 * contexts use it.
 */
int endpoint_close(struct endpoint *endpoint);

/*
 * Prepares the endpoint for new queue pairs on the same buffer: empties its queues and
 * clears the alarm, even after -ECANCELED. All contexts on it must have been closed, or
 * dropped by context_drop. Fails if a queue has overrun or the device is gone. After a
 * failure, only endpoint_close may be called.
 */
int endpoint_reset(struct endpoint *endpoint, struct error *error);

/* Like endpoint_reset, but keeps an alarm that was raised with -ECANCELED. */
int endpoint_renew(struct endpoint *endpoint, struct error *error);

/* For a context's own endpoint, whose alarm is needed before the device is known. */
int endpoint_begin(struct endpoint *endpoint, struct error *error);
int endpoint_build(struct endpoint *endpoint, struct ibv_context *verbs,
		   const struct endpoint_settings *settings, struct error *error);
int endpoint_strip(struct endpoint *endpoint); /* releases all but the alarm */

#endif
