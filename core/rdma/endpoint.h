/* SPDX-License-Identifier: MIT */
/*
 * What the connections of one end stand on: protection domain, buffer, completion
 * queue, alarm, and a shared receive queue if one is asked for. A context has one of
 * its own, or borrows one with others: context_use, manual_qp_open. Then whatever raises
 * the alarm ends the waits of all of them. The verbs context is the caller's and
 * outlives the ground, as the ground outlives the contexts on it. All of them belong
 * to one thread; only its alarm may be raised by others.
 */
#ifndef CORE_RDMA_ENDPOINT_H
#define CORE_RDMA_ENDPOINT_H

#include "core/base/alarm.h"
#include "core/base/watch.h"
#include "core/memory/memory.h"
#include "core/rdma/cm.h"
#include "core/verbs/completion.h"
#include "core/verbs/limits.h"

/* As a node: none, wherever the kernel puts it. */
#define ENDPOINT_NO_NODE (-2)

/* What the other end may do to a ground's memory. */
#define ENDPOINT_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

struct endpoint_settings {
	size_t buffer_size;               /* 4096 if 0 */
	const struct memory_kind *memory; /* NULL: ordinary pages, as the device likes them */
	bool is_relaxed;                  /* it is registered with IBV_ACCESS_RELAXED_ORDERING */
	int numa_node;                    /* of the buffer; -1: the device's; or ENDPOINT_NO_NODE */
	uint32_t cq_depth; /* completions that can be outstanding, of all queue pairs together */
	enum rdma_wait_mode wait;
	unsigned int vector;  /* of the device, for events: of those that it has, in turn */
	unsigned int spin_us; /* RDMA_ADAPTIVE polls so long before it sleeps: 50 if 0 */
	uint32_t srq_depth;   /* receives that all queue pairs share; 0: each has its own */
	uint32_t sges;        /* pieces of such a receive; POST_SGES if fewer */
	struct memory *spare; /* taken if it fits, and its buffer's place afterwards; NULL: none */
};

struct endpoint {
	struct alarm alarm;
	struct ibv_context *verbs;
	struct ibv_device_attr device;
	struct ibv_pd *pd;
	struct completion completion;
	struct memory memory;
	struct memory *spare; /* or NULL */
	size_t buffer_size;
	struct ibv_mr *mr;   /* of the buffer: the other end reads, writes, and adds to it */
	int ordering;        /* of that region: IBV_ACCESS_RELAXED_ORDERING, or 0 */
	struct ibv_srq *srq; /* or NULL */
	uint32_t srq_depth;
	uint32_t sges;
	unsigned int n_contexts;           /* that borrow it */
	unsigned int n_queues;             /* queue pairs that they have on it now */
	bool is_used;                      /* there were such since it was made ready */
	struct limits_inline taken_inline; /* what was found last */
	atomic_bool is_broken;             /* with its device or a queue of its own: for good */
	/* Bound to the device, if that has an address: the only ones told of a removal. */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct watch watch;
};

/*
 * Makes all of it on a device: device_open. The error names what exceeds the device's
 * limits.
 */
int endpoint_open(struct endpoint *endpoint, struct ibv_context *verbs,
		  const struct endpoint_settings *settings, struct error *error);

/* Releases all of it; a zeroed one is fine. -EBUSY, and nothing done, under contexts. */
int endpoint_close(struct endpoint *endpoint);

/*
 * Makes it ready for fresh queue pairs on the same buffer: the queues are empty, the
 * alarm is off, even after a -ECANCELED. Before it all contexts on it are closed, or
 * dropped by context_drop. It refuses what is broken for good: a queue that has overrun,
 * a device that is gone. After a failure only endpoint_close is of use.
 */
int endpoint_reset(struct endpoint *endpoint, struct error *error);

/* The same, but what was raised with -ECANCELED stays. */
int endpoint_renew(struct endpoint *endpoint, struct error *error);

/* Of a context's own ground, whose alarm is there before the device is known. */
int endpoint_begin(struct endpoint *endpoint, struct error *error);
int endpoint_build(struct endpoint *endpoint, struct ibv_context *verbs,
		   const struct endpoint_settings *settings, struct error *error);
int endpoint_strip(struct endpoint *endpoint); /* all but the alarm */

#endif
