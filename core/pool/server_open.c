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

/* Returns how well a port suits: the requested one, or any active one. 0: not at all. */
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

static int choose_device(struct pool_server *server, char name[static IBV_SYSFS_NAME_MAX],
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
		 * For a shared receive, rxe looks up its memory in the domain of the queue pair
		 * that received the message, so all clients must share a domain. rxe restricts a
		 * window to its queue pair (memory_windows_check tests that), but checks only the
		 * bounds of the region. Hence region and window have the same bounds.
		 */
		server->has_domains = port->kind != DEVICE_KIND_RXE;
		server->reports_last = port->kind != DEVICE_KIND_RXE;
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
	int code = choose_device(server, name, error);

	if (!code)
		code = device_open(&server->device, name, error);
	if (code)
		return code;
	if (server->device.verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return error_set(
			error, -EOPNOTSUPP,
			"%s is iWARP, which has no write with immediate data, as doorbells need",
			name);
	if (!server->device.held)
		return error_set(
			error, -ENODEV,
			"clients connect through rdma_cm, which does not support device %s", name);
	code = verbs_result(ibv_query_device(server->device.verbs, &server->limits));
	if (code)
		return error_set_errno(error, code, "cannot query the device");
	if (server->has_domains ||
	    !memory_windows_check(server->device.verbs, server->device_port, error))
		return 0;
	return error_wrap(error,
			  error->code == -EOPNOTSUPP
				  ? "device %s cannot isolate clients"
				  : "cannot test whether device %s isolates clients",
			  name);
}

/* Limits the number of clients so that their requests and all receives fit in the queue. */
static int limit_clients(struct pool_server *server, struct error *error)
{
	uint32_t receives = server->settings.receives;
	uint32_t clients = server->settings.clients ? server->settings.clients : POOL_GUESTS;
	uint32_t most = (uint32_t)server->limits.max_cqe;
	uint32_t requests = server_client_requests(server);

	if (receives > (uint32_t)server->limits.max_srq_wr)
		return error_set(error, -EINVAL, "%u shared receives exceed the device's limit %d",
				 receives, server->limits.max_srq_wr);
	if (most < receives + requests)
		return error_set(error, -EINVAL,
				 "%u shared receives do not fit in the device's completion "
				 "queue of %u entries",
				 receives, most);
	server->max_clients = (most - receives) / requests;
	if (server->max_clients < server->settings.clients)
		return error_set(error, -EINVAL,
				 "%u clients and %u shared receives do not fit in the device's "
				 "completion queue of %u entries; use at most %u clients",
				 clients, receives, most, server->max_clients);
	if (server->max_clients > clients)
		server->max_clients = clients;
	return 0;
}

static int build(struct pool_server *server, struct error *error)
{
	struct ibv_context *verbs = server->device.verbs;
	const struct pool_settings *settings = &server->settings;
	int code = limit_clients(server, error);

	if (code)
		return code;
	server->depth = settings->receives + server->max_clients * server_client_requests(server);
	server->pd = ibv_alloc_pd(verbs);
	if (!server->pd)
		return error_set_errno(error, verbs_null(), "cannot allocate a protection domain");
	server->completion.mode = settings->wait;
	code = completion_open(&server->completion, verbs, server->depth, &server->alarm, error);
	if (!code)
		code = shared_receives_open(&server->mailbox, server->pd, server->completion.cq,
					    settings->receives, error);
	/* The software device reaches mappable memory without a system call. */
	if (!code)
		code = memory_open(
			&server->memory,
			device_kind_is_mapped(&server->limits) ? &memory_shared : &memory_host,
			&(struct memory_request){.size = settings->size, .numa_node = -1}, error);
	if (!code && settings->share && settings->share < server->memory.page)
		code = error_set(error, -EINVAL,
				 "the share of %" PRIu64
				 " bytes is smaller than a page of %zu bytes, the minimum "
				 "of a grant",
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
		return error_set(
			error, code,
			"port %u of rdma_cm is in use; choose another, or 0 for a free one",
			settings->port);
	if (settings->address && (code == -ENODEV || code == -EADDRNOTAVAIL))
		return error_set(error, code, "no RDMA device has the address %s",
				 settings->address);
	if (code)
		return error_set_errno(error, code, "cannot bind to port %u", settings->port);
	/* Clients of that address would be rejected, since the pool is on another device. */
	if (server->listener->verbs && server->listener->verbs != server->device.verbs)
		return error_set(error, -ENODEV,
				 "%s is an address of device %s, but the pool is on device %s",
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
