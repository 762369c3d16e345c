/* SPDX-License-Identifier: MIT */
#include "bench/server/device_removal.h"

#include <errno.h>

#include "core/rdma/cm.h"
#include "core/rdma/guard.h"

/* An address that disappears meanwhile must not keep the server from serving the others. */
static int watch_port(struct device_removal *removal, const struct device_port *port,
		      struct error *error)
{
	struct rdma_cm_id *id;
	int code =
		removal->n_ids < DEVICE_REMOVAL_MAX ? guard_port(&id, removal->channel, port) : 0;

	if (code < 0)
		return error_set_errno(error, code, "cannot create a connection identifier");
	if (code)
		removal->ids[removal->n_ids++] = id;
	return 0;
}

int device_removal_open(struct device_removal *removal, const struct device_list *devices,
			struct error *error)
{
	int code;

	*removal = (struct device_removal){0};
	code = cm_channel_open(&removal->channel, error);
	for (size_t i = 0; i < devices->n_ports && !code; i++)
		code = watch_port(removal, &devices->ports[i], error);
	return code;
}

void device_removal_close(struct device_removal *removal)
{
	for (size_t i = 0; i < removal->n_ids; i++)
		rdma_destroy_id(removal->ids[i]);
	if (removal->channel)
		rdma_destroy_event_channel(removal->channel);
	*removal = (struct device_removal){0};
}

int device_removal_fd(const struct device_removal *removal)
{
	return removal->channel ? removal->channel->fd : -1;
}

int device_removal_check(struct device_removal *removal, struct error *error)
{
	struct cm_event event;
	int got;

	while ((got = cm_take(removal->channel, &event, error)) > 0)
		if (event.event.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
			return error_set(error, -ENODEV, "the RDMA device %s was removed",
					 ibv_get_device_name(event.event.id->verbs->device));
	return got;
}
