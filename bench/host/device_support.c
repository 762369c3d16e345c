/* SPDX-License-Identifier: MIT */
#include "bench/host/device_support.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan/group.h"
#include "bench/plan/memory_name.h"
#include "bench/plan/pattern.h"
#include "bench/plan/rate.h"
#include "core/base/address.h"
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/memory/memory.h"
#include "core/rdma/manual_qp.h"
#include "core/rdma/qp.h"
#include "core/verbs/device.h"
#include "core/verbs/device_clock.h"
#include "core/verbs/qp_kind.h"
#include "core/verbs/verbs.h"

/* Above the inline size of any device. */
#define INLINE_MOST 65536
#define GIDS_SHOWN  8

#define FIELD(member) offsetof(struct ibv_device_attr, member)

/* Attributes that are plain integers, under libibverbs' names. */
static const struct row {
	const char *key;
	size_t offset;
} rows[] = {
	{"max_qp",              FIELD(max_qp)             },
	{"max_qp_wr",           FIELD(max_qp_wr)          },
	{"max_sge",             FIELD(max_sge)            },
	{"max_sge_rd",          FIELD(max_sge_rd)         },
	{"max_cqe",             FIELD(max_cqe)            },
	{"max_cq",              FIELD(max_cq)             },
	{"max_mr",              FIELD(max_mr)             },
	{"max_srq",             FIELD(max_srq)            },
	{"max_srq_wr",          FIELD(max_srq_wr)         },
	{"max_srq_sge",         FIELD(max_srq_sge)        },
	{"max_qp_rd_atom",      FIELD(max_qp_rd_atom)     },
	{"max_qp_init_rd_atom", FIELD(max_qp_init_rd_atom)},
	{"max_mcast_grp",       FIELD(max_mcast_grp)      },
	{"max_mcast_qp_attach", FIELD(max_mcast_qp_attach)},
};

static const char *const atomics[] = {
	[IBV_ATOMIC_NONE] = "none",
	[IBV_ATOMIC_HCA] = "hca",
	[IBV_ATOMIC_GLOB] = "global",
};

static void tell_number(json_t *section, const char *key, uint64_t number)
{
	json_int_t clamped = number > INT64_MAX ? INT64_MAX : (json_int_t)number;

	json_object_set_new(section, key, json_integer(clamped));
}

static void tell_attributes(json_t *section, const struct ibv_device_attr *attr)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		int number;

		memcpy(&number, (const char *)attr + rows[i].offset, sizeof(number));
		json_object_set_new(section, rows[i].key, json_integer(number));
	}
	tell_number(section, "max_mr_size", attr->max_mr_size);
	if ((size_t)attr->atomic_cap < ARRAY_LENGTH(atomics))
		json_object_set_new(section, "atomics", json_string(atomics[attr->atomic_cap]));
}

/* Returns the maximum inline size of the smallest queue pair; larger ones allow no more. */
static uint32_t most_inline(struct ibv_pd *pd, enum transport transport,
			    const struct ibv_device_attr *device)
{
	const struct ibv_qp_init_attr_ex least = {
		.qp_type = qp_kinds[transport].type,
		.cap = {.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = POST_SGES,
			.max_recv_sge = POST_SGES,
			.max_inline_data = INLINE_MOST},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = qp_operations(transport, device),
	};

	return limits_inline(transport, &least);
}

/* Adds what SRD supports besides sends. */
static void tell_srd(json_t *section, struct ibv_context *verbs)
{
	const struct srd_support srd = srd_query(verbs);

	json_object_set_new(section, "srd",
			    json_pack("{s:b, s:b, s:I}", "reads", srd.has_reads, "writes",
				      srd.has_writes, "max_bytes", (json_int_t)srd.most_bytes));
}

/*
 * Adds the maximum inline size by transport. Adds nothing if no queue pair can be created at
 * present, or if creating one failed for another reason than lack of support.
 */
