/* SPDX-License-Identifier: MIT */
/*
 * Moderation of completion events. A moderated CQ raises an event once enough completions have
 * arrived, or some time after the first that no event has reported. Putting that completion rings
 * the owner's doorbell, and the owner's service thread keeps the time.
 */
#ifndef CORE_SOFT_OP_MODERATION_H
#define CORE_SOFT_OP_MODERATION_H

#include <infiniband/verbs.h>

struct soft_cq;

enum {
	SOFT_MODERATION_COUNT = UINT16_MAX,
	SOFT_MODERATION_US = 4095, /* as on mlx5 */
};

/* Verb that the context calls by pointer. */
int soft_moderation_modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/* Call before a queue is destroyed. */
void soft_moderation_remove(struct soft_cq *cq);

/* Raises the events that are due, and sets the timer for the others. */
void soft_moderation_run(void);

/* In a forked child, or when the process closes its device: forgets all queues. */
void soft_moderation_forget(void);

#endif
