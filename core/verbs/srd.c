/* SPDX-License-Identifier: MIT */
#include "core/verbs/srd.h"

#include <errno.h>
#include <stddef.h>

#include "core/verbs/provider.h"

#ifdef HAVE_EFADV
#include <infiniband/efadv.h>

#define LIBRARY "libefa.so.1"

/* EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE of newer headers. */
#define RDMA_WRITE (1U << 3)

/* Conversions of function pointers, checked against the header. */
union create {
	void *found;
	__typeof__(&efadv_create_qp_ex) call;
};
union query {
	void *found;
	__typeof__(&efadv_query_device) call;
};

struct srd_support srd_query(struct ibv_context *verbs)
{
	const union query query = {.found = provider_function(LIBRARY, "efadv_query_device")};
	struct efadv_device_attr attr = {0};

	if (!query.found || query.call(verbs, &attr, sizeof(attr)))
		return (struct srd_support){0};
	return (struct srd_support){
		.is_efa = true,
		.has_reads = attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ,
		.has_writes = attr.device_caps & RDMA_WRITE,
		.most_bytes = attr.max_rdma_size,
	};
}

struct ibv_qp *srd_create(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	const union create create = {.found = provider_function(LIBRARY, "efadv_create_qp_ex")};
	struct efadv_qp_init_attr own = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
	const struct srd_support support = srd_query(verbs);

	if (!create.found) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!support.has_reads)
		attr->send_ops_flags &= ~(uint64_t)IBV_QP_EX_WITH_RDMA_READ;
	if (!support.has_writes)
		attr->send_ops_flags &=
			~(uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	attr->qp_type = IBV_QPT_DRIVER;
	return create.call(verbs, attr, &own, sizeof(own));
}

#else

struct srd_support srd_query(struct ibv_context *verbs)
{
	return (struct srd_support){0};
}

struct ibv_qp *srd_create(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	errno = EOPNOTSUPP;
	return NULL;
}

#endif

int srd_access(struct ibv_context *verbs, int wanted)
{
	const struct srd_support support = srd_query(verbs);

	if (support.is_efa && !support.has_reads)
		wanted &= ~IBV_ACCESS_REMOTE_READ;
	if (support.is_efa && !support.has_writes)
		wanted &= ~IBV_ACCESS_REMOTE_WRITE;
	return wanted;
}
