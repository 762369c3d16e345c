/* SPDX-License-Identifier: MIT */
#include "bench/cmd/devices_memory.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/tty.h"
#include "bench/host/gpu_list.h"
#include "core/memory/gpu.h"
#include "reports/table/grid.h"

static struct gpu_entry *find_or_add(struct gpu_list *list, const struct gpu *gpu)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->gpus[i].address, gpu->address) && list->gpus[i].number < 0)
			return &list->gpus[i];
	return gpu_list_add(list, gpu->address);
}

/* Adds the driver's numbers and names. Fails if the driver cannot be used. */
static int add_driver(struct gpu_list *list, const struct gpu_driver *driver, struct error *error)
{
	unsigned int count = 0;
	int code = driver->count(&count, error);

	for (unsigned int i = 0; i < count && !code; i++) {
		struct gpu_entry *entry;
		struct gpu gpu;

		code = driver->describe(i, &gpu, error);
		if (code)
			break;
		entry = find_or_add(list, &gpu);
		if (!entry)
			return error_set_errno(error, -ENOMEM, "cannot list GPUs");
		entry->kind = driver->name;
		entry->number = (int)i;
		snprintf(entry->name, sizeof(entry->name), "%s", gpu.name);
	}
	return code;
}

static void put_gpu(struct grid *grid, const struct gpu_entry *gpu)
{
	grid_put(grid, gpu->number < 0 ? "-" : "%s:%d", gpu->kind, gpu->number);
	grid_put(grid, "%s", gpu->address);
	grid_put(grid, "%s", gpu->name);
	grid_put(grid, gpu->numa_node < 0 ? "-" : "%d", gpu->numa_node);
	grid_put(grid, "%s", gpu->device[0] ? gpu->device : "-");
	grid_put(grid, "%s%s", pci_distance_name(gpu->distance), gpu->is_isolated ? " (ACS)" : "");
	grid_put(grid, "%s", gpu->iommu[0] ? gpu->iommu : "-");
}

static void print_table(const struct gpu_list *list)
{
	static const struct grid_column columns[] = {
		{"MEMORY",  GRID_WORDS,   0},
                {"PCI",     GRID_WORDS,   0},
                {"NAME",    GRID_WORDS,   0},
		{"NUMA",    GRID_FIGURES, 0},
                {"NEAREST", GRID_WORDS,   0},
                {"SHARED",  GRID_WORDS,   0},
		{"IOMMU",   GRID_WORDS,   0},
	};
	struct terminal terminal = tty_find(stdout, NULL);
	struct grid grid;

	grid_open(&grid);
	grid_add_columns(&grid, columns, ARRAY_LENGTH(columns));
	for (size_t i = 0; i < list->count; i++)
		put_gpu(&grid, &list->gpus[i]);
	grid_text(&terminal, &grid);
	grid_close(&grid);
}

static json_t *encode(const struct gpu_entry *gpu)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b}", "kind", gpu->kind, "pci",
				 gpu->address, "name", gpu->name, "distance",
				 pci_distance_name(gpu->distance), "acs", gpu->is_isolated);

	if (gpu->number >= 0)
		json_object_set_new(json, "memory", json_sprintf("%s:%d", gpu->kind, gpu->number));
	if (gpu->numa_node >= 0)
		json_object_set_new(json, "numa_node", json_integer(gpu->numa_node));
	if (gpu->device[0])
		json_object_set_new(json, "device", json_string(gpu->device));
	if (gpu->iommu[0])
		json_object_set_new(json, "iommu", json_string(gpu->iommu));
	return json;
}

static int print_json(const struct gpu_list *list, struct error *error)
{
	json_t *gpus = json_array();
	int code;

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(gpus, encode(&list->gpus[i]));
	code = json_dumpf(gpus, stdout, JSON_INDENT(1));
	json_decref(gpus);
	putchar('\n');
	return code || fflush(stdout) ? error_set(error, -EIO, "cannot write the list") : 0;
}

static bool has_kind(const struct gpu_list *list, const char *kind)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->gpus[i].kind, kind))
			return true;
	return false;
}

static int add_drivers(struct gpu_list *list, struct error *error)
{
	static const struct gpu_driver *const drivers[] = {&gpu_cuda, &gpu_rocm};

	for (size_t i = 0; i < ARRAY_LENGTH(drivers); i++) {
		struct error fault = {0};

		/* Report a driver's error only if the machine has one of its GPUs. */
		if (add_driver(list, drivers[i], &fault) && has_kind(list, drivers[i]->name))
			fprintf(stderr, "%s: %s\n", drivers[i]->name, fault.text);
	}
	return list->count ? 0
			   : error_set(error, -ENODEV,
				       "no GPU of NVIDIA or AMD; 'lspci -d ::03xx' lists display "
				       "controllers");
}

int devices_memory(bool json, struct error *error)
{
	struct gpu_list list;
	int code =
		gpu_list_open(&list, "") ? 0 : error_set_errno(error, -ENOMEM, "cannot list GPUs");

	if (!code)
		code = add_drivers(&list, error);
	if (!code && json)
		code = print_json(&list, error);
	else if (!code)
		print_table(&list);
	gpu_list_close(&list);
	return code;
}
