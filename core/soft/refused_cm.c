/* SPDX-License-Identifier: MIT */
/*
 * What librdmacm exports: connections and rsockets, which the soft device has not.
 */
#include <errno.h>
#include <stddef.h>

#include "core/soft/export.h"

/* -1 and errno, as most functions of librdmacm return it. */
#define REFUSE(name)                \
	SOFT_EXPORT int name(void); \
	SOFT_EXPORT int name(void)  \
	{                           \
		errno = ENOSYS;     \
		return -1;          \
	}                           \
	_Static_assert(1, "")

#define REFUSE_POINTER(name)          \
	SOFT_EXPORT void *name(void); \
	SOFT_EXPORT void *name(void)  \
	{                             \
		errno = ENOSYS;       \
		return NULL;          \
	}                             \
	_Static_assert(1, "")

REFUSE(raccept);
REFUSE(rbind);
REFUSE(rclose);
REFUSE(rconnect);
REFUSE(rdma_accept);
REFUSE(rdma_ack_cm_event);
REFUSE(rdma_bind_addr);
REFUSE(rdma_connect);
REFUSE(rdma_create_ep);
REFUSE_POINTER(rdma_create_event_channel);
REFUSE(rdma_create_id);
REFUSE(rdma_create_qp);
REFUSE(rdma_create_qp_ex);
REFUSE(rdma_create_srq);
REFUSE(rdma_create_srq_ex);
REFUSE(rdma_destroy_ep);
REFUSE(rdma_destroy_event_channel);
REFUSE(rdma_destroy_id);
REFUSE(rdma_destroy_qp);
REFUSE(rdma_destroy_srq);
REFUSE(rdma_disconnect);
REFUSE(rdma_establish);
REFUSE(rdma_free_devices);
REFUSE(rdma_freeaddrinfo);
REFUSE(rdma_get_cm_event);
REFUSE_POINTER(rdma_get_devices);
REFUSE(rdma_get_dst_port);
REFUSE(rdma_get_remote_ece);
REFUSE(rdma_get_request);
REFUSE(rdma_get_src_port);
REFUSE(rdma_getaddrinfo);
REFUSE(rdma_init_qp_attr);
REFUSE(rdma_join_multicast);
REFUSE(rdma_join_multicast_ex);
REFUSE(rdma_leave_multicast);
REFUSE(rdma_listen);
REFUSE(rdma_migrate_id);
REFUSE(rdma_notify);
REFUSE(rdma_query_addrinfo);
REFUSE(rdma_reject);
REFUSE(rdma_reject_ece);
REFUSE(rdma_resolve_addr);
REFUSE(rdma_resolve_addrinfo);
REFUSE(rdma_resolve_route);
REFUSE(rdma_set_local_ece);
REFUSE(rdma_set_option);
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
