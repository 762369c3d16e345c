/* SPDX-License-Identifier: MIT */
/*
 * What libibverbs exports, for drivers and for features that the soft device has not.
 * Whoever finds the symbol missing here would get the real library's, with objects
 * that are not its own.
 */
#include <stdbool.h>

#include "core/soft/unsupported.h"

/* An errno, as most functions of libibverbs return it. */
#define REFUSE(name)                   \
	SOFT_EXPORT int name(void);    \
	SOFT_EXPORT int name(void)     \
	{                              \
		return errno = ENOSYS; \
	}                              \
	_Static_assert(1, "")

/* Of drivers, which say so to libibverbs. */
extern SOFT_EXPORT bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

REFUSE(__ioctl_final_num_attrs);
REFUSE(__verbs_log);
REFUSE(_ibv_query_comp_cntr_caps);
REFUSE_POINTER(_verbs_init_and_alloc_context);
REFUSE(execute_ioctl);
REFUSE_POINTER(ibv_alloc_buf);
REFUSE_POINTER(ibv_alloc_dmah);
REFUSE(ibv_cmd_advise_mr);
REFUSE(ibv_cmd_alloc_dm);
REFUSE(ibv_cmd_alloc_dmah);
REFUSE(ibv_cmd_alloc_mw);
REFUSE(ibv_cmd_alloc_pd);
REFUSE(ibv_cmd_attach_mcast);
REFUSE(ibv_cmd_close_xrcd);
REFUSE(ibv_cmd_create_ah);
REFUSE(ibv_cmd_create_comp_cntr);
REFUSE(ibv_cmd_create_counters);
REFUSE(ibv_cmd_create_cq);
REFUSE(ibv_cmd_create_cq_ex);
REFUSE(ibv_cmd_create_cq_ex2);
REFUSE(ibv_cmd_create_flow);
REFUSE(ibv_cmd_create_flow_action_esp);
REFUSE(ibv_cmd_create_qp);
REFUSE(ibv_cmd_create_qp_ex);
REFUSE(ibv_cmd_create_qp_ex2);
REFUSE(ibv_cmd_create_rwq_ind_table);
REFUSE(ibv_cmd_create_srq);
REFUSE(ibv_cmd_create_srq_ex);
REFUSE(ibv_cmd_create_wq);
REFUSE(ibv_cmd_dealloc_mw);
REFUSE(ibv_cmd_dealloc_pd);
REFUSE(ibv_cmd_dereg_mr);
REFUSE(ibv_cmd_destroy_ah);
REFUSE(ibv_cmd_destroy_comp_cntr);
REFUSE(ibv_cmd_destroy_counters);
REFUSE(ibv_cmd_destroy_cq);
REFUSE(ibv_cmd_destroy_flow);
REFUSE(ibv_cmd_destroy_flow_action);
REFUSE(ibv_cmd_destroy_qp);
REFUSE(ibv_cmd_destroy_rwq_ind_table);
REFUSE(ibv_cmd_destroy_srq);
REFUSE(ibv_cmd_destroy_wq);
REFUSE(ibv_cmd_detach_mcast);
REFUSE(ibv_cmd_export_dmabuf_fd);
REFUSE(ibv_cmd_free_dm);
REFUSE(ibv_cmd_free_dmah);
REFUSE(ibv_cmd_get_context);
REFUSE(ibv_cmd_inc_comp_cntr);
REFUSE(ibv_cmd_inc_err_comp_cntr);
REFUSE(ibv_cmd_modify_cq);
REFUSE(ibv_cmd_modify_flow_action_esp);
REFUSE(ibv_cmd_modify_qp);
REFUSE(ibv_cmd_modify_qp_ex);
REFUSE(ibv_cmd_modify_srq);
REFUSE(ibv_cmd_modify_wq);
REFUSE(ibv_cmd_open_qp);
REFUSE(ibv_cmd_open_xrcd);
REFUSE(ibv_cmd_poll_cq);
REFUSE(ibv_cmd_post_recv);
REFUSE(ibv_cmd_post_send);
REFUSE(ibv_cmd_post_srq_recv);
REFUSE(ibv_cmd_qp_attach_comp_cntr);
REFUSE(ibv_cmd_query_comp_cntr_caps);
REFUSE(ibv_cmd_query_context);
REFUSE(ibv_cmd_query_device_any);
REFUSE(ibv_cmd_query_mr);
REFUSE(ibv_cmd_query_port);
REFUSE(ibv_cmd_query_port_speed);
REFUSE(ibv_cmd_query_qp);
REFUSE(ibv_cmd_query_srq);
REFUSE(ibv_cmd_read_comp_cntr);
REFUSE(ibv_cmd_read_counters);
REFUSE(ibv_cmd_read_err_comp_cntr);
REFUSE(ibv_cmd_reg_dm_mr);
REFUSE(ibv_cmd_reg_dmabuf_mr);
REFUSE(ibv_cmd_reg_mr);
REFUSE(ibv_cmd_reg_mr_ex);
REFUSE(ibv_cmd_req_notify_cq);
REFUSE(ibv_cmd_rereg_mr);
REFUSE(ibv_cmd_resize_cq);
REFUSE(ibv_cmd_set_comp_cntr);
REFUSE(ibv_cmd_set_err_comp_cntr);
REFUSE(ibv_copy_ah_attr_from_kern);
REFUSE(ibv_copy_path_rec_from_kern);
REFUSE(ibv_copy_path_rec_to_kern);
REFUSE(ibv_copy_qp_attr_from_kern);
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
REFUSE(ibv_read_ibdev_sysfs_file);
REFUSE_POINTER(ibv_reg_buf_mr);
REFUSE_POINTER(ibv_reg_mr_ex);
REFUSE(ibv_register_driver);
REFUSE(ibv_resolve_eth_l2_from_gid);
REFUSE(ibv_set_comp_cntr);
REFUSE(ibv_set_err_comp_cntr);
REFUSE(ibv_unimport_dm);
REFUSE(ibv_unimport_mr);
REFUSE(ibv_unimport_pd);
REFUSE_POINTER(ibv_wr_opcode_str);
REFUSE(verbs_init_cq);
REFUSE_POINTER(verbs_open_device);
REFUSE(verbs_register_driver_34);
REFUSE(verbs_set_ops);
REFUSE(verbs_uninit_context);
