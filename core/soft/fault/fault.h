/* SPDX-License-Identifier: MIT */
/*
 * Faults on demand: where the device asks the plan. There is one plan for a process, read
 * when the library is loaded; without one, each of these is a test of a flag, and the
 * functions of contexts and queues are the device's own.
 */
#ifndef CORE_SOFT_FAULT_FAULT_H
#define CORE_SOFT_FAULT_FAULT_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "core/base/compiler.h"
#include "core/soft/fault/calls.h"
#include "core/soft/fault/plan.h"
#include "core/soft/op/execute.h"

struct soft_cm_event;
struct soft_cm_id;

extern bool soft_fault_is_planned;

/* The plan is replaced; NULL: there is none. For tests: no device is open meanwhile. */
void soft_fault_load(const char *text);

/* How often a fault fired that the plan names so. */
uint64_t soft_fault_fired(const char *text);

/* 0, or -EINVAL if the plan is wrong: says so once, and there is no device. */
int soft_fault_check(void);

/* Whether it has more than failing calls and other events of rdma_cm. */
bool soft_fault_meets_messages(void);

/* The next of a kind: the fault that it meets, or NULL. Several kinds may be one message. */
const struct soft_fault *soft_fault_next(enum soft_fault_kind kind, uint32_t which);

/* 0, or the errno with which the call fails; it may take its time. */
int soft_fault_call(enum soft_call call);

/* Where the device begins and ends in this process: its timer. 0 or a negative errno. */
int soft_fault_begin(void);
void soft_fault_end(void);

/* Functions of what is opened or made are replaced. */
void soft_fault_extend_context(struct ibv_context *context);
void soft_fault_extend_qp(struct ibv_qp_ex *qp);
void soft_fault_extend_cq(struct ibv_cq_ex *cq);

/* soft_execute(), or what the plan makes of it. */
enum soft_outcome soft_fault_carry(struct soft_qp *qp, struct soft_operation *operation,
				   uint32_t *rnr_timer);

static inline enum soft_outcome
soft_fault_execute(struct soft_qp *qp, struct soft_operation *operation, uint32_t *rnr_timer)
{
	if (likely(!soft_fault_is_planned))
		return soft_execute(qp, operation, rnr_timer);
	return soft_fault_carry(qp, operation, rnr_timer);
}

/* A completion is about to be polled: that of a receive may be another. */
void soft_fault_poll(struct soft_completion *entry);

/* Whether the port is down, or the device has gone. */
bool soft_fault_is_down(void);
bool soft_fault_is_removed(void);
void soft_fault_link_down(uint64_t for_ns);
void soft_fault_remove(void);
void soft_fault_reset(void);
void soft_fault_forget_messages(void);

/* What the plan has for that time happens; what comes next, or UINT64_MAX. */
uint64_t soft_fault_clock(uint64_t now_ns);

/* Under the mutex of rdma_cm. Whether the plan keeps an event, which it then delivers, or frees. */
bool soft_fault_event(struct soft_cm_event *event);
void soft_fault_drop_events(struct soft_cm_id *owner);
void soft_fault_id_made(struct soft_cm_id *id);
void soft_fault_id_gone(struct soft_cm_id *id);

/* Not under the mutex. */
void soft_fault_channel_gone(const struct rdma_event_channel *channel);

/* On the service thread, at their times. The earliest of what is to come: UINT64_MAX. */
uint64_t soft_fault_cm_due(uint64_t now_ns);
void soft_fault_cm_remove(void);
void soft_fault_wake_at(uint64_t time_ns);

#endif
