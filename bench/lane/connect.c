/* SPDX-License-Identifier: MIT */
#include "bench/lane/connect.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "bench/control/secret.h"
#include "bench/plan/group.h"
#include "core/base/address.h"
#include "core/base/free_memory.h"
#include "core/rdma/context.h"
#include "core/rdma/manual_qp.h"

static bool is_by_hand(const struct lane *lane)
{
	return lane->settings.parameters->connect == CONNECT_QP;
}

/* If one side uses a GID, the other must use one as well, even on InfiniBand. */
static int gid_index(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	uint64_t index = parameters_gid_index(p, lane->settings.is_server);

	if (index != PARAMETER_AUTO)
		return (int)index;
	return p->server_gid_index == PARAMETER_AUTO ? MANUAL_QP_GID_BEST : MANUAL_QP_GID_ANY;
}

/* Returns a parameter, or 0 if it was not requested. */
static uint64_t given(uint64_t parameter)
{
	return parameter == PARAMETER_AUTO ? 0 : parameter;
}

static struct manual_qp_settings manual_qp_settings(const struct lane *lane,
						    const struct lane_end *own)
{
	const struct parameters *p = lane->settings.parameters;
	struct manual_qp_settings settings = {
		.transport = (enum transport)p->transport,
		.port = (uint8_t)own->port,
		.gid_index = gid_index(lane),
		.mtu = limits_mtu((unsigned int)given(p->mtu)),
		.pkey_index = (uint16_t)given(p->pkey_index),
		.sl = (uint8_t)p->sl,
		.path_bits = (uint8_t)given(p->path_bits),
		.traffic_class = (uint8_t)p->tos,
		.hop_limit = (uint8_t)given(p->hop_limit),
		.flow_label = (uint32_t)given(p->flow_label),
		.group = lane->group.id ? &lane->group : NULL,
		.is_member = lane->group.id && lane->settings.is_server,
	};

	/* An address that is invalid here (for example with an unknown zone) has no GID either. */
	if (!address_parse(&settings.address, own->address))
		settings.address.ss_family = AF_UNSPEC;
	return settings;
}

static unsigned int count_all(const struct lane *lane)
{
	return pattern_pairs(lane->settings.parameters);
}

/* Returns whether the peer of all queue pairs of this side is the sender of a group. */
static bool has_one_peer(const struct lane *lane)
{
	return pattern_is_multicast(lane->settings.parameters) && lane->settings.is_server;
}

/* Joins the group, if any and not joined yet. */
static int join_group(struct lane *lane, const struct lane_end *own, struct error *error)
{
	const struct parameters *p = lane->settings.parameters;
	struct sockaddr_storage address;
	struct sockaddr_storage group;

	if (!pattern_is_multicast(p) || lane->group.id)
		return 0;
	if (!address_parse(&address, own->address))
		return error_set(
			error, -EADDRNOTAVAIL,
			"--multicast needs an IP address on the device's interface; assign one");
	address_set_port(&address, 0);
	group = group_address(p->multicast);
	return multicast_join(&lane->group, ibv_get_device_name(lane->device.verbs->device),
			      &address, &group, &lane->endpoint.alarm, error);
}

/* The ticket keeps others from connecting to the open port. */
static void show_ticket(const struct lane *lane, struct flow *flow, const struct lane_end *own,
			const uint8_t *salt)
{
	if (!own->key)
		return;
	secret_tickets_begin(&flow->tickets, own->key, salt,
			     lane_flow_number(lane, (unsigned int)(flow - lane->flows)));
	lane_show_ticket(flow);
}

/* Initializes the context of a flow. */
static void lane_connect_begin(struct lane *lane, struct flow *flow)
{
	flow->context = (struct rdma_context){.settings = lane_context_settings(lane)};
}

static int open_pair(struct lane *lane, struct flow *flow, const struct lane_end *own,
		     struct error *error)
{
	struct manual_qp_settings settings = manual_qp_settings(lane, own);
	int code;

