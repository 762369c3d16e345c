/* SPDX-License-Identifier: MIT */
/*
 * Functions of libibverbs that the soft device does not support. If they were missing, a program
 * would call the real library with objects that it does not know. Functions that take no object
 * (names, rates) or that only drivers call still come from the real library.
 */
#include "core/soft/unsupported.h"

/* Returns an errno, like most functions of libibverbs. */
#define REFUSE(name)                   \
	SOFT_EXPORT int name(void);    \
	SOFT_EXPORT int name(void)     \
	{                              \
		return errno = ENOSYS; \
	}                              \
	_Static_assert(1, "")

REFUSE(_ibv_query_comp_cntr_caps);
REFUSE_POINTER(ibv_alloc_buf);
REFUSE_POINTER(ibv_alloc_dmah);
REFUSE_POINTER(ibv_create_comp_cntr);
REFUSE(ibv_dealloc_dmah);
REFUSE(ibv_destroy_comp_cntr);
REFUSE(ibv_dm_export_dmabuf_fd);
REFUSE_POINTER(ibv_dmabuf_heap_alloc);
REFUSE(ibv_dmabuf_heap_cc_shared_init);
REFUSE(ibv_dmabuf_heap_destroy);
REFUSE(ibv_dmabuf_heap_free);
REFUSE(ibv_export_buf_dmabuf_fd);
REFUSE(ibv_free_buf);
REFUSE_POINTER(ibv_import_device);
REFUSE_POINTER(ibv_import_dm);
REFUSE_POINTER(ibv_import_mr);
REFUSE_POINTER(ibv_import_pd);
REFUSE(ibv_inc_comp_cntr);
REFUSE(ibv_inc_err_comp_cntr);
REFUSE(ibv_qp_attach_comp_cntr);
REFUSE(ibv_query_port_speed);
REFUSE(ibv_read_comp_cntr);
REFUSE(ibv_read_err_comp_cntr);
REFUSE_POINTER(ibv_reg_buf_mr);
REFUSE_POINTER(ibv_reg_mr_ex);
REFUSE(ibv_resolve_eth_l2_from_gid);
REFUSE(ibv_set_comp_cntr);
REFUSE(ibv_set_err_comp_cntr);
REFUSE(ibv_unimport_dm);
REFUSE(ibv_unimport_mr);
REFUSE(ibv_unimport_pd);
