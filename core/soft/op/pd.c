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
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	if (pd->inner)
		atomic_fetch_sub(&pd->inner->users, 1);
	else
		soft_process_count(SOFT_KIND_PD, -1);
	free(pd);
	return 0;
}

struct ibv_td *soft_pd_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct soft_td *td = attr->comp_mask ? NULL : calloc(1, sizeof(*td));

	if (!td) {
		errno = attr->comp_mask ? EINVAL : ENOMEM;
		return NULL;
	}
	td->verbs.context = context;
	return &td->verbs;
}

int soft_pd_dealloc_td(struct ibv_td *verbs)
{
	struct soft_td *td = CONTAINER_OF(verbs, struct soft_td, verbs);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/* Allocators are not supported: queues that peers access are in the arena. */
struct ibv_pd *soft_pd_alloc_parent(struct ibv_context *context,
				    struct ibv_parent_domain_init_attr *attr)
{
	struct soft_pd *pd;

	if (!attr->pd || attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) {
		errno = attr->pd ? EOPNOTSUPP : EINVAL;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	pd->verbs = (struct ibv_pd){.context = context, .handle = attr->pd->handle};
	pd->inner = soft_pd_of(attr->pd);
	atomic_fetch_add(&pd->inner->users, 1);
	if (attr->td) {
		pd->td = CONTAINER_OF(attr->td, struct soft_td, verbs);
		atomic_fetch_add(&pd->td->users, 1);
	}
	return &pd->verbs;
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
