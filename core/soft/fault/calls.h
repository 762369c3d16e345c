/* SPDX-License-Identifier: MIT */
/*
 * The verbs, rdma_cm, mlx5 and EFA calls that a fault plan can make fail, and how each reports an error:
 * NULL with errno, -1 with errno, an errno, or a negative errno. Calls that go through function
 * pointers of a context, queue pair or other object are listed by name only.
 */
#ifndef CORE_SOFT_FAULT_CALLS_H
#define CORE_SOFT_FAULT_CALLS_H

// clang-format off
#ifdef HAVE_MLX5DV
#include <infiniband/mlx5dv.h>
#define SOFT_DC_CALLS(CALL) \
	CALL(struct ibv_qp *, mlx5dv_create_qp, \
	     (struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, struct mlx5dv_qp_init_attr *own), \
	     (context, attr, own), NOTHING)
#else
#define SOFT_DC_CALLS(CALL)
#endif

#ifdef HAVE_EFADV
#include <infiniband/efadv.h>
#define SOFT_SRD_CALLS(CALL) \
	CALL(struct ibv_qp *, efadv_create_qp_ex, \
	     (struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, struct efadv_qp_init_attr *own, uint32_t size), \
	     (context, attr, own, size), NOTHING)
#else
#define SOFT_SRD_CALLS(CALL)
#endif