static void tell_transports(json_t *section, struct ibv_context *verbs,
			    const struct ibv_device_attr *device)
{
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	json_t *found = json_object();
	int code = 0;

	for (enum transport i = TRANSPORT_RC; i < TRANSPORTS && pd && code >= 0; i++) {
		code = limits_has_transport(pd, i);
		if (code > 0)
			tell_number(found, transport_names[i], most_inline(pd, i, device));
	}
	if (pd)
		ibv_dealloc_pd(pd);
	if (json_object_size(found) && code >= 0)
		json_object_set(section, "max_inline", found);
	if (json_object_get(found, transport_names[TRANSPORT_SRD]))
		tell_srd(section, verbs);
	json_decref(found);
}

static void tell_gids(json_t *section, struct ibv_context *verbs, unsigned int ports,
		      unsigned int number)
{
	struct error ignored = {0};
	struct ibv_gid_entry *gids;
	json_t *found = json_array();
	size_t count;

	device_gids(verbs, ports, &gids, &count, &ignored);
	for (size_t i = 0; i < count; i++)
		if (gids[i].port_num == number && gids[i].gid_index < DEVICE_SUPPORT_GIDS &&
		    manual_qp_rank_gid(&gids[i], NULL))
			json_array_append_new(found, json_integer(gids[i].gid_index));
	free(gids);
	if (json_array_size(found))
		json_object_set(section, "gids", found);
	json_decref(found);
}

/* Adds the kinds of memory that cannot work with the device, with the reason. */
static void tell_memory(json_t *section, struct ibv_context *verbs)
{
	static const char *const names[] = {"odp", "odp:implicit", "nic", "dmabuf:udmabuf", "null"};
	struct ibv_device_attr_ex attr = {0};
	json_t *lacking = json_object();

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		struct memory_choice choice;
		struct error why = {0};

		if (!memory_find(names[i], &choice, &why) &&
		    memory_check(choice.kind,
				 &(struct memory_request){.device = verbs, .detail = choice.detail},
				 &why))
			json_object_set_new(lacking, names[i], json_string(why.text));
	}
	if (json_object_size(lacking))
		json_object_set(section, "lacking_memory", lacking);
	json_decref(lacking);
	if (!ibv_query_device_ex(verbs, NULL, &attr) && attr.max_dm_size)
		tell_number(section, "max_dm_size", attr.max_dm_size);
}

/* Bits of newer kernels are only in the extended attributes. */
static void tell_capabilities(json_t *section, struct ibv_context *verbs,
			      const struct ibv_device_attr *device)
{
	struct ibv_device_attr_ex attr = {0};
	uint64_t flags = device->device_cap_flags;

	if (!ibv_query_device_ex(verbs, NULL, &attr)) {
		flags |= attr.device_cap_flags_ex;
		tell_number(section, "qp_rate_limit_min",
			    attr.packet_pacing_caps.qp_rate_limit_min);
		tell_number(section, "qp_rate_limit_max",
			    attr.packet_pacing_caps.qp_rate_limit_max);
		tell_number(section, "qp_rate_limit_types", attr.packet_pacing_caps.supported_qpts);
		tell_number(section, "max_cq_count", attr.cq_mod_caps.max_cq_count);
		tell_number(section, "max_cq_period", attr.cq_mod_caps.max_cq_period);
	}
#ifndef HAVE_ATOMIC_WRITE
	flags &= ~DEVICE_SUPPORT_ATOMIC_WRITE;
#endif
	tell_number(section, "device_cap_flags", flags);
}

void device_support_tell(json_t *device, json_t *port, struct ibv_context *verbs,
			 unsigned int number)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;

	if (verbs_result(ibv_query_device(verbs, &attr)))
		return;
	tell_attributes(device, &attr);
	tell_transports(device, verbs, &attr);
	tell_memory(device, verbs);
	tell_capabilities(device, verbs, &attr);
	tell_number(device, "hca_core_clock", device_clock_khz(verbs));
	tell_gids(port, verbs, attr.phys_port_cnt, number);
	if (verbs_result(ibv_query_port(verbs, (uint8_t)number, &port_attr)))
		return;
	tell_number(port, "max_msg_sz", port_attr.max_msg_sz);
	tell_number(port, "pkeys", port_attr.pkey_tbl_len);
	tell_number(port, "lids",
		    manual_qp_has_lids(&port_attr) ? UINT64_C(1) << port_attr.lmc : 0);
}

