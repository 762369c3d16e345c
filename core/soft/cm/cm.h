/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm on the soft device. Each connection has a socket between the two processes, which carries
 * its messages; end of file means that the peer is gone. One mutex guards all rdma_cm state of a
 * process, and no thread waits for a peer while holding it. The service thread takes it to handle
 * incoming messages. That thread changes no queue pair; the thread that fetches the event does.
 */
#ifndef CORE_SOFT_CM_CM_H
#define CORE_SOFT_CM_CM_H

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/soft/cm/socket.h"

/* Private data limits, as in the packets of the InfiniBand CM. */
enum {
	SOFT_CM_CONNECT_DATA = 56,
	SOFT_CM_ACCEPT_DATA = 196,
	SOFT_CM_REJECT_DATA = 148,
	SOFT_CM_CONNECT_DATA_UD = 180,
	SOFT_CM_ACCEPT_DATA_UD = 136,
};

/* Reasons for rejecting a request: IBTA specification, 12.6.7.2 and, for datagrams, 12.11.2.2. */
enum {
	SOFT_CM_REASON_TIMEOUT = 4,
	SOFT_CM_REASON_NO_LISTENER = 8,
	SOFT_CM_REASON_CONSUMER = 28,
	SOFT_CM_REASON_ECE = 35,
	SOFT_CM_STATUS_NO_LISTENER = 1,
	SOFT_CM_STATUS_REJECTED = 2,
};

enum soft_cm_state {
	SOFT_CM_IDLE,
	SOFT_CM_BOUND,
	SOFT_CM_RESOLVING,
	SOFT_CM_ADDRESS_KNOWN,
	SOFT_CM_ROUTE_KNOWN,
	SOFT_CM_LISTENING,
	SOFT_CM_CONNECTING, /* the request has been sent */
	SOFT_CM_ANSWERED,   /* the peer has accepted */
	SOFT_CM_REQUESTED,  /* a request has been received */
	SOFT_CM_ACCEPTED,   /* accepted locally; waiting for READY */
	SOFT_CM_CONNECTED,
	SOFT_CM_LEAVING, /* disconnected locally */
	SOFT_CM_LEFT,    /* disconnected by the peer */
	SOFT_CM_CLOSED,
};

struct soft_cm_group;

struct soft_cm_id {
	struct rdma_cm_id verbs;
	/*
	 * The rsockets of librdmacm, which run on these functions, read the following members of
	 * its own struct: no device, and whether calls wait.
	 */
	void *device;
	void *unused[2];
	int unused_counts[2];
	int is_sync;
	enum soft_cm_state state;
	bool is_sharing;
	bool is_v6_only;
	uint8_t tos;
	uint8_t ack_timeout; /* 0: the default */
	uint32_t port;       /* entry in the registry's port table */
	uint32_t psn;        /* initial PSN for sending */
	struct ibv_ece local_ece;
	uint32_t fetched;
	uint32_t acknowledged;
	struct soft_cm_socket *link;
	struct soft_cm_address from;
	struct soft_cm_address to;
	/* Connection parameters of both sides. */
	struct soft_cm_message local;
	struct soft_cm_message remote;
	/* Listeners: how many requests may still be announced, and all unfetched requests. */
	uint32_t room;
	struct soft_cm_id *requests;
	struct soft_cm_id *next_listener;
	/* Requests that have not been fetched. */
	struct soft_cm_id *listener;
	struct soft_cm_id *next_request;
	bool is_announced;
	/* For the timer; 0: not set. */
	uint64_t due_ns;
	struct soft_cm_id *next_timed;
	struct ibv_sa_path_rec path;
	struct soft_cm_group *groups; /* multicast groups joined */
	/* For endpoints: */
	struct ibv_qp_init_attr *qp_init;
	struct soft_cm_id *next_known; /* used only with a fault plan */
};

struct soft_cm_event {
	struct rdma_cm_event verbs;
	struct soft_cm_event *next;
	struct soft_cm_id *owner;          /* counts the acknowledgment */
	uint64_t due_ns;                   /* for an event delayed by a fault */
	const struct soft_cm_group *group; /* NULL: not about multicast */
	unsigned char data[256];
};

/* A multicast group that an identifier has joined. */
struct soft_cm_group {
	struct soft_cm_address address;
	void *context;
	bool is_send_only;
	bool is_attached;
	struct soft_cm_group *next;
};

