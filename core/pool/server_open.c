/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

#include "core/pool/memory_windows.h"
#include "core/pool/server.h"
#include "core/pool/server_client.h"
#include "core/verbs/device_kind.h"
#include "core/verbs/verbs.h"

#define BACKLOG 256

static bool has_address(const struct device_port *port, const char *wanted)
{
	struct sockaddr_storage address;

	if (!wanted || !address_parse(&address, wanted))
		return false;
	for (size_t i = 0; i < port->n_addresses; i++)
		if (address_equal((const struct sockaddr *)&port->addresses[i].address,
				  (const struct sockaddr *)&address))
			return true;
	return false;
}

/* How well a port does: the one that is named, or any that is up. 0: not at all. */
static int fitness(const struct pool_settings *settings, const struct device_port *port)
{
	bool is_meant = port->state == IBV_PORT_ACTIVE;

	if (settings->device)
		is_meant = !strcmp(port->device, settings->device) &&
			   (!settings->device_port || port->port == settings->device_port);
	if (!is_meant)
		return 0;
	return has_address(port, settings->address) ? 3 : port->n_addresses ? 2 : 1;
}

static const struct device_port *best_port(const struct pool_settings *settings,
					   const struct device_list *list)
{
	const struct device_port *best = NULL;

	for (size_t i = 0; i < list->n_ports; i++)
		if (fitness(settings, &list->ports[i]) > (best ? fitness(settings, best) : 0))
			best = &list->ports[i];
	return best;
}

static int soft_device_choose(struct pool_server *server, char name[static IBV_SYSFS_NAME_MAX],
			      struct error *error)
{
	struct device_list list;
	const struct device_port *port;
	int code = device_list_open(&list, error);

	if (code)
		return code;
	port = best_port(&server->settings, &list);
	if (port) {
		snprintf(name, IBV_SYSFS_NAME_MAX, "%s", port->device);
		server->device_port = port->port;
		/*
		 * Of a shared receive, rxe looks its memory up in the domain of the queue pair
		 * that it came by: there is one domain for all. It lets no other queue pair
		 * through a window, as is tried first, but looks at the bounds of the region
		 * alone, so that both are there, and the same.
		 */
		server->has_domains = port->kind != DEVICE_KIND_RXE;
		server->tells_last = port->kind != DEVICE_KIND_RXE;
	} else if (server->settings.device) {
		code = device_unknown(&list, server->settings.device, error);
	} else {
		code = error_set(error, -ENODEV, "no RDMA device has an active port");
	}
	device_list_close(&list);
	return code;
}

