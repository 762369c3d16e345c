/* SPDX-License-Identifier: MIT */
/* The GPUs of a host, by PCI address, and how far each is from the RDMA device. */
#include "bench/host/facts/part.h"
#include "bench/host/gpu_list.h"

static json_t *encode(const struct gpu_entry *gpu, const struct facts_place *place)
{
	json_t *json = json_pack(
		"{s:s, s:s, s:s}", "kind", gpu->kind, "name", gpu->name, "distance",
		pci_distance_name(gpu_distance(place->root, gpu->address, place->device)));

	if (gpu->numa_node >= 0)
		json_object_set_new(json, "numa_node", json_integer(gpu->numa_node));
	facts_set(json, "nearest", gpu->device);
	if (gpu->device[0])
		facts_set(json, "nearest_distance", pci_distance_name(gpu->distance));
	facts_set(json, "iommu", gpu->iommu);
	if (gpu->is_isolated)
		json_object_set_new(json, "acs", json_true());
	return json;
}

json_t *facts_gpus(const struct facts_place *place)
{
	json_t *section = json_object();
	struct gpu_list list;

	gpu_list_open(&list, place->root);
	for (size_t i = 0; i < list.count && !facts_is_software(place); i++)
		json_object_set_new(section, list.gpus[i].address, encode(&list.gpus[i], place));
	gpu_list_close(&list);
	return section;
}