struct soft_cm_channel {
	struct rdma_event_channel verbs;
	struct soft_cm_event *first;
	struct soft_cm_event **last;
	bool is_gone;
};

extern pthread_mutex_t soft_cm_mutex;

static inline struct soft_cm_id *soft_cm_id_of(struct rdma_cm_id *id)
{
	return CONTAINER_OF(id, struct soft_cm_id, verbs);
}

static inline struct soft_cm_channel *soft_cm_channel_of(struct rdma_event_channel *channel)
{
	return CONTAINER_OF(channel, struct soft_cm_channel, verbs);
}

static inline bool soft_cm_is_ud(const struct soft_cm_id *id)
{
	return id->verbs.ps == RDMA_PS_UDP || id->verbs.ps == RDMA_PS_IPOIB;
}

/* Converts a result (0, or an errno of either sign) to 0, or -1 with errno set. */
int soft_cm_return(int result);

/* Opens the device, which stays open until the process ends. Returns 0 or a negative errno. */
int soft_cm_enter(void);
struct ibv_context *soft_cm_context(void);
struct ibv_pd *soft_cm_pd(void);

/* Returns the XRC domain of identifiers, or NULL with errno set. It stays open, too. */
struct ibv_xrcd *soft_cm_xrcd(void);

/* Puts an event with the peer's private data, if any. Call with the mutex held. */
void soft_cm_raise(struct soft_cm_id *id, enum rdma_cm_event_type type, int status);
void soft_cm_raise_joined(struct soft_cm_id *id, const struct soft_cm_group *group);
void soft_cm_deliver(struct soft_cm_event *event);
void soft_cm_announce(struct soft_cm_id *request);
void soft_cm_drop_events(struct soft_cm_id *id);
void soft_cm_drop_joined(struct soft_cm_id *id, const struct soft_cm_group *group);
void soft_cm_move_events(struct soft_cm_id *id, struct rdma_event_channel *to);

/* Waits until all fetched events have been acknowledged. Call with the mutex held. */
void soft_cm_await(struct soft_cm_id *id);

/* For a synchronous identifier: waits for the event and returns its result, 0 or -1. */
int soft_cm_complete(struct soft_cm_id *id);

/* Returns 0 or a negative errno. */
int soft_cm_timer_open(void);

/* Sets the timeout of the current state. Call with the mutex held. */
void soft_cm_timer_set(struct soft_cm_id *id, uint64_t after_ms);
void soft_cm_timer_clear(struct soft_cm_id *id);
void soft_cm_expire(struct soft_cm_id *id);
void soft_cm_timer_forget(void);

/* Allocates an identifier; for a request, with the listener's attributes. */
struct soft_cm_id *soft_cm_id_new(struct rdma_event_channel *channel, void *context,
				  enum rdma_port_space space, enum ibv_qp_type type);
/* Frees an identifier that was not fetched and rejects its connection. Call with the mutex held. */
void soft_cm_id_discard(struct soft_cm_id *id);

/* Fills in the addresses and the device in the public struct. */
void soft_cm_id_place(struct soft_cm_id *id);

/* The listeners of this process. Call with the mutex held. */
struct soft_cm_id *soft_cm_listener(uint32_t port);
void soft_cm_listener_forget(struct soft_cm_id *id);
void soft_cm_listener_forget_all(void);

/* Announces requests that waited for room in the backlog. Call with the mutex held. */
void soft_cm_admit(struct soft_cm_id *listener);

/* Changes the state of the queue pair, if any. Returns 0 or -1. */
int soft_cm_qp_connect(struct soft_cm_id *id);
void soft_cm_qp_fail(struct soft_cm_id *id);

/* Fills in the address handle attributes of a peer or a group. */
void soft_cm_fill_address(const struct soft_cm_id *id, const struct soft_cm_address *to,
			  struct ibv_ah_attr *attr);

/*
 * Attaches the queue pair, if any, to a group whose event is being fetched. Returns 0 or a positive
 * errno.
 */
int soft_cm_multicast_attach(struct soft_cm_id *id, const struct soft_cm_group *group);

/* Frees the groups of an identifier. Call with the mutex held. */
void soft_cm_multicast_forget(struct soft_cm_id *id);

#endif