static int open_device(struct pool_server *server, struct error *error)
{
	char name[IBV_SYSFS_NAME_MAX] = "";
	int code = soft_device_choose(server, name, error);

	if (!code)
		code = device_open(&server->device, name, error);
	if (code)
		return code;
	if (server->device.verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return error_set(error, -EOPNOTSUPP,
				 "%s is iWARP, which has no doorbells: no write has immediate data",
				 name);
	if (!server->device.held)
		return error_set(error, -ENODEV,
				 "clients connect by rdma_cm, which does not have %s", name);
	code = verbs_result(ibv_query_device(server->device.verbs, &server->limits));
	if (code)
		return error_set_errno(error, code, "cannot query the device");
	if (server->has_domains ||
	    !memory_windows_check(server->device.verbs, server->device_port, error))
		return 0;
	return error_wrap(error,
			  error->code == -EOPNOTSUPP ? "%s cannot keep clients apart"
						     : "whether %s keeps clients apart",
			  name);
}

/* A client has so many requests under way, and all together the receives: no queue overruns. */
static int server_open_check(struct pool_server *server, struct error *error)
{
	uint32_t receives = server->settings.receives;
	uint32_t clients = server->settings.clients ? server->settings.clients : POOL_GUESTS;
	uint32_t most = (uint32_t)server->limits.max_cqe;
	uint32_t requests = server_client_requests(server);

	if (receives > (uint32_t)server->limits.max_srq_wr)
		return error_set(error, -EINVAL,
				 "%u shared receives are above the device's limit %d", receives,
				 server->limits.max_srq_wr);
	if (most < receives + requests)
		return error_set(error, -EINVAL,
				 "%u shared receives are too many for the device's completion "
				 "queues of %u",
				 receives, most);
	server->most_guests = (most - receives) / requests;
	if (server->most_guests < server->settings.clients)
		return error_set(error, -EINVAL,
				 "%u clients and %u shared receives are too many for the device's "
				 "completion queues of %u: %u clients fit",
				 clients, receives, most, server->most_guests);
	if (server->most_guests > clients)
		server->most_guests = clients;
	return 0;
}

static int build(struct pool_server *server, struct error *error)
{
	struct ibv_context *verbs = server->device.verbs;
	const struct pool_settings *settings = &server->settings;
	int code = server_open_check(server, error);

	if (code)
		return code;
	server->depth = settings->receives + server->most_guests * server_client_requests(server);
	server->pd = ibv_alloc_pd(verbs);
	if (!server->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	server->completion.mode = settings->wait;
	code = completion_open(&server->completion, verbs, server->depth, &server->alarm, error);
	if (!code)
		code = shared_receives_open(&server->mailbox, server->pd, server->completion.cq,
					    settings->receives, error);
	/* The software device reaches memory that it can map without a system call. */
	if (!code)
		code = memory_open(&server->memory,
				   device_kind_is_mapped(&server->limits) ? &memory_shared
									  : &memory_host,
				   settings->size, -1, error);
	if (!code && settings->share && settings->share < server->memory.page)
		code = error_set(error, -EINVAL,
				 "a share of %" PRIu64
				 " bytes is less than a page of %zu, the least "
				 "that is granted",
				 settings->share, server->memory.page);
	if (!code)
		code = grants_open(&server->grants, &server->memory, error);
	server->grants.has_windows = !server->has_domains;
	return code;
}

static int bind_listener(struct pool_server *server, struct error *error)
{
	const struct pool_settings *settings = &server->settings;
	struct sockaddr_storage address;
	int code;

	if (settings->address && !address_parse(&address, settings->address))
		return error_set(error, -EINVAL, "%s is not an address", settings->address);
	code = settings->address ? cm_bind(server->listener, &address, settings->port)
				 : cm_bind_all(server->listener, settings->port);
	if (code == -EADDRINUSE)
		return error_set(error, code,
				 "port %u of rdma_cm is in use; take another, or 0 for a free one",
				 settings->port);
	if (settings->address && (code == -ENODEV || code == -EADDRNOTAVAIL))
		return error_set(error, code, "no RDMA device has the address %s",
				 settings->address);
	if (code)
		return error_set_errno(error, code, "cannot bind to port %u", settings->port);
	/* Whoever came there would be told that the pool is elsewhere. */
	if (server->listener->verbs && server->listener->verbs != server->device.verbs)
		return error_set(error, -ENODEV, "%s is an address of %s, and the pool is on %s",
				 settings->address,
				 ibv_get_device_name(server->listener->verbs->device),
				 ibv_get_device_name(server->device.verbs->device));
	return 0;
}

static int start_listening(struct pool_server *server, struct error *error)
{
	int code = cm_channel_open(&server->channel, error);

	if (code)
		return code;
	code = verbs_result(rdma_create_id(server->channel, &server->listener, NULL, RDMA_PS_TCP));
	if (code)
		return error_set_errno(error, code, "cannot create a connection identifier");
	code = bind_listener(server, error);
	if (code)
		return code;
	code = verbs_result(rdma_listen(server->listener, BACKLOG));
	if (code)
		return error_set_errno(error, code, "cannot listen on port %u",
				       server->settings.port);
	server->port = ntohs(rdma_get_src_port(server->listener));
	return 0;
}

int pool_open(struct pool_server *server, const struct pool_settings *settings, struct error *error)
{
	int code;

	*server = (struct pool_server){.settings = *settings};
	code = alarm_open(&server->alarm, error);
	server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!code && server->timer < 0)
		code = error_set_errno(error, -errno, "cannot create a timer");
	if (!code)
		code = open_device(server, error);
	if (!code)
		code = build(server, error);
	if (!code)
		code = start_listening(server, error);
	if (code)
		pool_close(server);
	return code;
}