	settings.region = flow->region;
	lane_connect_begin(lane, flow);
	code = manual_qp_open(&flow->context, &lane->endpoint, &settings, error);
	return code ? code : lane_receive(lane, flow, error);
}

static json_t *encode_pair(const struct rdma_context *context)
{
	struct manual_qp_address own;
	char gid[33];
	json_t *pair;

	manual_qp_local(context, &own);
	for (size_t i = 0; i < sizeof(own.gid); i++)
		snprintf(gid + 2 * i, 3, "%02x", own.gid[i]);
	pair = json_pack("{s:i, s:s, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:I}", "lid", (int)own.lid,
			 "gid", gid, "qpn", (json_int_t)own.qpn, "psn", (json_int_t)own.psn, "mtu",
			 (int)limits_mtu_bytes(own.mtu), "reads", (int)own.reads, "qkey",
			 (json_int_t)own.qkey, "address", (json_int_t)own.address, "size",
			 (json_int_t)own.size, "rkey", (json_int_t)own.rkey);
	if (own.target) {
		json_object_set_new(pair, "target", json_integer(own.target));
		json_object_set_new(pair, "srqn", json_integer(own.srqn));
	}
	return pair;
}

static bool decode_gid(uint8_t gid[static 16], const char *text)
{
	int used = 0;

	for (size_t i = 0; i < 16; i++, text += 2)
		if (sscanf(text, "%2hhx%n", &gid[i], &used) != 1 || used != 2)
			return false;
	return !*text;
}

int lane_read_pair(struct manual_qp_address *pair, const json_t *json, struct error *error)
{
	json_int_t figure[11] = {0};
	const char *gid;
	json_error_t fault;

	if (json_unpack_ex((json_t *)(uintptr_t)json, &fault, 0,
			   "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s?I, s?I}", "gid",
			   &gid, "lid", &figure[0], "qpn", &figure[1], "psn", &figure[2], "mtu",
			   &figure[3], "reads", &figure[4], "qkey", &figure[5], "address",
			   &figure[6], "size", &figure[7], "rkey", &figure[8], "target", &figure[9],
			   "srqn", &figure[10]) ||
	    !decode_gid(pair->gid, gid))
		return error_set(error, -EPROTO, "the peer sent a malformed queue pair address");
	pair->lid = (uint16_t)figure[0];
	pair->qpn = (uint32_t)figure[1];
	pair->psn = (uint32_t)figure[2];
	pair->mtu = limits_mtu((unsigned int)figure[3]);
	pair->reads = (uint8_t)figure[4];
	pair->qkey = (uint32_t)figure[5];
	pair->address = (uint64_t)figure[6];
	pair->size = (uint64_t)figure[7];
	pair->rkey = (uint32_t)figure[8];
	pair->target = (uint32_t)figure[9];
	pair->srqn = (uint32_t)figure[10];
	return 0;
}

/* Returns the named list, which the first lane creates. */
static json_t *list_of(const struct lane *lane, json_t *message, const char *name)
{
	if (!lane->settings.number)
		json_object_set_new(message, name, json_array());
	return json_object_get(message, name);
}

/* Puts a flow's member into the list of all lanes, at the flow's number. */
static int put(const struct lane *lane, json_t *list, unsigned int flow, json_t *member,
	       struct error *error)
{
	unsigned int number = lane_flow_number(lane, flow);

	while (json_array_size(list) <= number)
		if (json_array_append_new(list, json_null())) {
			json_decref(member);
			return free_memory_refused(error, "list queue pairs");
		}
	if (json_array_set_new(list, number, member))
		return free_memory_refused(error, "list queue pairs");
	return 0;
}

/* Returns a flow's member of the list. */
static const json_t *member_of(const struct lane *lane, const json_t *list, unsigned int flow)
{
	return json_array_get(list, lane_flow_number(lane, flow));
}

