/* SPDX-License-Identifier: MIT */
#include "reports/result/fingerprint.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"
#include "reports/result/kernel_cmdline.h"

/* 64-bit FNV-1a: nobody gains from a collision, so the hash need not be cryptographic. */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME  0x100000001b3ULL

#define MEMBERS_MAX 17

/* The hard facts by section; no members: the whole section. */
static const struct {
	const char *section;
	const char *members[MEMBERS_MAX];
} hard[] = {
	{"device",
	 {"kind", "node_type", "vendor_id", "vendor_part_id", "hw_ver", "hw_rev", "fw_ver",
	  "board_id", "hca_type", "software", "virtual_function", "driver", "driver_version",
	  "driver_srcversion", "rdma_driver", "rdma_driver_version", "rdma_driver_srcversion"}},
	{"port",
	 {"link_layer", "state", "phys_state", "rate", "active_mtu", "max_mtu", "gid_types"}  },
	{"netdev",         {"mtu", "driver"}						  },
	{"flow",           {NULL}							     },
 /* Nothing from the configuration space: users other than root can read only its start. */
	{"pcie",           {"current_link_speed", "current_link_width", "numa_node"}          },
	{"iommu",          {"type"}							   },
	{"rdma_core",      {"library", "version", "provider"}                                 },
	{"libc",           {NULL}							     },
	{"tool",           {"compiler", "build_type", "flags"}                                },
	{"cpu",
	 {"model", "vendor", "family", "model_number", "stepping", "microcode", "implementer",
	  "part", "revision", "online", "smt", "isolated", "nohz_full"}                       },
	{"frequency",      {"driver", "governor", "energy_preference", "turbo"}               },
	{"idle",           {"driver"}							 },
	{"numa",           {"nodes", "distances", "balancing"}                                },
	{"kernel",         {"release", "version", "cmdline"}                                  },
	{"clock",          {"source"}							 },
	{"cgroup",         {"cpu_max"}							},
	{"virtualization", {NULL}							     },
	{"environment",    {"softroce_accel"}						 },
};

static json_t *take_members(json_t *section, const char *const *members)
{
	json_t *taken;

	if (!members[0] || !json_is_object(section))
		return json_incref(section);
	taken = json_object();
	for (size_t i = 0; i < MEMBERS_MAX && members[i]; i++) {
		json_t *value = json_object_get(section, members[i]);

		if (value)
			json_object_set(taken, members[i], value);
	}
	return taken;
}

/* Keeps only what --redact keeps of the command line, so that redaction does not matter. */
static void shorten_cmdline(json_t *taken)
{
	json_t *kernel = json_object_get(taken, "kernel");
	const char *line = json_string_value(json_object_get(kernel, "cmdline"));
	char kept[KERNEL_CMDLINE_KEPT];

	if (line && !kernel_cmdline_keep(line, kept))
		json_object_set_new(kernel, "cmdline", json_string(kept));
}

static json_t *take_hard(const json_t *facts)
{
	json_t *taken = json_object();

	for (size_t i = 0; i < ARRAY_LENGTH(hard); i++) {
		json_t *section = json_object_get(facts, hard[i].section);

		if (section)
			json_object_set_new(taken, hard[i].section,
					    take_members(section, hard[i].members));
	}
	shorten_cmdline(taken);
	return taken;
}

uint64_t fingerprint_hash(const char *bytes, size_t length)
{
	uint64_t sum = FNV_OFFSET;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * FNV_PRIME;
	return sum;
}

void fingerprint_hard(const json_t *facts, char text[static FINGERPRINT_TEXT])
{
	json_t *taken = take_hard(facts);
	char *sorted = json_dumps(taken, JSON_COMPACT | JSON_SORT_KEYS);

	text[0] = '\0';
	if (sorted && json_object_size(taken))
		snprintf(text, FINGERPRINT_TEXT, "%016" PRIx64,
			 fingerprint_hash(sorted, strlen(sorted)));
	free(sorted);
	json_decref(taken);
}

static void tell_value(char text[static 48], const json_t *value)
{
	char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII)
			     : NULL;

	snprintf(text, 48, "%s", dumped ? dumped : "unknown");
	if (dumped && strlen(dumped) >= 48)
		memcpy(text + 44, "...", 4);
	free(dumped);
}

/* Names may come from any document: replace unprintable characters. */
static void tell_fact(struct fingerprint_change *change, const char *section, const char *name)
{
	snprintf(change->fact, sizeof(change->fact), "%s%s%s", section, *name ? " " : "", name);
	printable_copy(change->fact, sizeof(change->fact), change->fact);
}

static void add_change(struct fingerprint_change *change, const char *section, const char *name,
		       const json_t *const values[static 2])
{
	if (values[0] == values[1] || (values[0] && values[1] && json_equal(values[0], values[1])))
		return;
	if (change->count++)
		return;
	tell_fact(change, section, name);
	tell_value(change->before, values[0]);
	tell_value(change->now, values[1]);
}

static void compare_section(struct fingerprint_change *change, const char *section, json_t *before,
			    json_t *now)
{
	const char *name;
	json_t *value;

	if (!json_is_object(before) || !json_is_object(now)) {
		add_change(change, section, "", (const json_t *const[]){before, now});
		return;
	}
	json_object_foreach(before, name, value)
	{
		add_change(change, section, name,
			   (const json_t *const[]){value, json_object_get(now, name)});
	}
	json_object_foreach(now, name, value)
	{
		if (!json_object_get(before, name))
			add_change(change, section, name, (const json_t *const[]){NULL, value});
	}
}

bool fingerprint_compare(struct fingerprint_change *change, const json_t *before, const json_t *now)
{
	json_t *first = take_hard(before);
	json_t *second = take_hard(now);

	*change = (struct fingerprint_change){0};
	if (json_object_size(first) && json_object_size(second))
		for (size_t i = 0; i < ARRAY_LENGTH(hard); i++)
			compare_section(change, hard[i].section,
					json_object_get(first, hard[i].section),
					json_object_get(second, hard[i].section));
	json_decref(first);
	json_decref(second);
	return change->count;
}

bool fingerprint_has(const char *section, const char *member)
{
	for (size_t i = 0; i < ARRAY_LENGTH(hard); i++) {
		const char *const *members = hard[i].members;

		if (strcmp(hard[i].section, section) != 0)
			continue;
		if (!members[0])
			return true;
		for (size_t j = 0; member && j < MEMBERS_MAX && members[j]; j++)
			if (!strcmp(members[j], member))
				return true;
	}
	return false;
}