/* Returns a number, limited to most. A missing number is no limit. */
static json_int_t read_number(const json_t *section, const char *key, json_int_t most)
{
	const json_t *value = json_object_get(section, key);
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number < most ? number : most;
}

static uint64_t read_count(const json_t *section, const char *key)
{
	json_int_t number = read_number(section, key, INT_MAX);

	return number < 0 ? 0 : (uint64_t)number;
}

static void read_attributes(struct ibv_device_attr *attr, const json_t *section)
{
	const char *word = json_string_value(json_object_get(section, "atomics"));
	json_int_t size = read_number(section, "max_mr_size", INT64_MAX);
	bool is_none = word && !strcmp(word, atomics[IBV_ATOMIC_NONE]);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_int_t value = read_number(section, rows[i].key, INT_MAX);
		int number = value < 0 ? 0 : (int)value;

		memcpy((char *)attr + rows[i].offset, &number, sizeof(number));
	}
	attr->max_mr_size = size < 0 ? 0 : (uint64_t)size;
	attr->atomic_cap = is_none ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA;
}

static void read_port(struct device_support *capacity, const struct result_end *end,
		      const json_t *section)
{
	const json_t *gids = json_object_get(section, "gids");
	json_int_t bytes = read_number(section, "max_msg_sz", UINT32_MAX);
	enum ibv_mtu mtu = limits_mtu(end->mtu);
	const json_t *gid;
	size_t i;

	capacity->port.max_msg_sz = bytes < 0 ? 0 : (uint32_t)bytes;
	capacity->port.active_mtu = mtu ? mtu : IBV_MTU_4096;
	capacity->pkeys = read_count(section, "pkeys");
	capacity->lids = read_count(section, "lids");
	memset(capacity->gids, !json_array_size(gids), sizeof(capacity->gids));
	json_array_foreach(gids, i, gid)
	{
		json_int_t index = json_is_integer(gid) ? json_integer_value(gid) : -1;

		if (index >= 0 && index < DEVICE_SUPPORT_GIDS)
			capacity->gids[index] = true;
	}
}

static void read_transports(struct device_support *capacity, const json_t *section)
{
	for (enum transport i = TRANSPORT_RC; i < TRANSPORTS; i++) {
		const char *name = transport_names[i];
		json_int_t bytes = read_number(section, name, INT64_MAX);

		capacity->inline_bytes[i] = bytes < 0 ? 0 : (uint64_t)bytes;
		if (!json_object_size(section) || json_object_get(section, name))
			capacity->transports |= 1U << i;
	}
}

static void read_srd(struct device_support *capacity, const json_t *section)
{
	json_int_t bytes = read_number(section, "max_bytes", UINT32_MAX);

	capacity->srd = (struct srd_support){
		.has_reads = json_is_true(json_object_get(section, "reads")),
		.has_writes = json_is_true(json_object_get(section, "writes")),
		.most_bytes = bytes < 0 ? 0 : (uint32_t)bytes,
	};
}

void device_support_read(struct device_support *capacity, const struct result_end *end,
			 bool is_server, const char *whose)
{
	const json_t *device = json_object_get(end->facts, "device");
	const char *provider = json_string_value(
		json_object_get(json_object_get(end->facts, "rdma_core"), "provider"));

	*capacity = (struct device_support){
		.whose = whose,
		.address = end->address,
		.is_server = is_server,
		.is_iwarp = end->link_layer && !strcmp(end->link_layer, "iWARP"),
		.is_chelsio = provider && strstr(provider, "cxgb4"),
	};
	snprintf(capacity->name, sizeof(capacity->name), "%s/%u", end->device, end->port);
	read_attributes(&capacity->device, device);
	read_transports(capacity, json_object_get(device, "max_inline"));
	read_port(capacity, end, json_object_get(end->facts, "port"));
	read_srd(capacity, json_object_get(device, "srd"));
	capacity->lacking = json_object_get(device, "lacking_memory");
	capacity->capabilities = (uint64_t)read_number(device, "device_cap_flags", INT64_MAX);
	capacity->device.device_cap_flags = (unsigned int)capacity->capabilities;
	capacity->rate_limit_min = json_integer_value(json_object_get(device, "qp_rate_limit_min"));
	capacity->rate_limit_max = (uint64_t)read_number(device, "qp_rate_limit_max", UINT32_MAX);
	capacity->rate_limit_types =
		(uint64_t)read_number(device, "qp_rate_limit_types", UINT32_MAX);
	capacity->event_count = read_count(device, "max_cq_count");
	capacity->event_period_us = read_count(device, "max_cq_period");
	capacity->has_timestamps = read_number(device, "hca_core_clock", INT64_MAX) > 0;
	capacity->memory_bytes = (uint64_t)read_number(device, "max_dm_size", INT64_MAX);
}