/* Opens a queue pair for each flow and lists them in the message. */
static int offer_pairs(struct lane *lane, const struct lane_end *own, json_t *message,
		       struct error *error)
{
	json_t *pairs = list_of(lane, message, "pairs");
	int code = join_group(lane, own, error);

	for (unsigned int i = 0; i < lane->settings.n_flows && !code; i++) {
		code = open_pair(lane, &lane->flows[i], own, error);
		if (!code)
			code = put(lane, pairs, i, encode_pair(&lane->flows[i].context), error);
	}
	return code;
}

static int check_place(const struct lane_end *own, struct sockaddr_storage place, const char *hint,
		       struct error *error)
{
	char text[ADDRESS_TEXT];

	address_unmap(&place);
	if (!own->allowed || allowed_networks_permits(own->allowed, (struct sockaddr *)&place))
		return 0;
	return error_set(error, -EACCES,
			 "the peer's queue pairs are at %s, outside the networks of 'serve "
			 "--allow': %sadd it to --allow",
			 address_text((struct sockaddr *)&place, text), hint);
}

/* On Ethernet a GID is the IP address that all packets go to. */
static int check_gid(const struct flow *flow, const struct lane_end *own,
		     const struct manual_qp_address *other, struct error *error)
{
	bool is_ethernet = flow->context.state->port.link_layer == IBV_LINK_LAYER_ETHERNET;
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_storage place = {0};

	memcpy(&in6.sin6_addr, other->gid, sizeof(other->gid));
	memcpy(&place, &in6, sizeof(in6));
	return is_ethernet ? check_place(own, place, "use another --gid-index, or ", error) : 0;
}

static int connect_pairs(struct lane *lane, const struct lane_end *own, json_t *message,
			 struct error *error)
{
	const json_t *pairs = json_object_get(message, "pairs");
	unsigned int wanted = has_one_peer(lane) ? 1 : count_all(lane);
	int code = 0;

	if (json_array_size(pairs) != wanted)
		return error_set(error, -EPROTO, "the peer has %zu queue pairs instead of %u",
				 json_array_size(pairs), wanted);
	for (unsigned int i = 0; i < lane->settings.n_flows && !code; i++) {
		struct manual_qp_address other;

		code = lane_read_pair(&other, member_of(lane, pairs, has_one_peer(lane) ? 0 : i),
				      error);
		if (!code)
			code = check_gid(&lane->flows[i], own, &other, error);
		if (!code)
			code = manual_qp_connect(&lane->flows[i].context, &other, error);
	}
	return code;
}

int lane_offer(struct lane *lane, const struct lane_end *own, json_t *message, struct error *error)
{
	return is_by_hand(lane) ? offer_pairs(lane, own, message, error) : 0;
}

static bool permits(const void *owner, const struct sockaddr *client)
{
	return allowed_networks_permits(owner, client);
}

static int listen_for(struct lane *lane, struct flow *flow, const struct lane_end *own,
		      const uint8_t *salt, struct error *error)
{
	const char *address = own->address[0] ? own->address : NULL;
	int code;

	lane_connect_begin(lane, flow);
	code = context_use(&flow->context, &lane->endpoint, error);
	if (code)
		return code;
	context_set_region(&flow->context, flow->region);
	show_ticket(lane, flow, own, salt);
	if (own->allowed)
		context_set_permits(&flow->context, permits, own->allowed);
	return rdma_setup_server(&flow->context, 0, address) ? lane_failed(flow, error) : 0;
}

/* Sets the salt, which the first lane creates for all lanes. */
static void take_salt(const struct lane *lane, json_t *answer, uint8_t salt[static SECRET_NONCE])
{
	char text[SECRET_HEX];

	if (lane->settings.number) {
		secret_parse(salt, json_string_value(json_object_get(answer, "salt")));
		return;
	}
	secret_nonce(salt);
	secret_print(salt, text);
	json_object_set_new(answer, "salt", json_string(text));
}