#define SOFT_EXPORTED_CALLS(CALL) \
	CALL(struct ibv_device **, ibv_get_device_list, \
	     (int *count), \
	     (count), NOTHING) \
	CALL(struct ibv_context *, ibv_open_device, \
	     (struct ibv_device *device), \
	     (device), NOTHING) \
	CALL(int, ibv_close_device, \
	     (struct ibv_context *context), \
	     (context), MINUS_ONE) \
	CALL(int, ibv_query_device, \
	     (struct ibv_context *context, struct ibv_device_attr *attr), \
	     (context, attr), ERRNO) \
	CALL(int, ibv_query_port, \
	     (struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr), \
	     (context, port, attr), ERRNO) \
	CALL(int, ibv_query_gid, \
	     (struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid), \
	     (context, port, index, gid), MINUS_ONE) \
	CALL(int, _ibv_query_gid_ex, \
	     (struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry, uint32_t flags, size_t size), \
	     (context, port, index, entry, flags, size), ERRNO) \
	CALL(ssize_t, _ibv_query_gid_table, \
	     (struct ibv_context *context, struct ibv_gid_entry *entries, size_t count, uint32_t flags, size_t size), \
	     (context, entries, count, flags, size), NEGATIVE) \
	CALL(int, ibv_query_pkey, \
	     (struct ibv_context *context, uint8_t port, int index, __be16 *pkey), \
	     (context, port, index, pkey), MINUS_ONE) \
	CALL(int, ibv_get_pkey_index, \
	     (struct ibv_context *context, uint8_t port, __be16 pkey), \
	     (context, port, pkey), MINUS_ONE) \
	CALL(int, ibv_get_async_event, \
	     (struct ibv_context *context, struct ibv_async_event *event), \
	     (context, event), MINUS_ONE) \
	CALL(struct ibv_pd *, ibv_alloc_pd, \
	     (struct ibv_context *context), \
	     (context), NOTHING) \
	CALL(int, ibv_dealloc_pd, \
	     (struct ibv_pd *pd), \
	     (pd), ERRNO) \
	CALL(struct ibv_mr *, ibv_reg_mr, \
	     (struct ibv_pd *pd, void *address, size_t length, int access), \
	     (pd, address, length, access), NOTHING) \
	CALL(struct ibv_mr *, ibv_reg_mr_iova, \
	     (struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access), \
	     (pd, address, length, iova, access), NOTHING) \
	CALL(struct ibv_mr *, ibv_reg_mr_iova2, \
	     (struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned int access), \
	     (pd, address, length, iova, access), NOTHING) \
	CALL(struct ibv_mr *, ibv_reg_dmabuf_mr, \
	     (struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access), \
	     (pd, offset, length, iova, fd, access), NOTHING) \
	CALL(int, ibv_dereg_mr, \
	     (struct ibv_mr *mr), \
	     (mr), ERRNO) \
	CALL(struct ibv_comp_channel *, ibv_create_comp_channel, \
	     (struct ibv_context *context), \
	     (context), NOTHING) \
	CALL(int, ibv_destroy_comp_channel, \
	     (struct ibv_comp_channel *channel), \
	     (channel), ERRNO) \
	CALL(struct ibv_cq *, ibv_create_cq, \
	     (struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int vector), \
	     (context, cqe, cq_context, channel, vector), NOTHING) \
	CALL(int, ibv_resize_cq, \
	     (struct ibv_cq *cq, int cqe), \
	     (cq, cqe), ERRNO) \
	CALL(int, ibv_destroy_cq, \
	     (struct ibv_cq *cq), \
	     (cq), ERRNO) \
	CALL(int, ibv_get_cq_event, \
	     (struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context), \
	     (channel, cq, context), MINUS_ONE) \
	CALL(struct ibv_srq *, ibv_create_srq, \
	     (struct ibv_pd *pd, struct ibv_srq_init_attr *init), \
	     (pd, init), NOTHING) \
	CALL(int, ibv_modify_srq, \
	     (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), \
	     (srq, attr, mask), ERRNO) \
	CALL(int, ibv_query_srq, \
	     (struct ibv_srq *srq, struct ibv_srq_attr *attr), \
	     (srq, attr), ERRNO) \
	CALL(int, ibv_destroy_srq, \
	     (struct ibv_srq *srq), \
	     (srq), ERRNO) \
	CALL(struct ibv_qp *, ibv_create_qp, \
	     (struct ibv_pd *pd, struct ibv_qp_init_attr *init), \
	     (pd, init), NOTHING) \
	CALL(int, ibv_modify_qp, \
	     (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), \
	     (qp, attr, mask), ERRNO) \
	CALL(int, ibv_query_qp, \
	     (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init), \
	     (qp, attr, mask, init), ERRNO) \
	CALL(int, ibv_destroy_qp, \
	     (struct ibv_qp *qp), \
	     (qp), ERRNO) \
	CALL(int, ibv_attach_mcast, \
	     (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), \
	     (qp, gid, lid), ERRNO) \
	CALL(int, ibv_detach_mcast, \
	     (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), \
	     (qp, gid, lid), ERRNO) \
	CALL(struct ibv_ah *, ibv_create_ah, \
	     (struct ibv_pd *pd, struct ibv_ah_attr *attr), \
	     (pd, attr), NOTHING) \
	CALL(int, ibv_init_ah_from_wc, \
	     (struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh, struct ibv_ah_attr *attr), \
	     (context, port, wc, grh, attr), MINUS_ONE) \
	CALL(struct ibv_ah *, ibv_create_ah_from_wc, \
	     (struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port), \
	     (pd, wc, grh, port), NOTHING) \
	CALL(int, ibv_destroy_ah, \
	     (struct ibv_ah *ah), \
	     (ah), ERRNO) \
	CALL(int, ibv_fork_init, \
	     (void), \
	     (), ERRNO) \
	CALL(struct rdma_event_channel *, rdma_create_event_channel, \
	     (void), \
	     (), NOTHING) \
	CALL(int, rdma_create_id, \
	     (struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space space), \
	     (channel, id, context, space), MINUS_ONE) \
	CALL(int, rdma_destroy_id, \
	     (struct rdma_cm_id *id), \
	     (id), MINUS_ONE) \
	CALL(int, rdma_create_ep, \
	     (struct rdma_cm_id **id, struct rdma_addrinfo *info, struct ibv_pd *pd, struct ibv_qp_init_attr *init), \
	     (id, info, pd, init), MINUS_ONE) \
	CALL(int, rdma_bind_addr, \
	     (struct rdma_cm_id *id, struct sockaddr *address), \
	     (id, address), MINUS_ONE) \
	CALL(int, rdma_resolve_addr, \
	     (struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *destination, int timeout_ms), \
	     (id, source, destination, timeout_ms), MINUS_ONE) \
	CALL(int, rdma_resolve_route, \
	     (struct rdma_cm_id *id, int timeout_ms), \
	     (id, timeout_ms), MINUS_ONE) \
	CALL(int, rdma_create_qp, \
	     (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init), \
	     (id, pd, init), MINUS_ONE) \
	CALL(int, rdma_create_qp_ex, \
	     (struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr), \
	     (id, attr), MINUS_ONE) \
	CALL(int, rdma_create_srq, \
	     (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *init), \
	     (id, pd, init), MINUS_ONE) \
	CALL(int, rdma_create_srq_ex, \
	     (struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr), \
	     (id, attr), MINUS_ONE) \
	CALL(int, rdma_listen, \
	     (struct rdma_cm_id *id, int backlog), \
	     (id, backlog), MINUS_ONE) \
	CALL(int, rdma_connect, \
	     (struct rdma_cm_id *id, struct rdma_conn_param *param), \
	     (id, param), MINUS_ONE) \
	CALL(int, rdma_establish, \
	     (struct rdma_cm_id *id), \
	     (id), MINUS_ONE) \
	CALL(int, rdma_accept, \
	     (struct rdma_cm_id *id, struct rdma_conn_param *param), \
	     (id, param), MINUS_ONE) \
	CALL(int, rdma_reject, \
	     (struct rdma_cm_id *id, const void *data, uint8_t length), \
	     (id, data, length), MINUS_ONE) \
	CALL(int, rdma_notify, \
	     (struct rdma_cm_id *id, enum ibv_event_type event), \
	     (id, event), MINUS_ONE) \
	CALL(int, rdma_disconnect, \
	     (struct rdma_cm_id *id), \
	     (id), MINUS_ONE) \
	CALL(int, rdma_join_multicast, \
	     (struct rdma_cm_id *id, struct sockaddr *group, void *context), \
	     (id, group, context), MINUS_ONE) \
	CALL(int, rdma_join_multicast_ex, \
	     (struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *context), \
	     (id, attr, context), MINUS_ONE) \
	CALL(int, rdma_leave_multicast, \
	     (struct rdma_cm_id *id, struct sockaddr *group), \
	     (id, group), MINUS_ONE) \
	CALL(int, rdma_get_request, \
	     (struct rdma_cm_id *listener, struct rdma_cm_id **id), \
	     (listener, id), MINUS_ONE) \
	CALL(int, rdma_get_cm_event, \
	     (struct rdma_event_channel *channel, struct rdma_cm_event **event), \
	     (channel, event), MINUS_ONE) \
	CALL(int, rdma_ack_cm_event, \
	     (struct rdma_cm_event *event), \
	     (event), DONE_MINUS_ONE) \
	CALL(int, rdma_migrate_id, \
	     (struct rdma_cm_id *id, struct rdma_event_channel *channel), \
	     (id, channel), MINUS_ONE) \
	CALL(int, rdma_set_option, \
	     (struct rdma_cm_id *id, int level, int option, void *value, size_t length), \
	     (id, level, option, value, length), MINUS_ONE) \
	CALL(int, rdma_init_qp_attr, \
	     (struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask), \
	     (id, attr, mask), MINUS_ONE) \
	CALL(struct ibv_context **, rdma_get_devices, \
	     (int *count), \
	     (count), NOTHING) \
	CALL(int, rdma_getaddrinfo, \
	     (const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo **info), \
	     (node, service, hints, info), MINUS_ONE) \
	SOFT_DC_CALLS(CALL) \
	SOFT_SRD_CALLS(CALL)

