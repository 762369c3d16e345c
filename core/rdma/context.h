/* SPDX-License-Identifier: MIT */
/*
 * The inside of a struct rdma_context, and how its resources are built and
 * released; what server, client and operations have in common. Functions return 0
 * or a negative errno with the error; the public ones turn that into -1 and a
 * reason by context_end.
 */
#ifndef CORE_RDMA_CONTEXT_H
#define CORE_RDMA_CONTEXT_H

#include "core/base/alarm.h"
#include "core/base/watch.h"
#include "core/memory/memory.h"
#include "core/rdma/cm.h"
#include "core/rdma/endpoint.h"
#include "core/rdma/manual_qp.h"
#include "core/rdma/private_data.h"
#include "core/rdma/rdma.h"
#include "core/rdma/send_header.h"
#include "core/verbs/async.h"
#include "core/verbs/completion.h"
#include "core/verbs/limits.h"
#include "core/verbs/post.h"

/* The wr_id of what the blocking operations post: none that a caller would think of. */
#define CONTEXT_OPERATION 0x56424d4b00000001ULL
#define CONTEXT_RECEIVE   0x56424d4b00000002ULL
#define CONTEXT_PROBE     0x56424d4b00000003ULL

/* What is registered for heads only, so that no peer can write there. */
struct context_slots {
	uint8_t received[SEND_HEADER_SIZE];
	uint8_t sent[SEND_HEADER_SIZE];
	uint8_t packed[256]; /* behind sent: a payload that goes inline with its head */
};

/* What a pair by hand goes by. */
struct context_path {
	bool is_open;
	struct manual_qp_settings settings; /* with their defaults put in */
	struct manual_qp_address own;
	struct manual_qp_address other;
	struct route route; /* to the other end; owns its address handle */
};

/* Whether one at that address may be a server's client. */
typedef bool context_permits(const void *owner, const struct sockaddr *client);

struct rdma_state {
	bool begun;                /* set-up has, beyond a borrowed ground */
	struct endpoint own;       /* closed, if one is borrowed */
	struct endpoint *endpoint; /* the one it is on, own or borrowed */
	struct post_queue queue;
	struct rdma_event_channel *channel; /* conn's own, where ec is the listener's */
	struct rdma_event_channel *watched; /* the one that conn's events come by */
	struct rdma_cm_id *conn;            /* the context's, for the watcher */
	struct cm_event event;
	struct memory slots; /* none on a borrowed ground */
	struct ibv_mr *slots_mr;
	struct watch cm_watch;
	struct async async;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	uint8_t port_num;
	enum transport transport;
	struct context_path path; /* of a pair by hand */
	struct error failed;      /* of this connection, for good */
	bool connected;
	bool prepared; /* a receive is posted */
	bool arrived;  /* a message was received and not yet handed out */
	bool probing;  /* a probe is under way */
	bool done;     /* the operation that is waited for */
	struct rdma_message message;
	bool has_ticket;
	uint8_t ticket[PRIVATE_DATA_TICKET];
	context_permits *permits; /* NULL: everybody is */
	const void *owner;
};

/*
 * Puts a zeroed context, with its settings, on a ground that others are on: set-up then
 * makes only the connection and its queue pair, and rdma_close leaves the ground alone.
 * The context receives by itself (own_receives), and its owner posts: operations that
 * block are refused, for they would take the completions of others. It holds until
 * rdma_close or a set-up that fails. Buffer, its size and the way of waiting are the
 * ground's. A listener that drops the last connection on a ground and takes the next
 * one finds it as good as new.
 */
int context_use(struct rdma_context *ctx, struct endpoint *endpoint, struct error *error);

/*
 * Between context_use and set-up: a client shows that ticket when it connects, and a
 * server takes nobody without it.
 */
void context_set_ticket(struct rdma_context *ctx, const uint8_t ticket[static PRIVATE_DATA_TICKET]);

/* Between context_use and set-up: a server takes nobody but those. */
void context_set_permits(struct rdma_context *ctx, context_permits *permits, const void *owner);
/* Of who asks to connect. -EACCES: is not to. */
int context_check_client(const struct rdma_context *ctx, struct rdma_cm_id *id,
			 struct error *error);

/* What a loop needs of a context that is set up. */
struct completion *context_completion(const struct rdma_context *ctx);
const struct post_queue *context_queue(const struct rdma_context *ctx);
struct alarm *context_alarm(const struct rdma_context *ctx);

/* Whether it is not set up, and so goes when its set-up fails. */
bool context_is_fresh(const struct rdma_context *ctx);

/* Makes the state of a context that has none, or none but a ground. */
int context_begin(struct rdma_context *ctx, struct error *error);

/* Whether it shares a ground with others. */
bool context_borrows(const struct rdma_context *ctx);

/* Queries device and port, and holds what is wanted of that transport against them. */
int context_check(struct rdma_context *ctx, struct ibv_context *verbs, uint8_t port,
		  struct error *error);

/* An address may belong to several devices: whether it is the one that was named. */
int context_check_device(const struct rdma_cm_id *id, const char *ib_dev, struct error *error);

/* Waits on a channel for that event; everything else is an error. */
int context_expect(struct rdma_context *ctx, struct rdma_event_channel *channel,
		   enum rdma_cm_event_type wanted, unsigned int timeout_ms, struct error *error);

/* conn is there: checks limits, makes the ground if it is its own, and the queue pair. */
int context_build(struct rdma_context *ctx, struct error *error);

/* Makes the queue pair on the ground that there is, and watches over it. */
int context_stand(struct rdma_context *ctx, struct error *error);

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
