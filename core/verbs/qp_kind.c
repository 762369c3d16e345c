/* SPDX-License-Identifier: MIT */
#include "core/verbs/qp_kind.h"

#include "core/verbs/dc.h"
#include "core/verbs/srd.h"

/* A function: verbs.h defines ibv_create_qp_ex as an inline one. */
static struct ibv_qp *create(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	return ibv_create_qp_ex(verbs, attr);
}

static struct ibv_qp *create_initiator(struct ibv_context *verbs, struct ibv_qp_init_attr_ex *attr)
{
	attr->recv_cq = NULL;
	attr->srq = NULL;
	attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	return ibv_create_qp_ex(verbs, attr);
}

const struct qp_kind qp_kinds[] = {
	[TRANSPORT_RC] = {IBV_QPT_RC,       create             },
	[TRANSPORT_UC] = {IBV_QPT_UC,       create             },
	[TRANSPORT_UD] = {IBV_QPT_UD,       create             },
	[TRANSPORT_XRC] = {IBV_QPT_XRC_SEND, create_initiator   },
	[TRANSPORT_DC] = {IBV_QPT_DRIVER,   dc_create_initiator},
	[TRANSPORT_SRD] = {IBV_QPT_DRIVER,   srd_create         },
};
