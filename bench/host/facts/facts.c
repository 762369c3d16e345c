/* SPDX-License-Identifier: MIT */
#include "bench/host/facts/facts.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/part.h"
#include "core/base/printable.h"

#define MAPS_SIZE (1U << 20)

json_t *fact_text(const char *text)
{
	return strcmp(text, "(null)") ? json_string(text) : NULL;
}

json_t *fact_number(const char *text)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 0);
	return errno || *end || end == text ? NULL : json_integer(number);
}

json_t *fact_flag(const char *text)
{
	return (*text == '0' || *text == '1') && !text[1] ? json_boolean(*text == '1') : NULL;
}

json_t *fact_named(const char *text)
{
	const char *name = strstr(text, ": ");

	return json_string(name ? name + 2 : text);
}

json_t *fact_choice(const char *text)
{
	const char *first = strchr(text, '[');

	return first ? json_stringn(first + 1, strcspn(first + 1, "]")) : NULL;
}

void facts_read(json_t *into, const char *root, const char *folder, const struct fact *rows,
		size_t count)
{
	char text[SYSFS_TEXT];

	for (size_t i = 0; i < count; i++)
		if (sysfs_line(root, text, sizeof(text), "%s/%s", folder, rows[i].file))
			json_object_set_new(into, rows[i].key, rows[i].value(text));
}

void facts_set(json_t *into, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(into, key, json_string(text));
}

/*
 * Gets the version of rdma-core, which no function returns, from the name of the library: in
 * libibverbs.so.1.14.44.0 it follows the numbers of the interface and the ABI.
 */
static void find_library(json_t *section, const char *maps)
{
	static const char name[] = "/libibverbs.so.";
	const char *found = maps ? strstr(maps, name) : NULL;
	char file[64];
	const char *version;

	if (!found)
		return;
	found++;
	snprintf(file, sizeof(file), "%.*s", (int)strcspn(found, " \n"), found);
	printable_copy(file, sizeof(file), file);
	facts_set(section, "library", file);
	version = strchr(file + sizeof(name) - 1, '.');
	version = version ? strchr(version + 1, '.') : NULL;
	if (version)
		facts_set(section, "version", version + 1);
}

static json_t *rdma_core(const struct facts_place *place)
{
	char *maps = sysfs_text(place->root, MAPS_SIZE, "/proc/self/maps");
	json_t *section = json_object();

	find_library(section, maps);
	free(maps);
	return section;
}

static json_t *environment(const struct facts_place *place)
{
	const char *value = getenv("SOFTROCE_ACCEL");
	json_t *section = json_object();
	char text[SYSFS_NAME];

	if (!value)
		return section;
	printable_copy(text, sizeof(text), value);
	facts_set(section, "softroce_accel", text);
	return section;
}

struct section {
	const char *name;
	facts_section *gather;
};

static const struct section of_device[] = {
	{"device",     facts_device    },
        {"port",       facts_port      },
        {"netdev",     facts_netdev    },
	{"flow",       facts_flow      },
        {"pcie",       facts_pcie      },
        {"interrupts", facts_interrupts},
	{"iommu",      facts_iommu     },
        {"access",     facts_access    },
        {"gpus",       facts_gpus      },
};

static const struct section without_device[] = {
	{"soft_roce", facts_soft_roce},
};

static const struct section of_host[] = {
	{"tool",           facts_tool          },
        {"rdma_core",      rdma_core           },
	{"cpu",            facts_cpu           },
        {"frequency",      facts_frequency     },
	{"idle",           facts_idle          },
        {"numa",           facts_numa          },
	{"kernel",         facts_kernel        },
        {"clock",          facts_clock         },
	{"limits",         facts_limits        },
        {"hugepages",      facts_hugepages     },
	{"cgroup",         facts_cgroup        },
        {"virtualization", facts_virtualization},
	{"environment",    environment         },
};

static void facts_add(json_t *facts, const struct facts_place *place,
		      const struct section *sections, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *section = sections[i].gather(place);

		if (json_object_size(section))
			json_object_set(facts, sections[i].name, section);
		json_decref(section);
	}
}

json_t *facts_gather(const char *root, const char *device, unsigned int port)
{
	const struct facts_place place = {.root = root, .device = device, .port = port};
	json_t *facts = json_object();
	char host[SYSFS_TEXT];

	if (!facts)
		return NULL;
	if (sysfs_line(root, host, sizeof(host), "/proc/sys/kernel/hostname"))
		facts_set(facts, "host", host);
	facts_set(facts, "libc", gnu_get_libc_version());
	if (device)
		facts_add(facts, &place, of_device, ARRAY_LENGTH(of_device));
	else
		facts_add(facts, &place, without_device, ARRAY_LENGTH(without_device));
	facts_add(facts, &place, of_host, ARRAY_LENGTH(of_host));
	/* libibverbs only knows this machine. */
	if (device && !root[0])
		facts_verbs(facts, &place);
	return facts;
}
