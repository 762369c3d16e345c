/* SPDX-License-Identifier: MIT */
#include "bench/doctor/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/control/auth.h"
#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "bench/host/advice/advice.h"
#include "bench/host/inventory.h"
#include "core/base/clock.h"
#include "core/verbs/device_kind.h"

#define AUTH_MS 5000

/* The server to connect to. */
struct call {
	const char *host;
	uint16_t port;
	const struct device_list *own;
	const struct secret *secret;
	const char *device;
	json_t *findings;
};

static void doctor_server_find(const struct call *call, const char *code, const char *what,
			       const char *why, const char *mend)
{
	json_array_append_new(call->findings,
			      advice_finding(code, true, call->host, what, why, mend));
}

/* Returns whether a packet got no reply or was rejected on the way. */
static bool is_filtered(int code)
{
	return code == -ETIMEDOUT || code == -EHOSTUNREACH || code == -EACCES || code == -EPERM;
}

static void explain_way(const struct call *call, const struct error *fault)
{
	char mend[256];

	if (fault->code == -ECONNREFUSED) {
		snprintf(mend, sizeof(mend), "verbmark serve --port %u on %.60s", call->port,
			 call->host);
		doctor_server_find(call, "server", fault->text, "a run needs a server on the peer",
				   mend);
	} else if (is_filtered(fault->code)) {
		snprintf(mend, sizeof(mend),
			 "firewall-cmd --add-port=%u/tcp --add-port=4791/udp, or nft insert rule "
			 "inet filter input tcp dport %u accept (and udp dport 4791), on %.60s",
			 call->port, call->port, call->host);
		doctor_server_find(
			call, "firewall", fault->text,
			"the host is down, or a firewall drops the TCP control connection; RoCE v2 also "
			"needs UDP port 4791",
			mend);
	} else {
		doctor_server_find(
			call, "unreachable", fault->text,
			"client and server talk over TCP, using any name or address of the server",
			"use another name or address of that host (see 'ip address' there)");
	}
}

/*
 * The text of a rejection already says what would help: a secret, a network of --allow, another
 * version.
 */
static bool is_refusal(int code)
{
	return code == -ESHUTDOWN || code == -EACCES;
}

static void explain_server(const struct call *call, const struct error *fault)
{
	doctor_server_find(
		call, "server", fault->text, "a run would fail here as well",
		is_refusal(fault->code)
			? ""
			: "run verbmark doctor there, and use the same version on both sides");
}

/*
 * Drops facts of a device other than the one that pairs with ours, and uses the server's list of
 * devices instead.
 */
static void keep_facts_of(json_t *facts, const struct result_end *far)
{
	static const char *const sections[] = {"device", "port",  "netdev", "flow",
					       "pcie",   "iommu", "access", "soft_roce"};
	const json_t *device = json_object_get(facts, "device");
	const char *name = json_string_value(json_object_get(device, "name"));

	if (name && !strcmp(name, far->device))
		return;
	for (size_t i = 0; i < ARRAY_LENGTH(sections); i++)
		json_object_del(facts, sections[i]);
	json_object_set_new(facts, "device", json_pack("{s:s}", "name", far->device));
	json_object_set_new(facts, "port",
			    json_pack("{s:i, s:s, s:i}", "number", (int)far->port, "link_layer",
				      far->link_layer, "active_mtu", (int)far->mtu));
}

/*
 * Asks for the facts of the device that pairs with ours. Returns NULL if the server reports none.
 */
static json_t *ask_facts(struct doctor_server *connection)
{
	struct error ignored = {0};
	json_t *facts = NULL;
	json_t *answer;

	control_send(&connection->control, protocol_describe(&connection->far), &ignored);
	if (control_receive(&connection->control, &answer, AUTH_MS, &ignored))
		return NULL;
	if (protocol_is(answer, "description")) {
		facts = json_incref(json_object_get(answer, "facts"));
		connection->before = json_incref(json_object_get(answer, "noise"));
	}
	json_decref(answer);
	return facts;
}

static void take_facts(struct doctor_server *connection, const struct call *call, json_t *welcome)
{
	json_t *facts = ask_facts(connection);
	json_t *version = json_object_get(welcome, "version");
	const char *host = json_string_value(json_object_get(welcome, "host"));

	connection->facts = json_is_object(facts) ? json_copy(facts) : json_object();
	json_decref(facts);
	if (!json_is_string(json_object_get(connection->facts, "host")))
		json_object_set_new(connection->facts, "host",
				    json_string(host ? host : call->host));
	if (!json_object_get(connection->facts, "tool") && json_is_string(version))
		json_object_set_new(connection->facts, "tool",
				    json_pack("{s:O}", "version", version));
	if (connection->far.device[0])
		keep_facts_of(connection->facts, &connection->far);
}