static int check_transport(const struct device_support *capacity, const struct operation *op,
			   const struct parameters *p, struct error *error)
{
	enum transport transport = (enum transport)p->transport;
	/* The search for needed receives also connects by exchanged numbers. */
	bool is_by_hand = p->connect == CONNECT_QP || p->needs;

	if (!(capacity->transports & 1U << transport))
		return error_set(error, -EOPNOTSUPP, "the device does not support %s",
				 transport_names[transport]);
	if (is_by_hand && capacity->is_iwarp)
		return error_set(error, -EOPNOTSUPP,
				 "the device is iWARP, which connects only through rdma_cm");
	if (op->has_immediate && capacity->is_iwarp && !capacity->is_chelsio)
		return error_set(error, -EOPNOTSUPP,
				 "the device is iWARP, which has no immediate data");
	return 0;
}

static int lacks_gid(const struct device_support *capacity, uint64_t wanted, struct error *error)
{
	char has[64] = "none";
	size_t length = 0, found = 0;

	for (size_t i = 0; i < DEVICE_SUPPORT_GIDS; i++) {
		if (!capacity->gids[i])
			continue;
		if (++found > GIDS_SHOWN)
			break;
		length += (size_t)snprintf(has + length, sizeof(has) - length, "%s%zu",
					   length ? ", " : "", i);
	}
	return error_set(error, -EINVAL,
			 "the port has no GID at index %" PRIu64 "; available: %s%s", wanted, has,
			 found > GIDS_SHOWN ? " and more" : "");
}

/* The group is joined from the port's address. */
static int check_group_address(const struct device_support *capacity, const struct parameters *p,
			       struct error *error)
{
	bool is_v6 = group_address(p->multicast).ss_family == AF_INET6;
	struct sockaddr_storage own;
	char group[PARAMETER_TEXT];

	group_print(p->multicast, group, sizeof(group));
	/* Without a known address, the case may still fail later. */
	if (!address_parse(&own, capacity->address))
		return 0;
	if (own.ss_family != (is_v6 ? AF_INET6 : AF_INET))
		return error_set(error, -EAFNOSUPPORT,
				 "group %s is %s, but the port's address is %.64s; use an %s group",
				 group, is_v6 ? "IPv6" : "IPv4", capacity->address,
				 is_v6 ? "IPv4" : "IPv6");
	return 0;
}

static int check_multicast(const struct device_support *capacity, const struct parameters *p,
			   struct error *error)
{
	const struct ibv_device_attr *device = &capacity->device;

	if (!pattern_is_multicast(p))
		return 0;
	if (!device->max_mcast_grp)
		return error_set(error, -EOPNOTSUPP, "the device does not support multicast");
	if (capacity->is_server && pattern_receivers(p) > (unsigned int)device->max_mcast_qp_attach)
		return error_set(error, -EINVAL,
				 "number of receivers %u exceeds the device's limit %d",
				 pattern_receivers(p), device->max_mcast_qp_attach);
	return check_group_address(capacity, p, error);
}

/* Types of providers' own have no bit. */
static bool limits_rate(const struct device_support *capacity, enum transport transport)
{
	enum ibv_qp_type type = qp_kinds[transport].type;

	return type < 32 && capacity->rate_limit_types >> type & 1;
}

