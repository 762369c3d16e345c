/* SPDX-License-Identifier: MIT */
/*
 * The inside of a struct rdma_context, and how its resources are built and
 * released; what server, client and operations have in common. Functions return 0
 * or a negative errno with the error; the public ones turn that into -1 and a
 * reason by context_end.
 */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include "core/alarm.h"
#include "core/buffer.h"
#include "core/cm.h"
#include "core/completion.h"
#include "core/message.h"
#include "core/post.h"
#include "core/rdma.h"
#include "core/watch.h"

/* The wr_id of what the blocking operations post: none that a caller would think of. */
#define CONTEXT_OPERATION 0x56424d4b00000001ULL
#define CONTEXT_RECEIVE   0x56424d4b00000002ULL
#define CONTEXT_PROBE     0x56424d4b00000003ULL

/* What is registered for heads only, so that no peer can write there. */
struct context_slots {
	uint8_t received[MESSAGE_HEAD];
	uint8_t sent[MESSAGE_HEAD];
	uint8_t packed[256]; /* behind sent: a payload that goes inline with its head */
};

struct rdma_state {
	struct alarm alarm;
	struct completion completion;
	struct post_queue queue;
	struct rdma_event_channel *channel; /* conn's own, where ec is the listener's */
	struct rdma_event_channel *watched; /* the one that conn's events come by */
	struct rdma_cm_id *conn;            /* the context's, for the watcher */
	struct cm_event event;
	struct buffer buffer;
	struct buffer slots;
	struct ibv_mr *slots_mr;
	struct watch cm_watch;
	struct watch async_watch;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct error failed; /* of this connection, for good */
	bool connected;
	bool prepared; /* a receive is posted */
	bool arrived;  /* a message was received and not yet handed out */
	bool probing;  /* a probe is under way */
	bool done;     /* the operation that is waited for */
	struct rdma_message message;
};

/* Settings with their defaults put in. */
unsigned int context_timeout_ms(const struct rdma_context *ctx);
uint8_t context_reads(const struct rdma_context *ctx);
uint8_t context_rnr_retry(const struct rdma_context *ctx);
uint8_t context_retry_count(const struct rdma_context *ctx);

/* Makes the state of a context that has none. */
int context_begin(struct rdma_context *ctx, struct error *error);

/* An address may belong to several devices: whether it is the one that was named. */
int context_check_device(const struct rdma_cm_id *id, const char *ib_dev, struct error *error);

/* Waits on a channel for that event; everything else is an error. */
int context_expect(struct rdma_context *ctx, struct rdma_event_channel *channel,
		   enum rdma_cm_event_type wanted, unsigned int timeout_ms, struct error *error);

/* conn is there: checks limits and makes PD, CQ, QP, buffer, MR; prepares a receive. */
int context_build(struct rdma_context *ctx, struct error *error);

/* What the other end is told about our buffer. */
struct rdma_remote context_own(const struct rdma_context *ctx);

/* Before conn connects or accepts: what rdma_cm would choose badly. */
void context_mend_timeout(struct rdma_context *ctx);

/* The connection is up: mends its RNR timer and hands its channel to the watcher. */
int context_connected(struct rdma_context *ctx, struct rdma_event_channel *channel,
		      struct error *error);

/* Posts the receive for the next message, unless there is one. */
int context_prepare(struct rdma_context *ctx, struct error *error);

/* Releases the connection and keeps the listener. Returns the first failure. */
int context_drop(struct rdma_context *ctx);

/* Releases everything. */
int context_release(struct rdma_context *ctx);

/* Leaves the reason of a failure. Returns 0 or -1. */
int context_end(struct rdma_context *ctx, int code, const struct error *error);

#endif
