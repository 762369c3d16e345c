/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the functions of libefa that SRD needs, so that programs that use SRD run without
 * EFA. Messages really arrive out of order: see core/soft/op/send.c.
 */
#ifdef HAVE_EFADV
#include <errno.h>
#include <infiniband/efadv.h>
#include <string.h>

#include "core/soft/device.h"
#include "core/soft/export.h"
#include "core/soft/op/qp.h"

/* EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE of newer headers. */
#define RDMA_WRITE (1U << 3)
#define RDMA_MOST  (1U << 30)

static int soft_srd_check(const struct ibv_qp_init_attr_ex *attr,
			  const struct efadv_qp_init_attr *own, uint32_t size)
{
	if (size < sizeof(*own) || own->comp_mask || attr->qp_type != IBV_QPT_DRIVER ||
	    own->driver_qp_type != EFADV_QP_DRIVER_TYPE_SRD)
		return EINVAL;
	return attr->srq ? EOPNOTSUPP : 0;
}

SOFT_EXPORT struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context,
					      struct ibv_qp_init_attr_ex *attr,
					      struct efadv_qp_init_attr *own, uint32_t size)
{
	struct ibv_qp_init_attr_ex of_type = *attr;
	struct ibv_qp *verbs;

	errno = soft_srd_check(attr, own, size);
	if (errno)
		return NULL;
	of_type.qp_type = (enum ibv_qp_type)SOFT_QPT_SRD;
	of_type.sq_sig_all = true; /* EFA signals all requests */
	verbs = soft_qp_create(context, &of_type);
	if (!verbs)
		return NULL;
	attr->cap = of_type.cap;
	soft_qp_of(verbs)->chance = soft_qp_number(soft_qp_of(verbs));
	return verbs;
}

SOFT_EXPORT struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init,
						  uint32_t type)
{
	struct ibv_qp_init_attr_ex attr = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
	struct efadv_qp_init_attr own = {.driver_qp_type = type};
	struct ibv_qp *qp;

	/* The two structs share a prefix; the shorter one has padding where comp_mask is. */
	memcpy(&attr, init, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	qp = efadv_create_qp_ex(pd->context, &attr, &own, sizeof(own));
	if (qp)
		init->cap = attr.cap;
	return qp;
}

SOFT_EXPORT int efadv_query_device(struct ibv_context *context, struct efadv_device_attr *attr,
				   uint32_t size)
{
	const struct efadv_device_attr all = {
		.max_sq_wr = SOFT_WR_MAX,
		.max_rq_wr = SOFT_WR_MAX,
		.max_sq_sge = SOFT_SGE_MAX,
		.max_rq_sge = SOFT_SGE_MAX,
		.inline_buf_size = SOFT_INLINE_MAX,
		.device_caps = EFADV_DEVICE_ATTR_CAPS_RDMA_READ | EFADV_DEVICE_ATTR_CAPS_RNR_RETRY |
			       RDMA_WRITE,
		.max_rdma_size = RDMA_MOST,
	};

	memset(attr, 0, size);
	memcpy(attr, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}
#endif
