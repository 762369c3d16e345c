/* SPDX-License-Identifier: MIT */
/*
 * A plan of faults as text: what happens to which call, completion, event or message of
 * this process. README.md has the grammar. Counting starts when the library is loaded; the
 * plan does not change afterwards, only its counts do.
 */
#ifndef CORE_SOFT_FAULT_PLAN_H
#define CORE_SOFT_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is counted: each has an order of its own. */
enum soft_fault_kind {
	SOFT_FAULT_CALL,       /* which: enum soft_call */
	SOFT_FAULT_COMPLETION, /* of either side, as they come about */
	SOFT_FAULT_SEND,       /* what was posted to a send queue */
	SOFT_FAULT_RECEIVE,    /* completions of receives, as they are polled */
	SOFT_FAULT_CM,         /* which: enum rdma_cm_event_type */
	SOFT_FAULT_MESSAGE,    /* as SOFT_FAULT_SEND; and the following, too */
	SOFT_FAULT_LINK,
	SOFT_FAULT_PEER,
	SOFT_FAULT_DEVICE,
};

enum soft_fault_act {
	SOFT_FAULT_ERRNO, /* value: the errno */
	SOFT_FAULT_STALL, /* value: nanoseconds, as of the following two */
	SOFT_FAULT_LATE,
	SOFT_FAULT_DOWN,
	SOFT_FAULT_STATUS, /* value: enum ibv_wc_status */
	SOFT_FAULT_LOST,
	SOFT_FAULT_OTHER, /* value: enum rdma_cm_event_type */
	SOFT_FAULT_DUPLICATE,
	SOFT_FAULT_REMOVED,
};

struct soft_fault {
	enum soft_fault_kind kind;
	enum soft_fault_act act;
	uint32_t which;
	bool is_lasting; /* the n-th, and all after it */
	uint64_t n;
	uint64_t after_ns; /* of a device that goes at a time; else 0 */
	uint64_t value;
	char text[80];
	_Atomic uint64_t fired;
};

enum {
	SOFT_FAULTS = 64,
};

struct soft_fault_plan {
	struct soft_fault fault[SOFT_FAULTS];
	uint32_t count;
	uint64_t seed;
	bool reports;     /* at the end, of every fault */
	bool counts;      /* and of every call */
	char report[256]; /* where to; empty: stderr */
	char wrong[200];  /* a sentence, if the plan is not one */
};

/* A wrong one has its sentence in plan->wrong, and no faults. */
void soft_fault_plan_parse(struct soft_fault_plan *plan, const char *text);

/* Names as a plan spells them, or NULL for an unknown number. */
const char *soft_fault_call_name(uint32_t call);
const char *soft_fault_status_name(uint32_t status);
const char *soft_fault_event_name(uint32_t event);

/* -1: none is called so. */
int soft_fault_call_find(const char *name);
int soft_fault_status_find(const char *name);
int soft_fault_event_find(const char *name);
int soft_fault_errno_find(const char *name);

#endif
