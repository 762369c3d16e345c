/* SPDX-License-Identifier: MIT */
/*
 * rdma_cm on the soft device. Each connection has a socket between the two processes,
 * which carries its messages and whose end tells that the other one died. One mutex
 * guards all of rdma_cm in a process; nobody waits for a peer under it, and the service
 * thread, which takes it for what comes in, changes no queue pair: that is done by who
 * fetches the event.
 */
#ifndef CORE_SOFT_CM_CM_H
#define CORE_SOFT_CM_CM_H

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/soft/cm/socket.h"

/* How much private data there may be, as the packets of the InfiniBand CM have room. */
enum {
	SOFT_CM_CONNECT_DATA = 56,
	SOFT_CM_ACCEPT_DATA = 196,
	SOFT_CM_REJECT_DATA = 148,
	SOFT_CM_CONNECT_DATA_UD = 180,
	SOFT_CM_ACCEPT_DATA_UD = 136,
};

/* Why a request is rejected: IBTA specification, 12.6.7.2 and, of datagrams, 12.11.2.2. */
enum {
	SOFT_CM_REASON_TIMEOUT = 4,
	SOFT_CM_REASON_NO_LISTENER = 8,
	SOFT_CM_REASON_CONSUMER = 28,
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
	SOFT_CM_CONNECTING, /* the request is sent */
	SOFT_CM_ANSWERED,   /* and accepted by the other end */
	SOFT_CM_REQUESTED,  /* by the other end */
	SOFT_CM_ACCEPTED,   /* by this end */
	SOFT_CM_CONNECTED,
	SOFT_CM_LEAVING, /* this end disconnects */
	SOFT_CM_LEFT,    /* the other end does */
	SOFT_CM_CLOSED,
};

struct soft_cm_id {
	struct rdma_cm_id verbs;
	enum soft_cm_state state;
	bool is_sync;
	bool is_sharing;
	bool is_v6_only;
	uint8_t tos;
	uint8_t ack_timeout; /* 0: the usual one */
	uint32_t port;       /* its entry in the registry */
	uint32_t psn;        /* of the first packet that it sends */
	uint32_t fetched;
	uint32_t acknowledged;
	struct soft_cm_socket *link;
	struct soft_cm_address from;
	struct soft_cm_address to;
	/* What this end and the other one said of themselves. */
	struct soft_cm_message local;
	struct soft_cm_message remote;
	/* Of one that listens: how many requests may wait to be fetched, and all that wait. */
	uint32_t room;
	struct soft_cm_id *requests;
	struct soft_cm_id *next_listener;
	/* Of a request that was not fetched. */
	struct soft_cm_id *listener;
	struct soft_cm_id *next_request;
	bool is_announced;
	/* Of the timer; 0: not set. */
	uint64_t due_ns;
	struct soft_cm_id *next_timed;
	struct ibv_sa_path_rec path;
	/* Of an endpoint: */
	struct ibv_qp_init_attr *qp_init;
	struct soft_cm_id *next_known; /* where faults are planned */
};

struct soft_cm_event {
	struct rdma_cm_event verbs;
	struct soft_cm_event *next;
	struct soft_cm_id *owner; /* whose acknowledgement it is */
	uint64_t due_ns;          /* of one that a plan of faults holds back */
	unsigned char data[256];
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

/* 0, or -1 and errno: of a result that is 0, a negative or a positive errno. */
int soft_cm_return(int result);

/* Has the device open, as long as the process lives. 0 or a negative errno. */
int soft_cm_enter(void);
struct ibv_context *soft_cm_context(void);
struct ibv_pd *soft_cm_pd(void);

/* Under the mutex: an event, of the other end's words where there are some. */
void soft_cm_raise(struct soft_cm_id *id, enum rdma_cm_event_type type, int status);
void soft_cm_deliver(struct soft_cm_event *event);
void soft_cm_announce(struct soft_cm_id *request);
void soft_cm_drop_events(struct soft_cm_id *id);
void soft_cm_move_events(struct soft_cm_id *id, struct rdma_event_channel *to);

/* Waits until what was fetched is acknowledged. Under the mutex. */
void soft_cm_await(struct soft_cm_id *id);

/* Of a synchronous one: waits for the event, which tells how it went. 0 or -1. */
int soft_cm_complete(struct soft_cm_id *id);

/* 0 or a negative errno. */
int soft_cm_timer_open(void);

/* Has the state's time run out then. Under the mutex. */
void soft_cm_timer_set(struct soft_cm_id *id, uint64_t after_ms);
void soft_cm_timer_clear(struct soft_cm_id *id);
void soft_cm_expire(struct soft_cm_id *id);
void soft_cm_timer_forget(void);

/* A new one, like the one that listens where it comes from such a one. */
struct soft_cm_id *soft_cm_id_new(struct rdma_event_channel *channel, void *context,
				  enum rdma_port_space space, enum ibv_qp_type type);
/* Lets go one that nobody fetched; its connection is refused. Under the mutex. */
void soft_cm_id_discard(struct soft_cm_id *id);

/* Puts both addresses where programs see them, and the device. */
void soft_cm_id_place(struct soft_cm_id *id);

/* Under the mutex: the listeners of this process. */
struct soft_cm_id *soft_cm_listener(uint32_t port);
void soft_cm_listener_forget(struct soft_cm_id *id);
void soft_cm_listener_forget_all(void);

/* Requests that waited for room are announced. Under the mutex. */
void soft_cm_admit(struct soft_cm_id *listener);

/* Queue pairs; nothing where there is none. 0 or -1. */
int soft_cm_qp_connect(struct soft_cm_id *id);
void soft_cm_qp_fail(struct soft_cm_id *id);

/* The attributes of the address on the other side. */
void soft_cm_fill_address(const struct soft_cm_id *id, struct ibv_ah_attr *attr);

#endif