#define SOFT_POINTED_CALLS(CALL) \
	CALL(ibv_post_send) \
	CALL(ibv_post_recv) \
	CALL(ibv_post_srq_recv) \
	CALL(ibv_poll_cq) \
	CALL(ibv_req_notify_cq) \
	CALL(ibv_query_device_ex) \
	CALL(ibv_query_rt_values_ex) \
	CALL(ibv_create_cq_ex) \
	CALL(ibv_create_qp_ex) \
	CALL(ibv_open_qp) \
	CALL(ibv_open_xrcd) \
	CALL(ibv_close_xrcd) \
	CALL(ibv_create_srq_ex) \
	CALL(ibv_get_srq_num) \
	CALL(ibv_alloc_dm) \
	CALL(ibv_free_dm) \
	CALL(ibv_reg_dm_mr) \
	CALL(ibv_memcpy_to_dm) \
	CALL(ibv_memcpy_from_dm) \
	CALL(ibv_advise_mr) \
	CALL(ibv_alloc_null_mr) \
	CALL(ibv_alloc_td) \
	CALL(ibv_dealloc_td) \
	CALL(ibv_alloc_parent_domain) \
	CALL(ibv_modify_cq) \
	CALL(ibv_modify_qp_rate_limit) \
	CALL(ibv_alloc_mw) \
	CALL(ibv_dealloc_mw) \
	CALL(ibv_bind_mw) \
	CALL(ibv_wr_complete) \
	CALL(ibv_start_poll) \
	CALL(ibv_next_poll)
// clang-format on

/*
 * The ## operator keeps these names unexpanded, although core/soft/rename.h defines them as macros.
 */
enum soft_call {
#define SOFT_CALL_NUMBER(type, name, parameters, arguments, form) SOFT_CALL_##name,
	SOFT_EXPORTED_CALLS(SOFT_CALL_NUMBER)
#undef SOFT_CALL_NUMBER
#define SOFT_CALL_NUMBER(name) SOFT_CALL_##name,
	SOFT_POINTED_CALLS(SOFT_CALL_NUMBER)
#undef SOFT_CALL_NUMBER
		SOFT_CALLS
};

#endif
