/* SPDX-License-Identifier: MIT */
#include "core/verbs/verbs.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "bench/host/device_support.h"
#include "bench/host/facts/part.h"
#include "core/verbs/device.h"
#include "core/verbs/limits.h"

/* Returns a section. Adds it if missing: libibverbs may know devices that /sys does not have. */
static json_t *section_of(json_t *facts, const char *name)
{
	if (!json_object_get(facts, name))
		json_object_set_new(facts, name, json_object());
	return json_object_get(facts, name);
}

static void set_hex(json_t *section, const char *key, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%04x", number);
	facts_set(section, key, text);
}

static void add_attributes(json_t *facts, struct ibv_context *context)
{
	json_t *section = section_of(facts, "device");
	struct ibv_device_attr attr;

	if (verbs_result(ibv_query_device(context, &attr)))
		return;
	set_hex(section, "vendor_id", attr.vendor_id);
	json_object_set_new(section, "vendor_part_id", json_integer(attr.vendor_part_id));
	set_hex(section, "hw_ver", attr.hw_ver);
	facts_set(section, "fw_ver", attr.fw_ver);
	if (device_kind_is_soft(&attr))
		facts_set(section, "kind", device_kind_name(DEVICE_KIND_SOFT));
}

static void add_mtu(json_t *facts, struct ibv_context *context, unsigned int port)
{
	json_t *section = section_of(facts, "port");
	struct ibv_port_attr attr;

	if (verbs_result(ibv_query_port(context, (uint8_t)port, &attr)))
		return;
	json_object_set_new(section, "active_mtu", json_integer(limits_mtu_bytes(attr.active_mtu)));
	json_object_set_new(section, "max_mtu", json_integer(limits_mtu_bytes(attr.max_mtu)));
	if (!json_object_get(section, "state"))
		facts_set(section, "state", device_state_name(attr.state));
	if (!json_object_get(section, "link_layer") && attr.link_layer == IBV_LINK_LAYER_ETHERNET)
		facts_set(section, "link_layer", "Ethernet");
}

static void add_vectors(json_t *facts, const struct ibv_context *context)
{
	json_object_set_new(section_of(facts, "interrupts"), "completion_vectors",
			    json_integer(context->num_comp_vectors));
}

/* Finds the provider's library as the file that contains its functions. */
static void add_provider(json_t *facts, const struct ibv_context *context)
{
	void *function;
	Dl_info info;
	const char *last;

	memcpy(&function, &context->ops.poll_cq, sizeof(function));
	if (!dladdr(function, &info) || !info.dli_fname)
		return;
	last = strrchr(info.dli_fname, '/');
	facts_set(section_of(facts, "rdma_core"), "provider", last ? last + 1 : info.dli_fname);
}

static void set_fault(json_t *facts, int code, const char *reason)
{
	struct error fault = {0};

	if (code)
		error_set_errno(&fault, code, "%s", reason);
	facts_set(section_of(facts, "device"), "fault", code ? fault.text : reason);
}

static void add_device(json_t *facts, const struct facts_place *place, struct ibv_device *device)
{
	struct ibv_context *context = ibv_open_device(device);

	if (!context) {
		set_fault(facts, verbs_null(), "cannot open it");
		return;
	}
	add_attributes(facts, context);
	add_mtu(facts, context, place->port);
	device_support_tell(section_of(facts, "device"), section_of(facts, "port"), context,
			    place->port);
	add_vectors(facts, context);
	add_provider(facts, context);
	ibv_close_device(context);
}

void facts_verbs(json_t *facts, const struct facts_place *place)
{
	int count = 0;
	struct ibv_device **devices = ibv_get_device_list(&count);
	bool found = false;

	for (int i = 0; devices && i < count && !found; i++) {
		found = !strcmp(ibv_get_device_name(devices[i]), place->device);
		if (found)
			add_device(facts, place, devices[i]);
	}
	if (!found)
		set_fault(facts, 0, "libibverbs does not list it");
	if (devices)
		ibv_free_device_list(devices);
}
