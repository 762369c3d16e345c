/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/compiler.h"
#include "core/soft/fault/calls.h"
#include "core/soft/fault/plan.h"

enum {
	ERRNOS = 134,
};

static const char *const calls[] = {
#define NAME(type, name, parameters, arguments, form) #name,
	SOFT_EXPORTED_CALLS(NAME)
#undef NAME
#define NAME(name) #name,
		SOFT_POINTED_CALLS(NAME)
#undef NAME
};

#define STATUS(name) [IBV_WC_##name] = #name

static const char *const statuses[] = {
	STATUS(SUCCESS),           STATUS(LOC_LEN_ERR),
	STATUS(LOC_QP_OP_ERR),     STATUS(LOC_EEC_OP_ERR),
	STATUS(LOC_PROT_ERR),      STATUS(WR_FLUSH_ERR),
	STATUS(MW_BIND_ERR),       STATUS(BAD_RESP_ERR),
	STATUS(LOC_ACCESS_ERR),    STATUS(REM_INV_REQ_ERR),
	STATUS(REM_ACCESS_ERR),    STATUS(REM_OP_ERR),
	STATUS(RETRY_EXC_ERR),     STATUS(RNR_RETRY_EXC_ERR),
	STATUS(LOC_RDD_VIOL_ERR),  STATUS(REM_INV_RD_REQ_ERR),
	STATUS(REM_ABORT_ERR),     STATUS(INV_EECN_ERR),
	STATUS(INV_EEC_STATE_ERR), STATUS(FATAL_ERR),
	STATUS(RESP_TIMEOUT_ERR),  STATUS(GENERAL_ERR),
};

#define EVENT(name) [RDMA_CM_EVENT_##name] = #name

static const char *const events[] = {
	EVENT(ADDR_RESOLVED),  EVENT(ADDR_ERROR),      EVENT(ROUTE_RESOLVED),
	EVENT(ROUTE_ERROR),    EVENT(CONNECT_REQUEST), EVENT(CONNECT_RESPONSE),
	EVENT(CONNECT_ERROR),  EVENT(UNREACHABLE),     EVENT(REJECTED),
	EVENT(ESTABLISHED),    EVENT(DISCONNECTED),    EVENT(DEVICE_REMOVAL),
	EVENT(MULTICAST_JOIN), EVENT(MULTICAST_ERROR), EVENT(ADDR_CHANGE),
	EVENT(TIMEWAIT_EXIT),
};

/* Some names are exported with a leading underscore but called without it. */
const char *soft_fault_call_name(uint32_t call)
{
	return call < SOFT_CALLS ? calls[call] + (*calls[call] == '_') : NULL;
}

const char *soft_fault_status_name(uint32_t status)
{
	return status < ARRAY_LENGTH(statuses) ? statuses[status] : NULL;
}

int soft_fault_call_find(const char *name)
{
	for (uint32_t i = 0; i < SOFT_CALLS; i++)
		if (!strcmp(soft_fault_call_name(i), name))
			return (int)i;
	return -1;
}

/* Success is not a fault. */
int soft_fault_status_find(const char *name)
{
	for (uint32_t i = 1; i < ARRAY_LENGTH(statuses); i++)
		if (!strcmp(statuses[i], name))
			return (int)i;
	return -1;
}

const char *soft_fault_event_name(uint32_t event)
{
	return event < ARRAY_LENGTH(events) ? events[event] : NULL;
}

int soft_fault_event_find(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_LENGTH(events); i++)
		if (!strcmp(events[i], name))
			return (int)i;
	return -1;
}

int soft_fault_errno_find(const char *name)
{
	for (int i = 1; i < ERRNOS; i++) {
		const char *known = strerrorname_np(i);

		if (known && !strcmp(known, name))
			return i;
	}
	return -1;
}
