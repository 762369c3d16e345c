/* SPDX-License-Identifier: MIT */
/*
 * Calls of an agent that fail: the n-th of one of the functions that set-up needs, be
 * it of verbs, librdmacm or the C library. These stand in front of the real ones in the
 * whole program, so that they belong to one program, and not into the library of agents.
 */
#ifndef CORE_TEST_LIB_FAULT_H
#define CORE_TEST_LIB_FAULT_H

#include "core/test/lib/agent.h"

enum call {
	GET_DEVICE_LIST,
	OPEN_DEVICE,
	QUERY_DEVICE,
	QUERY_PORT,
	QUERY_GID_TABLE,
	ALLOC_PD,
	REG_MR,
	CREATE_COMP_CHANNEL,
	CREATE_CQ,
	REQ_NOTIFY_CQ,
	CREATE_QP_EX,
	MODIFY_QP,
	POST_RECV,
	CREATE_EVENT_CHANNEL,
	CREATE_ID,
	BIND_ADDR,
	LISTEN,
	RESOLVE_ADDR,
	RESOLVE_ROUTE,
	CM_CREATE_QP_EX,
	CONNECT,
	ACCEPT,
	GET_CM_EVENT,
	MIGRATE_ID,
	SET_OPTION,
	EVENTFD,
	PTHREAD_CREATE,
	CALLOC,
	REALLOCARRAY,
	MMAP,
	GETIFADDRS,
	CREATE_SRQ,
	CREATE_AH,
	GET_CM_DEVICES,
};

/* From now on, the n-th of these calls fails. */
void fault_arm(struct agent *agent, enum call call, size_t n);

/* None does any more. Returns whether the call came to be made. */
bool fault_disarm(struct agent *agent);

#endif
