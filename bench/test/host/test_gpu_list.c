/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/host/gpu_list.h"
#include "bench/test/unit.d/section.h"

#define DEVICES "/sys/devices"
#define PCI     "/sys/bus/pci/devices"

/* A PCI device at the end of a path of bridges, and what its files hold. */
static void add_pci(const struct made_up *machine, const char *bridges, const char *address,
		    const char *class, const char *vendor, const char *node)
{
	char path[256];
	char target[256];

	snprintf(path, sizeof(path), DEVICES "/%s/%s/class", bridges, address);
	made_up_file(machine, path, class);
	snprintf(path, sizeof(path), DEVICES "/%s/%s/vendor", bridges, address);
	made_up_file(machine, path, vendor);
	snprintf(path, sizeof(path), DEVICES "/%s/%s/device", bridges, address);
	made_up_file(machine, path, "0x2330");
	snprintf(path, sizeof(path), DEVICES "/%s/%s/numa_node", bridges, address);
	made_up_file(machine, path, node);
	snprintf(path, sizeof(path), PCI "/%s", address);
	snprintf(target, sizeof(target), "../../../devices/%s/%s", bridges, address);
	made_up_link(machine, path, target);
}

static void add_nic(const struct made_up *machine, const char *name, const char *bridges,
		    const char *address, const char *node)
{
	char path[256];
	char target[256];

	add_pci(machine, bridges, address, "0x020000", "0x15b3", node);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", name);
	snprintf(target, sizeof(target), "../../../bus/pci/devices/%s", address);
	made_up_link(machine, path, target);
}

static void add_group(const struct made_up *machine, const char *bridges, const char *address,
		      const char *group, const char *type)
{
	char path[256];
	char target[256];

	snprintf(path, sizeof(path), "/sys/kernel/iommu_groups/%s/type", group);
	made_up_file(machine, path, type);
	snprintf(path, sizeof(path), DEVICES "/%s/%s/iommu_group", bridges, address);
	snprintf(target, sizeof(target), "%s/sys/kernel/iommu_groups/%s", machine->root, group);
	made_up_link(machine, path, target);
}

/* Two sockets, each with a switch that has a GPU and a NIC; and a NIC at a root of its own. */
static void open_machine(struct made_up *machine)
{
	made_up_open(machine);
	add_pci(machine, "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", "0000:18:00.0",
		"0x030200", "0x10de", "0");
	add_nic(machine, "mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0",
		"0000:19:00.0", "0");
	add_pci(machine, "pci0000:97/0000:97:01.0/0000:98:00.0/0000:99:00.0", "0000:9a:00.0",
		"0x120000", "0x1002", "1");
	add_nic(machine, "mlx5_1", "pci0000:97/0000:97:03.0", "0000:9f:00.0", "1");
	/* The graphics of a baseboard controller are no GPU. */
	add_pci(machine, "pci0000:00/0000:00:1c.0", "0000:03:00.0", "0x030000", "0x1a03", "0");
	made_up_file(machine, "/proc/driver/nvidia/gpus/0000:18:00.0/information",
		     "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 185");
}

