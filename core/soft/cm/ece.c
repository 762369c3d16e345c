/* SPDX-License-Identifier: MIT */
/*
 * Enhanced connection establishment: carries what one side sets to the other, as librdmacm does. No
 * queue pair of the device supports it.
 */
#include <errno.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"

SOFT_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return soft_cm_return(EINVAL);
	soft_cm_id_of(id)->local_ece = *ece;
	return 0;
}

SOFT_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	const struct soft_cm_message *remote;

	if (!id || id->qp || !ece)
		return soft_cm_return(EINVAL);
	remote = &soft_cm_id_of(id)->remote;
	*ece = (struct ibv_ece){
		.vendor_id = remote->ece_vendor_id,
		.options = remote->ece_options,
	};
	return 0;
}
