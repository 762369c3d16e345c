/* SPDX-License-Identifier: MIT */
/*
 * Functions of librdmacm that the soft device does not support: rsockets, multicast, service names.
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

REFUSE(raccept);
REFUSE(rbind);
REFUSE(rclose);
REFUSE(rconnect);
REFUSE(rdma_join_multicast);
REFUSE(rdma_join_multicast_ex);
REFUSE(rdma_leave_multicast);
REFUSE(rdma_query_addrinfo);
REFUSE(rdma_resolve_addrinfo);
REFUSE(rdma_write_cm_event);
REFUSE(repoll_create);
REFUSE(repoll_ctl);
REFUSE(repoll_wait);
REFUSE(rfcntl);
REFUSE(rgetpeername);
REFUSE(rgetsockname);
REFUSE(rgetsockopt);
REFUSE_POINTER(riomap);
REFUSE(riounmap);
REFUSE(riowrite);
REFUSE(rlisten);
REFUSE(rpoll);
REFUSE(rread);
REFUSE(rreadv);
REFUSE(rrecv);
REFUSE(rrecvfrom);
REFUSE(rrecvmsg);
REFUSE(rselect);
REFUSE(rsend);
REFUSE(rsendmsg);
REFUSE(rsendto);
REFUSE(rsetsockopt);
REFUSE(rshutdown);
REFUSE(rsocket);
REFUSE(rwrite);
REFUSE(rwritev);
