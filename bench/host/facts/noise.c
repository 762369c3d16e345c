/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bench/host/facts/facts.h"
#include "bench/host/facts/part.h"

#define CPU       "/sys/devices/system/cpu"
#define PROC_SIZE 4096

/* user nice system idle iowait irq softirq steal. Guests' time is included in the first two. */
#define TICKS 8

static void add_ticks(json_t *noise, const char *root)
{
	char *text = sysfs_text(root, PROC_SIZE, "/proc/stat");
	char line[SYSFS_TEXT];
	const char *next = line;
	json_int_t total = 0;
	json_int_t last = 0;
	bool found = sysfs_field(text, "cpu", line, sizeof(line));

	free(text);
	for (unsigned int i = 0; found && i < TICKS; i++) {
		char *end;

		last = strtoll(next, &end, 10);
		total += last;
		found = end != next;
		next = end;
	}
	if (!found)
		return;
	json_object_set_new(noise, "steal_ticks", json_integer(last));
	json_object_set_new(noise, "total_ticks", json_integer(total));
}

static void add_load(json_t *noise, const char *root)
{
	char line[SYSFS_NAME];
	const char *next = line;
	json_t *load = json_array();

	if (sysfs_line(root, line, sizeof(line), "/proc/loadavg"))
		for (unsigned int i = 0; i < 3; i++) {
			char *end;
			double figure = strtod(next, &end);

			if (end != next)
				json_array_append_new(load, json_real(figure));
			next = end;
		}
	if (json_array_size(load) == 3)
		json_object_set(noise, "loadavg", load);
	json_decref(load);
}

/* Sums over the process's group and its ancestors, any of which may have a limit. */
static void add_throttled(json_t *noise, const char *root)
{
	char folder[CGROUP_FOLDER];
	json_int_t sum = 0;
	bool known = false;

	if (!cgroup_find(root, "cpu", folder))
		return;
	do {
		char *text = sysfs_text(root, PROC_SIZE, "%s/cpu.stat", folder);
		char value[SYSFS_NAME];

		if (sysfs_field(text, "nr_throttled", value, sizeof(value))) {
			sum += strtoll(value, NULL, 10);
			known = true;
		}
		free(text);
	} while (cgroup_parent(folder));
	if (known)
		json_object_set_new(noise, "nr_throttled", json_integer(sum));
}

static void add_heat(json_t *noise, const char *root)
{
	struct sysfs_names names;
	json_int_t sum = 0;
	bool known = false;

	sysfs_names_open(&names, root, CPU);
	for (size_t i = 0; i < names.count; i++) {
		int64_t count;

		if (sysfs_number(root, &count, CPU "/%s/thermal_throttle/core_throttle_count",
				 names.name[i])) {
			sum += count;
			known = true;
		}
	}
	sysfs_names_close(&names);
	if (known)
		json_object_set_new(noise, "core_throttles", json_integer(sum));
}

json_t *facts_noise(const char *root)
{
	json_t *noise = json_object();

	if (!noise)
		return NULL;
	add_ticks(noise, root);
	add_load(noise, root);
	add_throttled(noise, root);
	add_heat(noise, root);
	return noise;
}

static json_int_t find_growth(const json_t *before, const json_t *after, const char *key)
{
	const json_t *from = json_object_get(before, key);
	const json_t *to = json_object_get(after, key);

	if (!json_is_integer(from) || !json_is_integer(to) || json_integer_value(from) < 0 ||
	    json_integer_value(to) < json_integer_value(from))
		return 0;
	return json_integer_value(to) - json_integer_value(from);
}

struct noise_growth facts_noise_growth(const json_t *before, const json_t *after)
{
	struct noise_growth growth = {
		.ticks = find_growth(before, after, "total_ticks"),
		.stolen = find_growth(before, after, "steal_ticks"),
		.throttled = find_growth(before, after, "nr_throttled"),
		.slowed = find_growth(before, after, "core_throttles"),
	};

	/* The bound keeps figures of another host from overflowing. */
	if (growth.stolen > growth.ticks || growth.stolen > INT32_MAX)
		growth.stolen = 0;
	return growth;
}

bool facts_is_much_stolen(const struct noise_growth *growth)
{
	return growth->stolen * 100 > growth->ticks;
}
