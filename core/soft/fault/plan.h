/* SPDX-License-Identifier: MIT */
/*
 * Fault plans as text: what happens to which call, completion, event or message of this process.
 * verbmark-soft(7) describes the grammar. Counting starts when the library is loaded. After parsing, only
 * the counts change.
 */
#ifndef CORE_SOFT_FAULT_PLAN_H
#define CORE_SOFT_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of occurrences, each counted separately. */
enum soft_fault_kind {
	SOFT_FAULT_CALL,       /* which: enum soft_call */
	SOFT_FAULT_COMPLETION, /* of sends and receives, in order of occurrence */
	SOFT_FAULT_SEND,       /* work requests posted to a send queue */
	SOFT_FAULT_RECEIVE,    /* completions of receives, when polled */
	SOFT_FAULT_CM,         /* which: enum rdma_cm_event_type */
	SOFT_FAULT_MESSAGE,    /* counted like SOFT_FAULT_SEND, as are the following */
	SOFT_FAULT_LINK,
	SOFT_FAULT_PEER,
	SOFT_FAULT_DEVICE,
};

enum soft_fault_act {
	SOFT_FAULT_ERRNO, /* value: the errno */
	SOFT_FAULT_STALL, /* value: nanoseconds, also for the next two */
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
	bool is_lasting; /* also applies to all later ones */
	uint64_t n;
	uint64_t after_ns; /* device removal at a given time; else 0 */
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
	bool reports;     /* report every fault at exit */
	bool counts;      /* report every counted call, too */
	char report[256]; /* file for the report; empty: stderr */
	char wrong[200];  /* error message, if the plan is invalid */
};

/* Parses a plan. If it is invalid, plan->wrong holds the reason, and there are no faults. */
void soft_fault_plan_parse(struct soft_fault_plan *plan, const char *text);

/* Return names as a plan spells them, or NULL for an unknown number. */
const char *soft_fault_call_name(uint32_t call);
const char *soft_fault_status_name(uint32_t status);
const char *soft_fault_event_name(uint32_t event);

/* Return -1 for an unknown name. */
int soft_fault_call_find(const char *name);
int soft_fault_status_find(const char *name);
int soft_fault_event_find(const char *name);
int soft_fault_errno_find(const char *name);

#endif
