/* SPDX-License-Identifier: MIT */
/*
 * Fault injection in an agent: makes the n-th call of a function of verbs, librdmacm or the
 * C library fail. The functions here replace the real ones in the whole program, so they
 * are linked into one program and not into the agents' library.
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

/* Makes the n-th of these calls from now on fail. */
void fault_arm(struct agent *agent, enum call call, size_t n);

/* Stops failing calls. Returns whether one has failed. */
bool fault_disarm(struct agent *agent);

#endif
