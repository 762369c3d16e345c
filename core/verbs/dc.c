/* SPDX-License-Identifier: MIT */
#include "core/verbs/dc.h"

#include <errno.h>
#include <stddef.h>

#include "core/verbs/provider.h"
#include "core/verbs/route.h"

#ifdef HAVE_MLX5DV
#include <infiniband/mlx5dv.h>

#define LIBRARY "libmlx5.so.1"

/* Conversions of function pointers, checked against the header. */
union create {
	void *found;
	__typeof__(&mlx5dv_create_qp) call;
};
union extend {
	void *found;
	__typeof__(&mlx5dv_qp_ex_from_ibv_qp_ex) call;
};

static struct ibv_qp *create(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr,
			     struct mlx5dv_qp_init_attr *own)
{
	const union create create = {.found = provider_function(LIBRARY, "mlx5dv_create_qp")};

	own->comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
	attr->qp_type = IBV_QPT_DRIVER;
	if (create.found)
		return create.call(verbs, attr, own);
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_qp *dc_create_initiator(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	/* The device cannot return what a READ fetches in the completion of an initiator. */
	struct mlx5dv_qp_init_attr own = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCI},
	};

	attr->srq = NULL;
	attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	return create(verbs, attr, &own);
}

struct ibv_qp *dc_create_target(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_cq *cq,
				uint64_t key)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct mlx5dv_qp_init_attr own = {
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = key},
	};

	return create(pd->context, &attr, &own);
}

void *dc_extend(struct ibv_qp_ex *qpx)
{
	const union extend extend = {
		.found = provider_function(LIBRARY, "mlx5dv_qp_ex_from_ibv_qp_ex")};

	return extend.found ? extend.call(qpx) : NULL;
}

void dc_set_target(const struct route *route)
{
	mlx5dv_wr_set_dc_addr(route->initiator, route->ah, route->qpn, route->qkey);
}

#else

struct ibv_qp *dc_create_initiator(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_qp *dc_create_target(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_cq *cq,
				uint64_t key)
{
	errno = EOPNOTSUPP;
	return NULL;
}

void *dc_extend(struct ibv_qp_ex *qpx)
{
	return NULL;
}

void dc_set_target(const struct route *route)
{
}

#endif