/* Takes the server's best port, so that its faults are reported. */
static void take_best(struct result_end *far, const struct device_list *remote)
{
	const struct device_port *port = inventory_best(remote, NULL);

	snprintf(far->device, sizeof(far->device), "%s", port->device);
	far->port = port->port;
	far->kind = device_kind_name(port->kind);
	far->link_layer = port->link_layer;
	far->mtu = port->active_mtu;
}

/* Without addresses only some runs are possible, or none. */
static void explain_addresses(const struct call *call, const struct error *fault, bool has_pair)
{
	json_t *finding = advice_finding(
		"network", !has_pair, call->host, fault->text,
		"rdma_cm connects two addresses in the same network",
		"ip address add ADDRESS/PREFIX dev NETDEV, in the same network on both sides");

	json_array_append_new(call->findings, finding);
}

static void take_pair(struct doctor_server *connection, const struct call *call,
		      const json_t *welcome)
{
	struct inventory_wish wish = {
		.device = call->device, .host = call->host, .who = call->host};
	struct device_list remote;
	struct error fault = {0};
	struct error ignored = {0};
	int code = inventory_decode(&remote, json_object_get(welcome, "devices"), &fault);

	if (code) {
		explain_server(call, &fault);
		return;
	}
	/* A missing local device has its own finding. */
	if (call->own->n_ports)
		code = inventory_pair(call->own, &remote, &wish, &connection->near,
				      &connection->far, &fault);
	connection->has_pair = call->own->n_ports && !code;
	/* --connect qp can be tested without addresses. */
	wish.is_by_hand = true;
	if (code)
		connection->has_pair = !inventory_pair(call->own, &remote, &wish, &connection->near,
						       &connection->far, &ignored);
	if (!connection->has_pair)
		take_best(&connection->far, &remote);
	device_list_close(&remote);
	if (code)
		explain_addresses(call, &fault, connection->has_pair);
}

static int greet(struct doctor_server *connection, const struct call *call, struct error *error)
{
	const struct auth_server server = {call->host, call->host, call->port};
	json_t *message;
	int code = auth_say(&connection->control, call->secret, &server, &message, error);

	if (!code) {
		take_pair(connection, call, message);
		take_facts(connection, call, message);
	}
	json_decref(message);
	return code;
}

void doctor_server_open(struct doctor_server *connection, const struct doctor_server_wish *wish,
			const struct device_list *own, json_t *findings)
{
	const char *host = wish->host;
	uint16_t port = wish->port;
	const struct call call = {host, port, own, wish->secret, wish->device, findings};
	struct error fault = {0};
	int fd = dial_until(host, port, 0, NULL, &fault);

	*connection = (struct doctor_server){0};
	if (fd < 0) {
		explain_way(&call, &fault);
		return;
	}
	connection->is_open = !control_open(&connection->control, fd, &fault);
	if (!connection->is_open || greet(connection, &call, &fault))
		explain_server(&call, &fault);
}

void doctor_server_note(struct doctor_server *connection)
{
	uint64_t deadline = clock_deadline(AUTH_MS);
	unsigned int left_ms = AUTH_MS;
	struct error ignored = {0};
	json_t *answer;
	bool is_noted = false;

	control_send(&connection->control, protocol_plain("note"), &ignored);
	/* Skip late replies to earlier requests. */
	while (!is_noted && left_ms &&
	       !control_receive(&connection->control, &answer, left_ms, &ignored)) {
		is_noted = !protocol_is(answer, "description");
		if (protocol_is(answer, "noted")) {
			connection->after = json_incref(json_object_get(answer, "noise"));
			connection->counters = json_incref(json_object_get(answer, "counters"));
		}
		json_decref(answer);
		left_ms = (unsigned int)clock_left_ms(deadline);
	}
}

void doctor_server_close(struct doctor_server *connection)
{
	struct error ignored = {0};

	if (connection->is_open) {
		control_send(&connection->control, protocol_plain("bye"), &ignored);
		control_close(&connection->control);
	}
	json_decref(connection->facts);
	json_decref(connection->before);
	json_decref(connection->after);
	json_decref(connection->counters);
	*connection = (struct doctor_server){0};
}
