/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/facts/part.h"
#include "core/base/free_memory.h"

#define CLOCK     "/sys/devices/system/clocksource/clocksource0"
#define HUGEPAGES "/sys/kernel/mm/hugepages"

#define PROC_SIZE 8192

json_t *facts_kernel(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"release", "sys/kernel/osrelease", fact_text},
		{"version", "sys/kernel/version",   fact_text},
		{"cmdline", "cmdline",              fact_text},
	};
	json_t *section = json_object();

	facts_read(section, place->root, "/proc", rows, ARRAY_LENGTH(rows));
	return section;
}

json_t *facts_clock(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"source",    "current_clocksource",   fact_text},
		{"available", "available_clocksource", fact_text},
	};
	static const char *const flags[] = {"constant_tsc", "nonstop_tsc"};
	json_t *section = json_object();

	facts_read(section, place->root, CLOCK, rows, ARRAY_LENGTH(rows));
	if (facts_cpu_flag(place->root, "tsc") <= 0)
		return section;
	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
		json_object_set_new(section, flags[i],
				    json_boolean(facts_cpu_flag(place->root, flags[i])));
	return section;
}

/* Adds the soft limit, which is the one in effect. */
static void add_limit(json_t *section, const char *limits, const char *word, const char *key)
{
	char value[SYSFS_TEXT];

	if (!sysfs_field(limits, word, value, sizeof(value)))
		return;
	value[strcspn(value, " ")] = '\0';
	if (!strcmp(value, "unlimited"))
		facts_set(section, key, value);
	else
		json_object_set_new(section, key, fact_number(value));
}

json_t *facts_limits(const struct facts_place *place)
{
	json_t *section = json_object();
	char *limits = sysfs_text(place->root, PROC_SIZE, "/proc/self/limits");

	add_limit(section, limits, "Max locked memory", "memlock");
	add_limit(section, limits, "Max open files", "nofile");
	if (limits)
		json_object_set_new(section, "memlock_exempt",
				    json_boolean(free_memory_is_exempt(place->root)));
	free(limits);
	return section;
}

static json_t *pages(const char *root, const char *name, long long kib)
{
	static const struct fact rows[] = {
		{"total", "nr_hugepages",   fact_number},
		{"free",  "free_hugepages", fact_number},
	};
	json_t *size = json_pack("{s:I}", "kib", (json_int_t)kib);
	char folder[SYSFS_TEXT];

	snprintf(folder, sizeof(folder), HUGEPAGES "/%s", name);
	facts_read(size, root, folder, rows, ARRAY_LENGTH(rows));
	return size;
}

json_t *facts_hugepages(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"transparent", "enabled", fact_choice},
	};
	static const char prefix[] = "hugepages-";
	json_t *section = json_object();
	json_t *sizes = json_array();
	char *memory = sysfs_text(place->root, PROC_SIZE, "/proc/meminfo");
	struct sysfs_names names;
	char value[SYSFS_TEXT];

	facts_read(section, place->root, "/sys/kernel/mm/transparent_hugepage", rows,
		   ARRAY_LENGTH(rows));
	if (sysfs_field(memory, "Hugepagesize", value, sizeof(value)))
		json_object_set_new(section, "default_kib", json_integer(strtoll(value, NULL, 10)));
	free(memory);
	sysfs_names_open(&names, place->root, HUGEPAGES);
	for (size_t i = 0; i < names.count; i++)
		if (!strncmp(names.name[i], prefix, sizeof(prefix) - 1))
			json_array_append_new(
				sizes,
				pages(place->root, names.name[i],
				      strtoll(names.name[i] + sizeof(prefix) - 1, NULL, 10)));
	sysfs_names_close(&names);
	if (json_array_size(sizes))
		json_object_set(section, "sizes", sizes);
	json_decref(sizes);
	return section;
}

json_t *facts_virtualization(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"vendor",  "class/dmi/id/sys_vendor",   fact_text},
		{"product", "class/dmi/id/product_name", fact_text},
		{"type",    "hypervisor/type",           fact_text},
	};
	json_t *section = json_object();
	int flag = facts_cpu_flag(place->root, "hypervisor");

	if (flag >= 0)
		json_object_set_new(section, "hypervisor", json_boolean(flag));
	facts_read(section, place->root, "/sys", rows, ARRAY_LENGTH(rows));
	return section;
}
