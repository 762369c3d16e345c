/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: the hooks where the device consults the fault plan. Each process has one plan,
 * read when the library is loaded. Without a plan, each hook only tests a flag, and function
 * pointers of contexts and queues are not replaced.
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

/* Replaces the plan; NULL removes it. For tests, while no device is open. */
void soft_fault_load(const char *text);

/* Returns how often faults with this text in the plan have fired. */
uint64_t soft_fault_fired(const char *text);

/* Returns 0, or -EINVAL if the plan is invalid. Prints the reason once; there is no device then. */
int soft_fault_check(void);

/* Returns whether the plan has faults other than those of calls and rdma_cm events. */
bool soft_fault_has_message_faults(void);

/*
 * Counts an occurrence and returns the fault that applies to it, or NULL. One message may count for
 * several kinds.
 */
const struct soft_fault *soft_fault_next(enum soft_fault_kind kind, uint32_t which);

/* Returns 0, or the errno with which the call fails. May sleep. */
int soft_fault_call(enum soft_call call);

/* Start and stop the timer along with the device. Return 0 or a negative errno. */
int soft_fault_begin(void);
void soft_fault_end(void);

/* Replace functions of an object that was opened or created. */
void soft_fault_extend_context(struct ibv_context *context);
void soft_fault_extend_qp(struct ibv_qp_ex *qp);
void soft_fault_extend_cq(struct ibv_cq_ex *cq);
void soft_fault_extend_dm(struct ibv_dm *dm);

/* Executes the operation as soft_execute() does, or as the plan says. */
enum soft_outcome soft_fault_execute_planned(struct soft_qp *qp, struct soft_operation *operation,
					     uint32_t *rnr_timer);

static inline enum soft_outcome
soft_fault_execute(struct soft_qp *qp, struct soft_operation *operation, uint32_t *rnr_timer)
{
	if (likely(!soft_fault_is_planned))
		return soft_execute(qp, operation, rnr_timer);
	return soft_fault_execute_planned(qp, operation, rnr_timer);
}

/* May change the status of a receive's completion that is about to be polled. */
void soft_fault_poll(struct soft_completion *entry);

/* Return whether the port is down or the device has been removed. */
bool soft_fault_is_down(void);
bool soft_fault_is_removed(void);
void soft_fault_link_down(uint64_t for_ns);
void soft_fault_remove(void);
void soft_fault_reset(void);
void soft_fault_forget_messages(void);

/* Triggers faults scheduled up to now. Returns the time of the next one, or UINT64_MAX. */
uint64_t soft_fault_clock(uint64_t now_ns);

/*
 * Returns whether the plan takes the event over, to deliver it later or free it. Call with the
 * rdma_cm mutex held.
 */
bool soft_fault_event(struct soft_cm_event *event);
void soft_fault_drop_events(struct soft_cm_id *owner);
void soft_fault_id_made(struct soft_cm_id *id);
void soft_fault_id_gone(struct soft_cm_id *id);

/* Call without the mutex. */
void soft_fault_channel_gone(const struct rdma_event_channel *channel);

/*
 * Delivers delayed events that are due, on the service thread. Returns the time of the next one, or
 * UINT64_MAX.
 */
uint64_t soft_fault_cm_due(uint64_t now_ns);
void soft_fault_cm_remove(void);
void soft_fault_wake_at(uint64_t time_ns);

#endif
