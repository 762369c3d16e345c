/* SPDX-License-Identifier: MIT */
#include "core/rdma/multicast.h"

#include <errno.h>
#include <sys/random.h>

#include "core/base/address.h"
#include "core/base/clock.h"
#include "core/rdma/cm.h"
#include "core/rdma/context.h"
#include "core/verbs/verbs.h"

/* A subnet manager may be slow. */
#define JOIN_NS (10 * NS_PER_S)
/* Q_Keys with this bit are reserved for privileged users. */
#define CONTROLLED_QKEY 0x80000000U

static int bind_to(struct multicast *multicast, const char *device,
		   const struct sockaddr_storage *local, struct error *error)
{
	struct sockaddr_storage address = *local;
	char text[ADDRESS_TEXT];
	int code = cm_channel_open(&multicast->channel, error);

	if (code)
		return code;
	code = verbs_result(rdma_create_id(multicast->channel, &multicast->id, NULL, RDMA_PS_UDP));
	if (code)
		return error_set_errno(error, code, "cannot create a connection identifier");
	code = cm_bind(multicast->id, &address, 0);
	if (code)
		return error_set_errno(error, code, "cannot bind to %s",
				       address_text((struct sockaddr *)&address, text));
	return context_check_device(multicast->id, device, error);
}

static uint32_t random_qkey(void)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint32_t)clock_now_ns();
	return bits & ~CONTROLLED_QKEY;
}

static int await_join(struct multicast *multicast, const char *group, struct alarm *alarm,
		      struct error *error)
{
	struct cm_event event;
	int code = cm_wait(multicast->channel, &event, clock_now_ns() + JOIN_NS, alarm, error);

	if (code == -ETIMEDOUT)
		return error_set(error, code, "the network does not answer a join of group %s",
				 group);
	if (code)
		return code;
	if (event.event.event != RDMA_CM_EVENT_MULTICAST_JOIN) {
		code = event.event.status < 0 ? event.event.status : -EPROTO;
		return error_set_errno(error, code, "cannot join group %s", group);
	}
	multicast->address = event.event.param.ud.ah_attr;
	multicast->qkey = multicast->address.dlid ? event.event.param.ud.qkey : random_qkey();
	return 0;
}

int multicast_join(struct multicast *multicast, const char *device,
		   const struct sockaddr_storage *local, const struct sockaddr_storage *group,
		   struct alarm *alarm, struct error *error)
{
	struct sockaddr_storage to = *group;
	char own[ADDRESS_TEXT];
	char text[ADDRESS_TEXT];
	int code;

	address_text((const struct sockaddr *)local, own);
	address_text((struct sockaddr *)&to, text);
	if (local->ss_family != group->ss_family)
		return error_set(error, -EAFNOSUPPORT,
				 "group %s and the local address %s are of different IP versions",
				 text, own);
	*multicast = (struct multicast){0};
	code = bind_to(multicast, device, local, error);
	if (!code && rdma_join_multicast(multicast->id, (struct sockaddr *)&to, NULL))
		code = error_set_errno(error, verbs_null(), "cannot join group %s", text);
	if (!code) {
		multicast->group = to;
		code = await_join(multicast, text, alarm, error);
	}
	if (code)
		multicast_leave(multicast);
	return code;
}

/* Destroying the identifier would also leave the group, but librdmacm frees the membership only here. */
void multicast_leave(struct multicast *multicast)
{
	if (multicast->group.ss_family)
		rdma_leave_multicast(multicast->id, (struct sockaddr *)&multicast->group);
	if (multicast->id)
		rdma_destroy_id(multicast->id);
	if (multicast->channel)
		rdma_destroy_event_channel(multicast->channel);
	*multicast = (struct multicast){0};
}