static void test_nearest_device(void **unused)
{
	struct made_up machine;
	struct gpu_list list;

	open_machine(&machine);
	assert_true(gpu_list_open(&list, machine.root));
	assert_int_equal(list.count, 2);
	assert_string_equal(list.gpus[0].address, "0000:18:00.0");
	assert_string_equal(list.gpus[0].name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(list.gpus[0].kind, "cuda");
	assert_int_equal(list.gpus[0].numa_node, 0);
	assert_string_equal(list.gpus[0].device, "mlx5_0");
	assert_int_equal(list.gpus[0].distance, PCI_DISTANCE_SWITCH);
	assert_false(list.gpus[0].is_isolated);
	assert_string_equal(list.gpus[1].name, "1002:2330");
	assert_string_equal(list.gpus[1].kind, "rocm");
	assert_string_equal(list.gpus[1].device, "mlx5_1");
	assert_int_equal(list.gpus[1].distance, PCI_DISTANCE_ROOT);
	gpu_list_close(&list);
	made_up_close(&machine);
}

static void test_distances(void **unused)
{
	struct made_up machine;

	open_machine(&machine);
	add_nic(&machine, "mlx5_2", "pci0000:30/0000:30:01.0", "0000:31:00.0", "0");
	made_up_file(&machine, "/sys/class/infiniband/rxe0/parent", "eth0");
	assert_int_equal(gpu_distance(machine.root, "0000:18:00.0", "mlx5_0"), PCI_DISTANCE_SWITCH);
	assert_int_equal(gpu_distance(machine.root, "0000:18:00.0", "mlx5_2"), PCI_DISTANCE_NODE);
	assert_int_equal(gpu_distance(machine.root, "0000:18:00.0", "mlx5_1"),
			 PCI_DISTANCE_SOCKETS);
	assert_int_equal(gpu_distance(machine.root, "0000:9a:00.0", "mlx5_1"), PCI_DISTANCE_ROOT);
	assert_int_equal(gpu_distance(machine.root, "0000:18:00.0", "rxe0"), PCI_DISTANCE_UNKNOWN);
	assert_int_equal(gpu_distance(machine.root, "0000:77:00.0", "mlx5_0"),
			 PCI_DISTANCE_UNKNOWN);
	made_up_close(&machine);
}

static const char *const addresses[] = {"0000:9a:00.0", "0000:9b:00.0", "0000:18:00.0",
					"0000:18:00.0"};

static int count_gpus(unsigned int *count, struct error *error)
{
	*count = ARRAY_LENGTH(addresses);
	return 0;
}

static int describe_gpu(unsigned int index, struct gpu *gpu, struct error *error)
{
	gpu_set_address(gpu, addresses[index]);
	return 0;
}

static int fail_to_count(unsigned int *count, struct error *error)
{
	return error_set(error, -ENODEV, "no driver");
}

static void test_nearest_gpu(void **unused)
{
	static const struct gpu_driver driver = {.count = count_gpus, .describe = describe_gpu};
	static const struct gpu_driver none = {.count = fail_to_count};
	struct made_up machine;

	open_machine(&machine);
	add_nic(&machine, "mlx5_2", "pci0000:30/0000:30:01.0", "0000:31:00.0", "0");
	made_up_file(&machine, "/sys/class/infiniband/rxe0/parent", "eth0");
	assert_int_equal(gpu_nearest(machine.root, &driver, "mlx5_0"), 2);
	assert_int_equal(gpu_nearest(machine.root, &driver, "mlx5_1"), 0);
	assert_int_equal(gpu_nearest(machine.root, &driver, "mlx5_2"), 2);
	assert_int_equal(gpu_nearest(machine.root, &driver, "rxe0"), 0);
	assert_int_equal(gpu_nearest(machine.root, &none, "mlx5_0"), 0);
	made_up_close(&machine);
}

/* Groups of their own mean that the ports of the switch have Access Control Services. */
static void test_iommu_groups(void **unused)
{
	struct made_up machine;
	struct gpu_list list;

	open_machine(&machine);
	add_group(&machine, "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0", "0000:18:00.0",
		  "40", "DMA");
	add_group(&machine, "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0", "0000:19:00.0",
		  "41", "DMA");
	assert_true(gpu_list_open(&list, machine.root));
	assert_string_equal(list.gpus[0].iommu, "DMA");
	assert_true(list.gpus[0].is_isolated);
	assert_string_equal(list.gpus[1].iommu, "");
	gpu_list_close(&list);
	made_up_close(&machine);
}

/* The distance to the device in use, and the device that is nearer. */
static void test_facts(void **unused)
{
	struct made_up machine;

	open_machine(&machine);
	made_up_file(&machine, "/sys/class/infiniband/mlx5_1/node_type", "1: CA");
	check_section(&machine, "mlx5_1", "gpus",
		      "{'0000:18:00.0':{'kind':'cuda', 'name':'NVIDIA H100 80GB HBM3',"
		      " 'numa_node':0, 'distance':'sockets', 'nearest':'mlx5_0',"
		      " 'nearest_distance':'switch'},"
		      " '0000:9a:00.0':{'kind':'rocm', 'name':'1002:2330', 'numa_node':1,"
		      " 'distance':'root', 'nearest':'mlx5_1', 'nearest_distance':'root'}}");
	made_up_file(&machine, "/sys/class/infiniband/rxe0/parent", "eth0");
	check_section(&machine, "rxe0", "gpus", NULL);
	made_up_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest_device), cmocka_unit_test(test_distances),
		cmocka_unit_test(test_nearest_gpu),    cmocka_unit_test(test_iommu_groups),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
