/* SPDX-License-Identifier: MIT */
/*
 * The send queue of a queue pair on a modeled link. An operation is launched when its turn comes,
 * executed so that it is done when the message arrives, and ends when its sender would see the
 * result; until then it stays in the queue. Posts, polls and the service thread do what is due.
 *
 * An operation that consumes a receive is executed as soon as it has left, and its completion
 * carries the time from which it may be polled. Only a WRITE must not become visible early. A WRITE
 * that is alone on a short link waits inside the call that posts it, since its sender may poll
 * nothing but memory.
 */
#ifndef CORE_SOFT_LINK_SEND_QUEUE_H
#define CORE_SOFT_LINK_SEND_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

struct soft_qp;

/* Limits on how long before arrival a message is executed; the two add up. */
enum {
	SOFT_FLIGHT_LEAD_NS = 100000,
	SOFT_FLIGHT_COPY_NS = 1000000,
};

/* soft_send_run() for a queue pair on a link. Call with the private lock held. */
void soft_flight_run(struct soft_qp *qp);

/* Returns whether any operation is in flight. */
bool soft_flight_has_outstanding(const struct soft_qp *qp);

/* Polls the queue and does what is due, even if the queue is never empty. */
int soft_flight_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);

#endif