static int refuse_rate(const struct device_support *capacity, uint64_t rate, struct error *error)
{
	const uint64_t unit = rate & RATE_UNIT;
	char asked[32];
	char least[32];
	char most[32];

	rate_print(rate, asked, sizeof(asked));
	rate_print(unit | capacity->rate_limit_min * 1000, least, sizeof(least));
	rate_print(unit | capacity->rate_limit_max * 1000, most, sizeof(most));
	return error_set(error, -EINVAL, "--rate-limit %s exceeds the device's limits, %s to %s",
			 asked, least, most);
}

static int check_rate_limit(const struct device_support *capacity, const struct parameters *p,
			    struct error *error)
{
	enum transport transport = (enum transport)p->transport;
	uint64_t kilobits = rate_amount(p->rate_limit) / 1000;

	if (p->rate_limit == PARAMETER_AUTO)
		return 0;
	if (!limits_rate(capacity, transport))
		return error_set(error, -EOPNOTSUPP,
				 "the device does not limit the rate of %s queue pairs; omit "
				 "--rate-limit",
				 transport_names[transport]);
	if (kilobits < capacity->rate_limit_min || kilobits > capacity->rate_limit_max)
		return refuse_rate(capacity, p->rate_limit, error);
	return 0;
}

static int check_moderation(const struct device_support *capacity, const struct parameters *p,
			    struct error *error)
{
	uint64_t period_us = p->event_period_ns / NS_PER_US;

	if (p->event_count == PARAMETER_AUTO ||
	    (capacity->is_server ? p->server_cq : p->cq) == CQ_POLL)
		return 0;
	if (!capacity->event_count)
		return error_set(error, -EOPNOTSUPP,
				 "the device does not moderate completion events; omit "
				 "--event-count");
	if (p->event_count > capacity->event_count)
		return error_set(error, -EINVAL,
				 "--event-count %" PRIu64 " exceeds the device's limit %" PRIu64,
				 p->event_count, capacity->event_count);
	if (period_us > capacity->event_period_us)
		return error_set(error, -EINVAL,
				 "--event-period %" PRIu64 "us exceeds the device's limit %" PRIu64
				 "us",
				 period_us, capacity->event_period_us);
	return 0;
}

static int check_parameters(const struct device_support *capacity, const struct parameters *p,
			    struct error *error)
{
	bool may_inline = operation_may_inline(&operations[p->op], (enum transport)p->transport);
	uint64_t bytes = may_inline ? capacity->inline_bytes[p->transport] : 0;
	uint64_t gid_index = parameters_gid_index(p, capacity->is_server);

	if (p->inline_size != PARAMETER_AUTO && p->inline_size > bytes)
		return error_set(error, -EINVAL,
				 "inline size %" PRIu64 " exceeds the device's limit %" PRIu64,
				 p->inline_size, bytes);
	if (gid_index < DEVICE_SUPPORT_GIDS && !capacity->gids[gid_index])
		return lacks_gid(capacity, gid_index, error);
	if (p->breakdown == 1 && !capacity->is_server && !capacity->has_timestamps)
		return error_set(error, -EOPNOTSUPP,
				 "--breakdown: the device has no completion timestamps");
	if (p->pkey_index != PARAMETER_AUTO && p->pkey_index >= capacity->pkeys)
		return error_set(error, -EINVAL,
				 "--pkey-index %" PRIu64 ": the port's P_Key table has %" PRIu64
				 " entries, numbered from 0",
				 p->pkey_index, capacity->pkeys);
	if (p->path_bits != PARAMETER_AUTO && !capacity->lids)
		return error_set(error, -EINVAL,
				 "--path-bits %" PRIu64 ": the port has no LIDs, as it is not "
				 "InfiniBand",
				 p->path_bits);
	if (p->path_bits != PARAMETER_AUTO && p->path_bits >= capacity->lids)
		return error_set(error, -EINVAL,
				 "--path-bits %" PRIu64 ": the port has %" PRIu64
				 " LIDs, numbered from 0",
				 p->path_bits, capacity->lids);
	return 0;
}

