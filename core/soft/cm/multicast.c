/* SPDX-License-Identifier: MIT */
/*
 * Joins and leaves multicast groups. A group's GID is its IP address. The thread that fetches the
 * event attaches the queue pair, which librdmacm does too.
 */
#include "core/soft/op/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/soft/cm/cm.h"
#include "core/soft/export.h"

static int check(const struct soft_cm_id *id, const struct soft_cm_address *address)
{
	if (id->verbs.qp_type != IBV_QPT_UD || !id->verbs.verbs ||
	    (id->state != SOFT_CM_BOUND && id->state != SOFT_CM_ADDRESS_KNOWN) ||
	    !soft_multicast_is_group(&address->gid))
		return EINVAL;
	return 0;
}

static int join(struct soft_cm_id *id, const struct sockaddr *to, bool is_send_only, void *context)
{
	struct soft_cm_group *group = calloc(1, sizeof(*group));
	int result;

	if (!group)
		return ENOMEM;
	group->is_send_only = is_send_only;
	group->context = context;
	result = to ? soft_cm_address_take(&group->address, to) : EINVAL;
	pthread_mutex_lock(&soft_cm_mutex);
	if (!result)
		result = check(id, &group->address);
	if (!result) {
		group->next = id->groups;
		id->groups = group;
		soft_cm_raise_joined(id, group);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	if (result)
		free(group);
	return result;
}

SOFT_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *verbs,
				       struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	uint32_t flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
	int result;

	if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return soft_cm_return(ENOTSUP);
	if (attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS)
		flags = attr->join_flags;
	if (!(attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
	    flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return soft_cm_return(EINVAL);
	result = join(id, attr->addr, flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
	return result ? soft_cm_return(result) : soft_cm_complete(id);
}

SOFT_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
		.addr = address,
	};

	return rdma_join_multicast_ex(id, &attr, context);
}

int soft_cm_multicast_attach(struct soft_cm_id *id, const struct soft_cm_group *joined)
{
	struct soft_cm_group *group;
	int result = 0;

	pthread_mutex_lock(&soft_cm_mutex);
	/* Another thread may have left it in the meantime. */
	for (group = id->groups; group && group != joined; group = group->next)
		;
	if (group && id->verbs.qp && !group->is_send_only) {
		result = ibv_attach_mcast(id->verbs.qp, &group->address.gid, 0);
		group->is_attached = !result;
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	return result;
}

static struct soft_cm_group **find(struct soft_cm_id *id, const struct soft_cm_address *address)
{
	struct soft_cm_group **at = &id->groups;

	while (*at && memcmp(&(*at)->address.gid, &address->gid, sizeof(address->gid)) != 0)
		at = &(*at)->next;
	return at;
}

SOFT_EXPORT int rdma_leave_multicast(struct rdma_cm_id *verbs, struct sockaddr *from)
{
	struct soft_cm_id *id = soft_cm_id_of(verbs);
	struct soft_cm_address address;
	struct soft_cm_group *group;
	struct soft_cm_group **at;
	int result = soft_cm_address_take(&address, from);

	if (result)
		return soft_cm_return(result);
	pthread_mutex_lock(&soft_cm_mutex);
	at = find(id, &address);
	group = *at;
	if (!group) {
		result = EADDRNOTAVAIL;
	} else {
		*at = group->next;
		soft_cm_drop_joined(id, group);
		if (group->is_attached && verbs->qp)
			result = ibv_detach_mcast(verbs->qp, &address.gid, 0);
	}
	pthread_mutex_unlock(&soft_cm_mutex);
	free(group);
	return soft_cm_return(result);
}

void soft_cm_multicast_forget(struct soft_cm_id *id)
{
	while (id->groups) {
		struct soft_cm_group *group = id->groups;

		id->groups = group->next;
		free(group);
	}
}
