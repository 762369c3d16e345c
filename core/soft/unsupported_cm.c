/* SPDX-License-Identifier: MIT */
/*
 * Functions of librdmacm that the soft device does not support: service names.
 */
#include "core/soft/unsupported.h"

/* Returns -1 with errno set, like most functions of librdmacm. */
#define REFUSE(name)                \
	SOFT_EXPORT int name(void); \
	SOFT_EXPORT int name(void)  \
	{                           \
		errno = ENOSYS;     \
		return -1;          \
	}                           \
	_Static_assert(1, "")

REFUSE(rdma_query_addrinfo);
REFUSE(rdma_resolve_addrinfo);
REFUSE(rdma_write_cm_event);