static int answer_ports(struct lane *lane, const struct lane_end *own, json_t *answer,
			struct error *error)
{
	uint8_t salt[SECRET_NONCE] = {0};
	json_t *ports = list_of(lane, answer, "ports");
	int code = 0;

	if (own->key)
		take_salt(lane, answer, salt);
	for (unsigned int i = 0; i < lane->settings.n_flows && !code; i++) {
		code = listen_for(lane, &lane->flows[i], own, salt, error);
		if (!code)
			code = put(lane, ports, i, json_integer(lane->flows[i].context.port),
				   error);
	}
	if (!code)
		json_object_set_new(answer, "address", json_string(lane->flows[0].context.address));
	return code;
}

int lane_answer(struct lane *lane, const struct lane_end *own, json_t *message, json_t *answer,
		struct error *error)
{
	int code;

	if (!is_by_hand(lane))
		return answer_ports(lane, own, answer, error);
	code = offer_pairs(lane, own, answer, error);
	return code ? code : connect_pairs(lane, own, message, error);
}

int lane_read_target(struct lane_target *target, const json_t *answer, unsigned int flow,
		     unsigned int n_flows, struct error *error)
{
	const char *address = json_string_value(json_object_get(answer, "address"));
	const char *salt = json_string_value(json_object_get(answer, "salt"));
	const json_t *ports = json_object_get(answer, "ports");
	json_int_t port = json_integer_value(json_array_get(ports, flow));

	*target = (struct lane_target){.address = address, .port = (uint16_t)port};
	if (!address || !address_parse(&target->place, address) ||
	    json_array_size(ports) != n_flows || port < 1 || port > UINT16_MAX ||
	    (salt && !secret_parse(target->salt, salt)))
		return error_set(error, -EPROTO,
				 "the server's reply has no valid address and ports");
	target->has_salt = salt;
	return 0;
}

static int connect_to(struct lane *lane, struct flow *flow, const struct lane_end *own,
		      const struct lane_target *target, struct error *error)
{
	struct rdma_context *context = &flow->context;
	int code = check_place(own, target->place, "", error);

	if (code)
		return code;
	lane_connect_begin(lane, flow);
	code = context_use(context, &lane->endpoint, error);
	if (code)
		return code;
	context_set_region(context, flow->region);
	show_ticket(lane, flow, own, target->salt);
	if (rdma_setup_client(context, target->address, target->port, own->address))
		return lane_failed(flow, error);
	code = lane_receive(lane, flow, error);
	if (code)
		return code;
	return rdma_connect_server(context) ? lane_failed(flow, error) : 0;
}

int lane_connect(struct lane *lane, const struct lane_end *own, json_t *answer, struct error *error)
{
	int code = 0;

	if (is_by_hand(lane))
		return connect_pairs(lane, own, answer, error);
	for (unsigned int i = 0; i < lane->settings.n_flows && !code; i++) {
		struct lane_target target;

		code = lane_read_target(&target, answer, lane_flow_number(lane, i), count_all(lane),
					error);
		if (!code && own->key && !target.has_salt)
			code = error_set(error, -EPROTO,
					 "the server's reply has no salt for the secret");
		if (!code)
			code = connect_to(lane, &lane->flows[i], own, &target, error);
	}
	return code;
}

int lane_accept(struct lane *lane, unsigned int round, struct error *error)
{
	unsigned int count = lane->settings.n_flows / pattern_rounds(lane->settings.parameters);
	unsigned int end = (round + 1) * count;
	int code = 0;

	if (is_by_hand(lane))
		return 0;
	for (unsigned int i = round * count; i < end && !code; i++) {
		struct flow *flow = &lane->flows[i];

		if (rdma_wait_for_client(&flow->context))
			return lane_failed(flow, error);
		code = lane_receive(lane, flow, error);
	}
	return code;
}