/* Both ends are set up alike for posted atomics; memory is registered only at the client. */
static bool needs_atomics(const struct device_support *capacity, const struct operation *op,
			  const struct parameters *p)
{
	return (op->shape.is_atomic && !op->shape.stores) ||
	       (op->shape.registers && !capacity->is_server && p->mr_access == MR_ATOMIC);
}

static int check_operation(const struct device_support *capacity, const struct operation *op,
			   const struct parameters *p, struct error *error)
{
	enum transport transport = (enum transport)p->transport;
	const struct ibv_device_attr *device = &capacity->device;
	bool binds = op->shape.binds && !capacity->is_server;
	int code = 0;

	/* A device that cannot answer atomics cannot post them either. */
	if (needs_atomics(capacity, op, p))
		code = limits_operation(transport, POST_FETCH_ADD, device, error);
	if (op->shape.stores && !(capacity->capabilities & DEVICE_SUPPORT_ATOMIC_WRITE))
		code = error_set(error, -EOPNOTSUPP, "the device does not support atomic writes");
	if (op->shape.invalidates)
		code = limits_operation(transport, POST_SEND_INV, device, error);
	if (!code && binds)
		code = limits_operation(
			transport, op->shape.binds == IBV_MW_TYPE_1 ? POST_BIND_MW_1 : POST_BIND_MW,
			device, error);
	return code;
}

/* Reads and writes of SRD are optional, and have another limit than sends. */
static int check_srd(const struct device_support *capacity, const struct operation *op,
		     const struct parameters *p, struct ibv_port_attr *port, struct error *error)
{
	bool reads = op->needs & TRANSPORT_READS;
	bool writes = op->needs & TRANSPORT_WRITES;

	if (p->transport != TRANSPORT_SRD || !(reads || writes))
		return 0;
	port->max_msg_sz = capacity->srd.most_bytes;
	if (reads ? capacity->srd.has_reads : capacity->srd.has_writes)
		return 0;
	return error_set(error, -EOPNOTSUPP, "the device does not support %s on SRD",
			 reads ? "reads" : "writes");
}

static int check_memory(const struct device_support *capacity, const struct parameters *p,
			const struct limits *wanted, struct error *error)
{
	const char *text = memory_name_text(capacity->is_server ? p->server_memory : p->memory);
	const json_t *reason = json_object_get(capacity->lacking, text);
	char name[MEMORY_TEXT];
	char why[160];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
	if (!reason)
		reason = json_object_get(capacity->lacking, name);
	if (json_is_string(reason)) {
		printable_copy(why, sizeof(why), json_string_value(reason));
		return error_set(error, -EOPNOTSUPP, "--memory %s: %s", text, why);
	}
	if (!strcmp(name, "nic") && wanted->all_bytes > capacity->memory_bytes)
		return error_set(error, -EOPNOTSUPP,
				 "buffers need %" PRIu64 " bytes of the device's memory, which "
				 "has %" PRIu64 "; use a smaller --size or --buffer, or fewer "
				 "--threads",
				 wanted->all_bytes, capacity->memory_bytes);
	return 0;
}

int device_support_check(const struct device_support *capacity, const struct operation *op,
			 const struct parameters *parameters, const struct limits *wanted,
			 struct error *error)
{
	struct ibv_port_attr port = capacity->port;
	int code = check_transport(capacity, op, parameters, error);

	if (!code)
		code = check_operation(capacity, op, parameters, error);
	if (!code)
		code = check_srd(capacity, op, parameters, &port, error);
	if (!code)
		code = limits_check(wanted, &capacity->device, &port, error);
	if (!code)
		code = check_parameters(capacity, parameters, error);
	if (!code)
		code = check_multicast(capacity, parameters, error);
	if (!code)
		code = check_moderation(capacity, parameters, error);
	if (!code)
		code = check_rate_limit(capacity, parameters, error);
	if (!code)
		code = check_memory(capacity, parameters, wanted, error);
	if (code)
		error_wrap(error, "%.64s's %s", capacity->whose, capacity->name);
	return code;
}
