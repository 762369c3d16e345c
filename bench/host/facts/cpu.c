/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cpulist.h"
#include "bench/host/facts/part.h"

#define CPU         "/sys/devices/system/cpu"
#define NODE        "/sys/devices/system/node"
#define NODES_MAX   64
#define STATES_MAX  16
#define STATUS_SIZE 8192

/* Enough of /proc/cpuinfo for its first CPU: the file is long on a large host. */
#define CPUINFO_SIZE 8192

static char *read_cpuinfo(const char *root)
{
	return sysfs_text(root, CPUINFO_SIZE, "/proc/cpuinfo");
}

int facts_cpu_flag(const char *root, const char *flag)
{
	char flags[CPUINFO_SIZE];
	char *text = read_cpuinfo(root);
	char *rest = flags;
	int found = -1;

	if (sysfs_field(text, "flags", flags, sizeof(flags))) {
		const char *word;

		found = 0;
		while (!found && (word = strsep(&rest, " ")))
			found = !strcmp(word, flag);
	}
	free(text);
	return found;
}

/* The keys that identify a model differ between architectures. */
static void identify(json_t *section, const char *root)
{
	static const struct {
		const char *word;
		const char *key;
	} rows[] = {
		{"model name",      "model"       },
                {"cpu",             "model"       },
		{"vendor_id",       "vendor"      },
                {"cpu family",      "family"      },
		{"model",           "model_number"},
                {"stepping",        "stepping"    },
		{"microcode",       "microcode"   },
                {"CPU implementer", "implementer" },
		{"CPU part",        "part"        },
                {"CPU revision",    "revision"    },
	};
	char *text = read_cpuinfo(root);
	char value[SYSFS_TEXT];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (sysfs_field(text, rows[i].word, value, sizeof(value)))
			facts_set(section, rows[i].key, value);
	free(text);
}

json_t *facts_cpu(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"online",    "online",     fact_text},
		{"smt",       "smt/active", fact_flag},
		{"isolated",  "isolated",   fact_text},
		{"nohz_full", "nohz_full",  fact_text},
	};
	json_t *section = json_object();
	char *status = sysfs_text(place->root, STATUS_SIZE, "/proc/self/status");
	struct cpulist list;
	char allowed[SYSFS_TEXT];

	identify(section, place->root);
	facts_read(section, place->root, CPU, rows, ARRAY_LENGTH(rows));
	if (cpulist_parse(&list, json_string_value(json_object_get(section, "online"))))
		json_object_set_new(section, "count", json_integer(cpulist_count(&list)));
	if (sysfs_field(status, "Cpus_allowed_list", allowed, sizeof(allowed)))
		facts_set(section, "allowed", allowed);
	free(status);
	return section;
}

/* Adds the governors of all CPUs, each once. */
static void add_governors(json_t *section, const struct sysfs_names *policies, const char *root)
{
	char all[SYSFS_NAME * 4] = "";
	size_t used = 0;

	for (size_t i = 0; i < policies->count && used < sizeof(all); i++) {
		char governor[SYSFS_NAME];

		if (sysfs_line(root, governor, sizeof(governor), CPU "/cpufreq/%s/scaling_governor",
			       policies->name[i]) &&
		    !strstr(all, governor))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used ? ", " : "", governor);
	}
	facts_set(section, "governor", all);
}

json_t *facts_frequency(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"driver",            "scaling_driver",                fact_text},
		{"energy_preference", "energy_performance_preference", fact_text},
	};
	json_t *section = json_object();
	struct sysfs_names policies;
	char folder[SYSFS_TEXT];
	int64_t flag;

	sysfs_names_open(&policies, place->root, CPU "/cpufreq");
	for (size_t i = 0; i < policies.count; i++)
		if (!strcmp(policies.name[i], "policy0")) {
			snprintf(folder, sizeof(folder), CPU "/cpufreq/%s", policies.name[i]);
			facts_read(section, place->root, folder, rows, ARRAY_LENGTH(rows));
		}
	add_governors(section, &policies, place->root);
	sysfs_names_close(&policies);
	if (sysfs_number(place->root, &flag, CPU "/intel_pstate/no_turbo"))
		json_object_set_new(section, "turbo", json_boolean(!flag));
	else if (sysfs_number(place->root, &flag, CPU "/cpufreq/boost"))
		json_object_set_new(section, "turbo", json_boolean(flag));
	return section;
}

/* Adds the enabled idle state with the longest exit latency. */
static void add_deepest(json_t *section, const char *root)
{
	char deepest[SYSFS_NAME];
	int64_t longest_us = -1;

	for (unsigned int i = 0; i < STATES_MAX; i++) {
		char name[SYSFS_NAME];
		int64_t latency_us;
		int64_t disabled = 0;

		if (!sysfs_number(root, &latency_us, CPU "/cpu0/cpuidle/state%u/latency", i) ||
		    !sysfs_line(root, name, sizeof(name), CPU "/cpu0/cpuidle/state%u/name", i))
			continue;
		sysfs_number(root, &disabled, CPU "/cpu0/cpuidle/state%u/disable", i);
		if (disabled || latency_us <= longest_us)
			continue;
		longest_us = latency_us;
		snprintf(deepest, sizeof(deepest), "%s", name);
	}
	if (longest_us >= 0)
		json_object_set_new(section, "deepest",
				    json_pack("{s:s, s:I}", "name", deepest, "latency_us",
					      (json_int_t)longest_us));
}

json_t *facts_idle(const struct facts_place *place)
{
	static const struct fact rows[] = {
		{"driver", "current_driver", fact_text},
	};
	json_t *section = json_object();
	int32_t latency_us;

	facts_read(section, place->root, CPU "/cpuidle", rows, ARRAY_LENGTH(rows));
	if (sysfs_bytes(place->root, &latency_us, sizeof(latency_us), "/dev/cpu_dma_latency") ==
	    sizeof(latency_us))
		json_object_set_new(section, "cpu_dma_latency_us", json_integer(latency_us));
	add_deepest(section, place->root);
	return section;
}

static json_t *distances(const char *text)
{
	json_t *row = json_array();

	while (*text) {
		char *end;
		long distance = strtol(text, &end, 10);

		if (end == text)
			break;
		json_array_append_new(row, json_integer(distance));
		text = end;
	}
	return row;
}

json_t *facts_numa(const struct facts_place *place)
{
	json_t *section = json_object();
	json_t *rows = json_array();
	char text[SYSFS_TEXT];
	struct cpulist nodes;
	int64_t balancing;

	if (sysfs_line(place->root, text, sizeof(text), NODE "/online") &&
	    cpulist_parse(&nodes, text))
		json_object_set_new(section, "nodes", json_integer(cpulist_count(&nodes)));
	for (unsigned int i = 0; i < NODES_MAX; i++)
		if (sysfs_line(place->root, text, sizeof(text), NODE "/node%u/distance", i))
			json_array_append_new(rows, distances(text));
	if (json_array_size(rows))
		json_object_set(section, "distances", rows);
	json_decref(rows);
	if (sysfs_number(place->root, &balancing, "/proc/sys/kernel/numa_balancing"))
		json_object_set_new(section, "balancing", json_integer(balancing));
	return section;
}
