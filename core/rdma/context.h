/* SPDX-License-Identifier: MIT */
/*
 * Internals of struct rdma_context: creating and releasing its resources, and code shared
 * by server, client and operations. Functions return 0 or a negative errno with the error
 * set; the public functions turn that into -1 and a reason with context_end.
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

/*
 * The wr_id values of work requests posted by the blocking operations, unlikely to clash
 * with a caller's.
 */
#define CONTEXT_OPERATION 0x56424d4b00000001ULL
#define CONTEXT_RECEIVE   0x56424d4b00000002ULL
#define CONTEXT_PROBE     0x56424d4b00000003ULL

/* Message headers. They are registered separately, so that no peer can write to them. */
struct context_slots {
	uint8_t received[SEND_HEADER_SIZE];
	uint8_t sent[SEND_HEADER_SIZE];
	uint8_t packed[256]; /* follows sent: a payload sent inline with its header */
};

/* Path of a manual queue pair. */
struct context_path {
	bool is_open;
	struct manual_qp_settings settings; /* with defaults filled in */
	struct manual_qp_address own;
	struct manual_qp_address other;
	struct route route; /* to the peer or the group; owns its address handle */
	bool is_attached;   /* to the group */
};

/* Returns whether a client at that address may connect to the server. */
typedef bool context_permits(const void *owner, const struct sockaddr *client);

struct rdma_state {
	bool begun;                /* set-up has begun, beyond borrowing an endpoint */
	struct endpoint own;       /* closed if an endpoint is borrowed */
	struct endpoint *endpoint; /* the endpoint in use, own or borrowed */
	struct ibv_mr *region;     /* the context's own part of a borrowed one's buffer, or NULL */
	struct post_queue queue;
	struct ibv_qp *target;              /* XRC and DC only: the queue pair that receives */
	struct rdma_event_channel *channel; /* conn's own, where ec belongs to the listener */
	struct rdma_event_channel *watched; /* the channel that reports conn's events */
	struct rdma_cm_id *conn;            /* the context's, for the watcher */
	struct cm_event event;
	struct memory slots; /* closed on a borrowed endpoint */
	struct ibv_mr *slots_mr;
	struct watch cm_watch;
	struct async async;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	uint8_t port_num;
	enum transport transport;
	struct context_path path; /* of a manual queue pair */
	struct error failed;      /* fatal error of this connection */
	bool connected;
	bool prepared; /* a receive is posted */
	bool arrived;  /* a message was received but not yet returned */
	bool probing;  /* a probe is outstanding */
	bool done;     /* the awaited operation has completed */
	struct rdma_message message;
	bool has_ticket;
	uint8_t ticket[PRIVATE_DATA_TICKET];
	context_permits *permits; /* NULL: all clients are allowed */
	const void *owner;
};

/*
 * Attaches a zeroed context, with its settings, to a shared endpoint: set-up then creates
 * only the connection and its queue pair, and rdma_close leaves the endpoint open. The
 * caller posts all work requests and receives (own_receives); blocking operations fail,
 * since they would consume other contexts' completions. The attachment lasts until
 * rdma_close or a failed set-up. Buffer, buffer size and completion mode are the
 * endpoint's. When a listener drops the last connection of an endpoint, its next client
 * gets a renewed endpoint.
 */
int context_use(struct rdma_context *ctx, struct endpoint *endpoint, struct error *error);

/* After context_use: the peer gets access to that region instead of the endpoint's. */
void context_set_region(struct rdma_context *ctx, struct ibv_mr *region);

/*
 * Call between context_use and set-up. A client presents the ticket when it connects; a
 * server rejects clients without it.
 */
void context_set_ticket(struct rdma_context *ctx, const uint8_t ticket[static PRIVATE_DATA_TICKET]);

/* Call between context_use and set-up: restricts the clients that a server accepts. */
void context_set_permits(struct rdma_context *ctx, context_permits *permits, const void *owner);
/* Returns -EACCES if the client that asks to connect is not allowed. */
int context_check_client(const struct rdma_context *ctx, struct rdma_cm_id *id,
			 struct error *error);

/* Parts of a context that a measurement loop uses, once the context is set up. */
struct completion *context_completion(const struct rdma_context *ctx);
const struct post_queue *context_queue(const struct rdma_context *ctx);
struct alarm *context_alarm(const struct rdma_context *ctx);

/* Returns whether set-up has not begun. If it then fails, the caller releases the context. */
bool context_is_fresh(const struct rdma_context *ctx);

/* Creates the state of a context, unless context_use did. */
int context_begin(struct rdma_context *ctx, struct error *error);

/* Returns whether the context is on a shared endpoint. */
bool context_borrows(const struct rdma_context *ctx);

/* Queries device and port and checks the settings against their limits. */
int context_check(struct rdma_context *ctx, struct ibv_context *verbs, uint8_t port,
		  struct error *error);

/* Checks that the id is on the named device: several devices may have the same address. */
int context_check_device(const struct rdma_cm_id *id, const char *ib_dev, struct error *error);

/* Waits on a channel for the wanted event; any other event is an error. */
int context_expect(struct rdma_context *ctx, struct rdma_event_channel *channel,
		   enum rdma_cm_event_type wanted, unsigned int timeout_ms, struct error *error);

/*
 * Checks limits and creates the queue pair, and the context's own endpoint if none is
 * borrowed. conn must exist.
 */
int context_build(struct rdma_context *ctx, struct error *error);

/* Creates the queue pair on the existing endpoint and watches it. */
int context_open_qp(struct rdma_context *ctx, struct error *error);

/* Returns the description of the local buffer that is sent to the peer. */
struct rdma_remote context_own(const struct rdma_context *ctx);

/* Sets the ACK timeout before conn connects or accepts; rdma_cm's default is too long. */
void context_set_ack_timeout(struct rdma_context *ctx);

/*
 * Finishes an established connection: sets the RNR timer and lets the watcher read the
 * channel.
 */
int context_connected(struct rdma_context *ctx, struct rdma_event_channel *channel,
		      struct error *error);

/* Posts the receive for the next message, unless one is posted. */
int context_prepare(struct rdma_context *ctx, struct error *error);

/* Releases the connection but keeps the listener. Returns the first failure. */
int context_drop(struct rdma_context *ctx);

/* Releases everything. */
int context_release(struct rdma_context *ctx);

/* Stores the reason for a failure in the context. Returns 0 or -1. */
int context_end(struct rdma_context *ctx, int code, const struct error *error);

#endif
