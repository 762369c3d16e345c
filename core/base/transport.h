/* SPDX-License-Identifier: MIT */
/*
 * The transports: one row for each, with all properties that plans, lanes and queue pairs depend
 * on. transport_names has their names on the command line, in plans and in results.
 */
#ifndef CORE_BASE_TRANSPORT_H
#define CORE_BASE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

/* All transports in the order in which users see them. */
#define TRANSPORT_LIST(EACH) EACH(RC) EACH(UC) EACH(UD) EACH(XRC) EACH(DC) EACH(SRD)

#define TRANSPORT_NUMBER(name) TRANSPORT_##name,
enum transport {
	TRANSPORT_LIST(TRANSPORT_NUMBER) TRANSPORTS
};

/* Properties of a transport; each has sends. */
#define TRANSPORT_WRITES    (1U << 0)
#define TRANSPORT_READS     (1U << 1)
#define TRANSPORT_ATOMICS   (1U << 2)
#define TRANSPORT_RELIABLE  (1U << 3)  /* acknowledges messages and retransmits lost ones */
#define TRANSPORT_DATAGRAM  (1U << 4)  /* one packet per message, received with a GRH */
#define TRANSPORT_BY_CM     (1U << 5)  /* rdma_cm connects its queue pairs */
#define TRANSPORT_CONNECTED (1U << 6)  /* a queue pair has a path to one other side */
#define TRANSPORT_DEFAULT   (1U << 7)  /* for calls that are the same on all transports */
#define TRANSPORT_TWO_WAY   (1U << 8)  /* a queue pair both sends and receives */
#define TRANSPORT_ORDERED   (1U << 9)  /* messages arrive, and requests complete, in order */
#define TRANSPORT_STANDARD  (1U << 10) /* libibverbs creates its queue pairs */

/* How a work request names its peer: see core/verbs/route.h. */
enum route_kind {
	ROUTE_CONNECTED, /* implicitly: the queue pair is connected */
	ROUTE_ADDRESS,   /* by an address handle, a queue pair number and a Q_Key */
	ROUTE_SRQ,       /* connected, and by the number of the peer's shared receive queue */
	ROUTE_TARGET,    /* by an address handle, and the number and the key of a target of DC */
	ROUTE_SRD,       /* as ROUTE_ADDRESS, also for reads and writes */
};

struct transport_row {
	unsigned int has; /* TRANSPORT_... */
	enum route_kind route;
	/*
	 * The error for an operation that the transport does not support; NULL if it supports
	 * all.
	 */
	const char *refusal;
	/* Why this build has no such transport, or NULL. */
	const char *unavailable;
};

extern const struct transport_row transports[TRANSPORTS];
/* Their names in the same order, NULL-terminated. */
extern const char *const transport_names[TRANSPORTS + 1];

/* Returns whether the transport has all of these properties. */
static inline bool transport_has(enum transport transport, unsigned int properties)
{
	return !(properties & ~transports[transport].has);
}

/* Returns whether queue pairs acknowledge messages, and have the timers and counters for that. */
static inline bool transport_is_acknowledged(enum transport transport)
{
	return transport_has(transport, TRANSPORT_CONNECTED | TRANSPORT_RELIABLE);
}

/* Bytes of the global routing header. */
#define TRANSPORT_GRH 40

/* Returns the number of bytes in front of each received message. */
static inline size_t transport_head(enum transport transport)
{
	return transport_has(transport, TRANSPORT_DATAGRAM) ? TRANSPORT_GRH : 0;
}

#endif
