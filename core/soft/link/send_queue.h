/* SPDX-License-Identifier: MIT */
/*
 * The send queue of a queue pair on a modelled link. An operation is launched when its
 * turn comes, executed so that it is done when the message arrives, and ends when its
 * sender would hear of it; until then it stays in the queue. Whoever comes next does
 * what is due: a post, a poll, the service thread. What takes a receive is executed as
 * soon as it has left, and its completion says from when on it may be polled. Only a
 * write must not be seen before its time: one that is alone on a short way waits for
 * that in the call that posts it, since its sender may look at nothing but memory.
 */
#ifndef CORE_SOFT_LINK_SEND_QUEUE_H
#define CORE_SOFT_LINK_SEND_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

struct soft_qp;

/* How long before it arrives a message is executed at the most: both together. */
enum {
	SOFT_FLIGHT_LEAD_NS = 100000,
	SOFT_FLIGHT_COPY_NS = 1000000,
};

/* What soft_send_run() is on a link. Under the private lock. */
void soft_flight_run(struct soft_qp *qp);

/* Whether something of it is still under way. */
bool soft_flight_is_under_way(const struct soft_qp *qp);

/* A poll that does what is due even where the queue is never empty. */
int soft_flight_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc);

#endif
