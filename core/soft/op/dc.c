/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the functions of libmlx5 that DC needs, so that programs that use DC run without
 * such a NIC. mlx5dv_is_supported() stays with libmlx5, which denies it: programs that hear
 * otherwise expect everything else that libmlx5 has.
 */
#ifdef HAVE_MLX5DV
#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "core/soft/export.h"
#include "core/soft/op/pd.h"
#include "core/soft/op/qp.h"

#define MASK_SUPPORTED \
	((uint64_t)(MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS))

static void wr_set_dc_addr(struct mlx5dv_qp_ex *verbs, struct ibv_ah *ah, uint32_t number,
			   uint64_t key)
{
	struct soft_operation *operation = CONTAINER_OF(verbs, struct soft_qp, dc)->building;

	if (!operation)
		return;
	soft_send_set_target(operation, &soft_pd_ah(ah)->attr.grh, number, 0);
	operation->dc_key = key;
}

/* Checks what Linux checks for mlx5. */
static int soft_dc_check(const struct ibv_qp_init_attr_ex *attr,
			 const struct mlx5dv_qp_init_attr *own)
{
	if (own->comp_mask & ~MASK_SUPPORTED)
		return EOPNOTSUPP;
	if (attr->qp_type != IBV_QPT_DRIVER)
		return EINVAL;
	switch (own->dc_init_attr.dc_type) {
	case MLX5DV_DCTYPE_DCI:
		return attr->srq || attr->cap.max_recv_wr || attr->cap.max_recv_sge ? EINVAL : 0;
	case MLX5DV_DCTYPE_DCT:
		return !attr->srq || attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? EINVAL : 0;
	default:
		return EINVAL;
	}
}

SOFT_EXPORT struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context,
					    struct ibv_qp_init_attr_ex *attr,
					    struct mlx5dv_qp_init_attr *own)
{
	struct ibv_qp_init_attr_ex of_type = *attr;
	bool is_target;
	struct ibv_qp *verbs;

	if (!own || !(own->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC))
		return soft_qp_create_ex(context, attr);
	errno = soft_dc_check(attr, own);
	if (errno)
		return NULL;
	is_target = own->dc_init_attr.dc_type == MLX5DV_DCTYPE_DCT;
	of_type.qp_type = (enum ibv_qp_type)(is_target ? SOFT_QPT_DCT : SOFT_QPT_DCI);
	verbs = soft_qp_create(context, &of_type);
	if (!verbs)
		return NULL;
	attr->cap = of_type.cap;
	soft_qp_of(verbs)->dc.wr_set_dc_addr = wr_set_dc_addr;
	/* Nobody reads the key before the queue pair receives. */
	if (is_target)
		soft_qp_of(verbs)->image->dc_key = own->dc_init_attr.dct_access_key;
	return verbs;
}

SOFT_EXPORT struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *verbs)
{
	return &CONTAINER_OF(verbs, struct soft_qp, verbs)->dc;
}
#endif
