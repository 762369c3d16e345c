/* SPDX-License-Identifier: MIT */
#include "core/soft/op/pd.h"

#include <errno.h>
#include <stdlib.h>

#include "core/soft/export.h"
#include "core/soft/op/grh.h"
#include "core/soft/peer/process.h"
#include "core/soft/port.h"

SOFT_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct soft_pd *pd = calloc(1, sizeof(*pd));

	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	pd->verbs.context = context;
	soft_process_count(SOFT_KIND_PD, 1);
	pd->verbs.handle = atomic_fetch_add(&soft_process.next_pd, 1) + 1;
	return &pd->verbs;
}

SOFT_EXPORT int ibv_dealloc_pd(struct ibv_pd *verbs)
{
	struct soft_pd *pd = soft_pd_of(verbs);

	if (atomic_load(&pd->users))
		return EBUSY;
	soft_process_count(SOFT_KIND_PD, -1);
	free(pd);
	return 0;
}

int soft_pd_check_address(const struct ibv_ah_attr *attr)
{
	if (!attr->is_global || (attr->port_num && attr->port_num != SOFT_PORT) ||
	    !soft_port_gid(soft_process.arena.image, attr->grh.sgid_index))
		return EINVAL;
	return 0;
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct soft_ah *ah;

	if (soft_pd_check_address(attr)) {
		errno = EINVAL;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah) {
		errno = ENOMEM;
		return NULL;
	}
	ah->verbs.context = pd->context;
	ah->verbs.pd = pd;
	ah->attr = *attr;
	atomic_fetch_add(&soft_pd_of(pd)->users, 1);
	return &ah->verbs;
}

SOFT_EXPORT int ibv_destroy_ah(struct ibv_ah *verbs)
{
	atomic_fetch_sub(&soft_pd_of(verbs->pd)->users, 1);
	free(soft_pd_ah(verbs));
	return 0;
}

SOFT_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
				    struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	union ibv_gid local;
	int index;

	if (port != SOFT_PORT || !(wc->wc_flags & IBV_WC_GRH))
		goto fail;
	*attr = (struct ibv_ah_attr){
		.is_global = 1, .port_num = port, .sl = wc->sl, .grh.hop_limit = UINT8_MAX};
	soft_grh_read(grh, &attr->grh.dgid, &local, &attr->grh.traffic_class);
	index = soft_port_index(soft_process.arena.image, &local);
	if (index < 0)
		goto fail;
	attr->grh.sgid_index = (uint8_t)index;
	return 0;
fail:
	errno = EINVAL;
	return -1;
}

SOFT_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
						 struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) ? NULL
								      : ibv_create_ah(pd, &attr);
}
