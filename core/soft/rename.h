/* SPDX-License-Identifier: MIT */
/*
 * Included by the compiler before every source file of the soft device. It renames each function
 * that calls.h lists; the exported function of that name is in fault/wrappers.c, which consults the
 * fault plan. So the device's own calls are not counted as calls of the program.
 */
#ifndef CORE_SOFT_RENAME_H
#define CORE_SOFT_RENAME_H

#define ibv_open_device           soft_inner_ibv_open_device
#define ibv_close_device          soft_inner_ibv_close_device
#define ibv_query_device          soft_inner_ibv_query_device
#define ibv_query_gid             soft_inner_ibv_query_gid
#define _ibv_query_gid_ex         soft_inner__ibv_query_gid_ex
#define _ibv_query_gid_table      soft_inner__ibv_query_gid_table
#define ibv_query_pkey            soft_inner_ibv_query_pkey
#define ibv_get_pkey_index        soft_inner_ibv_get_pkey_index
#define ibv_get_async_event       soft_inner_ibv_get_async_event
#define ibv_alloc_pd              soft_inner_ibv_alloc_pd
#define ibv_dealloc_pd            soft_inner_ibv_dealloc_pd
#define ibv_reg_mr_iova2          soft_inner_ibv_reg_mr_iova2
#define ibv_reg_dmabuf_mr         soft_inner_ibv_reg_dmabuf_mr
#define ibv_dereg_mr              soft_inner_ibv_dereg_mr
#define ibv_create_comp_channel   soft_inner_ibv_create_comp_channel
#define ibv_destroy_comp_channel  soft_inner_ibv_destroy_comp_channel
#define ibv_create_cq             soft_inner_ibv_create_cq
#define ibv_resize_cq             soft_inner_ibv_resize_cq
#define ibv_destroy_cq            soft_inner_ibv_destroy_cq
#define ibv_get_cq_event          soft_inner_ibv_get_cq_event
#define ibv_create_srq            soft_inner_ibv_create_srq
#define ibv_modify_srq            soft_inner_ibv_modify_srq
#define ibv_query_srq             soft_inner_ibv_query_srq
#define ibv_destroy_srq           soft_inner_ibv_destroy_srq
#define ibv_create_qp             soft_inner_ibv_create_qp
#define ibv_modify_qp             soft_inner_ibv_modify_qp
#define ibv_query_qp              soft_inner_ibv_query_qp
#define ibv_destroy_qp            soft_inner_ibv_destroy_qp
#define ibv_attach_mcast          soft_inner_ibv_attach_mcast
#define ibv_detach_mcast          soft_inner_ibv_detach_mcast
#define ibv_create_ah             soft_inner_ibv_create_ah
#define ibv_init_ah_from_wc       soft_inner_ibv_init_ah_from_wc
#define ibv_create_ah_from_wc     soft_inner_ibv_create_ah_from_wc
#define ibv_destroy_ah            soft_inner_ibv_destroy_ah
#define ibv_fork_init             soft_inner_ibv_fork_init
#define mlx5dv_create_qp          soft_inner_mlx5dv_create_qp
#define efadv_create_qp_ex        soft_inner_efadv_create_qp_ex
#define rdma_create_event_channel soft_inner_rdma_create_event_channel
#define rdma_create_id            soft_inner_rdma_create_id
#define rdma_destroy_id           soft_inner_rdma_destroy_id
#define rdma_create_ep            soft_inner_rdma_create_ep
#define rdma_bind_addr            soft_inner_rdma_bind_addr
#define rdma_resolve_addr         soft_inner_rdma_resolve_addr
#define rdma_resolve_route        soft_inner_rdma_resolve_route
#define rdma_create_qp            soft_inner_rdma_create_qp
#define rdma_create_qp_ex         soft_inner_rdma_create_qp_ex
#define rdma_create_srq           soft_inner_rdma_create_srq
#define rdma_create_srq_ex        soft_inner_rdma_create_srq_ex
#define rdma_listen               soft_inner_rdma_listen
#define rdma_connect              soft_inner_rdma_connect
#define rdma_establish            soft_inner_rdma_establish
#define rdma_accept               soft_inner_rdma_accept
#define rdma_reject               soft_inner_rdma_reject
#define rdma_notify               soft_inner_rdma_notify
#define rdma_disconnect           soft_inner_rdma_disconnect
#define rdma_join_multicast       soft_inner_rdma_join_multicast
#define rdma_join_multicast_ex    soft_inner_rdma_join_multicast_ex
#define rdma_leave_multicast      soft_inner_rdma_leave_multicast
#define rdma_get_request          soft_inner_rdma_get_request
#define rdma_get_cm_event         soft_inner_rdma_get_cm_event
#define rdma_ack_cm_event         soft_inner_rdma_ack_cm_event
#define rdma_migrate_id           soft_inner_rdma_migrate_id
#define rdma_set_option           soft_inner_rdma_set_option
#define rdma_init_qp_attr         soft_inner_rdma_init_qp_attr
#define rdma_get_devices          soft_inner_rdma_get_devices
#define rdma_getaddrinfo          soft_inner_rdma_getaddrinfo

/* verbs.h defines these as macros: rename its declarations first, then redefine the macros. */
#define ibv_get_device_list soft_inner_ibv_get_device_list
#define ibv_query_port      soft_inner_ibv_query_port
#define ibv_reg_mr          soft_inner_ibv_reg_mr
#define ibv_reg_mr_iova     soft_inner_ibv_reg_mr_iova
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#undef ibv_get_device_list
#define ibv_get_device_list soft_inner_ibv_get_device_list
#undef ibv_query_port
#define ibv_query_port soft_inner_ibv_query_port
#undef ibv_reg_mr
#define ibv_reg_mr soft_inner_ibv_reg_mr
#undef ibv_reg_mr_iova
#define ibv_reg_mr_iova soft_inner_ibv_reg_mr_iova

#endif
