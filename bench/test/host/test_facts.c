/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "bench/host/facts/part.h"
#include "bench/test/unit.d/section.h"

/* One file per line: its path and contents. */
static const char hardware[] =
	"/sys/class/infiniband/mlx5_0/node_type 1: CA\n"
	"/sys/class/infiniband/mlx5_0/node_desc n01 mlx5_0\n"
	"/sys/class/infiniband/mlx5_0/fw_ver 20.39.2048\n"
	"/sys/class/infiniband/mlx5_0/board_id MT_0000000594\n"
	"/sys/class/infiniband/mlx5_0/hca_type MT4123\n"
	"/sys/class/infiniband/mlx5_0/hw_rev 0\n"
	"/sys/class/infiniband/mlx5_0/ports/1/link_layer Ethernet\n"
	"/sys/class/infiniband/mlx5_0/ports/1/state 4: ACTIVE\n"
	"/sys/class/infiniband/mlx5_0/ports/1/phys_state 5: LinkUp\n"
	"/sys/class/infiniband/mlx5_0/ports/1/rate 100 Gb/sec (4X EDR)\n"
	"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0 IB/RoCE v1\n"
	"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1 IB/RoCE v1\n"
	"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/20 RoCE v2\n"
	"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 eth2\n"
	"/sys/class/infiniband/mlx5_0/device/current_link_speed 8.0 GT/s PCIe\n"
	"/sys/class/infiniband/mlx5_0/device/current_link_width 8\n"
	"/sys/class/infiniband/mlx5_0/device/max_link_speed 16.0 GT/s PCIe\n"
	"/sys/class/infiniband/mlx5_0/device/max_link_width 16\n"
	"/sys/class/infiniband/mlx5_0/device/numa_node 1\n"
	"/sys/class/infiniband/mlx5_0/device/local_cpulist 40-79\n"
	"/sys/class/infiniband/mlx5_0/device/iommu_group/type DMA-FQ\n"
	"/sys/module/mlx5_core/version 23.10-1.1.9\n"
	"/sys/module/mlx5_core/srcversion 0123456789ABCDEF\n"
	"/sys/class/net/eth2/mtu 9000\n"
	"/sys/class/net/eth2/operstate up\n"
	"/sys/class/net/eth2/ecn/roce_np/enable/0 0\n"
	"/sys/class/net/eth2/ecn/roce_np/enable/3 1\n"
	"/sys/class/infiniband_verbs/uverbs0/ibdev mlx4_0\n"
	"/sys/class/infiniband_verbs/uverbs1/ibdev mlx5_0\n"
	"/proc/sys/kernel/hostname n01\n"
	"/proc/sys/kernel/osrelease 6.1.0-18-amd64\n"
	"/proc/sys/kernel/version #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n"
	"/proc/sys/kernel/numa_balancing 1\n"
	"/proc/cmdline BOOT_IMAGE=/vmlinuz ro quiet isolcpus=4-7\n"
	"/sys/devices/system/cpu/online 0-79\n"
	"/sys/devices/system/cpu/isolated 4-7\n"
	"/sys/devices/system/cpu/nohz_full (null)\n"
	"/sys/devices/system/cpu/smt/active 1\n"
	"/sys/devices/system/cpu/cpufreq/policy0/scaling_driver intel_pstate\n"
	"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor performance\n"
	"/sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference balance_power\n"
	"/sys/devices/system/cpu/cpufreq/policy1/scaling_governor performance\n"
	"/sys/devices/system/cpu/cpufreq/policy10/scaling_governor powersave\n"
	"/sys/devices/system/cpu/intel_pstate/no_turbo 0\n"
	"/sys/devices/system/cpu/cpuidle/current_driver intel_idle\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state0/name POLL\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state0/latency 0\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state1/name C1E\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state1/latency 10\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state1/disable 0\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state2/name C6\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state2/latency 170\n"
	"/sys/devices/system/cpu/cpu0/cpuidle/state2/disable 1\n"
	"/sys/devices/system/node/online 0-1\n"
	"/sys/devices/system/node/node0/distance 10 21\n"
	"/sys/devices/system/node/node1/distance 21 10\n"
	"/sys/devices/system/clocksource/clocksource0/current_clocksource tsc\n"
	"/sys/devices/system/clocksource/clocksource0/available_clocksource tsc hpet acpi_pm \n"
	"/sys/kernel/mm/transparent_hugepage/enabled always [madvise] never\n"
	"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages 0\n"
	"/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages 0\n"
	"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages 512\n"
	"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 500\n"
	"/proc/meminfo MemTotal:       263780000 kB|Hugepagesize:       2048 kB|Hugetlb: 1 kB\n"
	"/sys/module/mlx5_ib/version 23.10-1.1.8\n"
	"/sys/fs/cgroup/cgroup.controllers cpuset cpu\n"
	"/sys/fs/cgroup/slurm/cpu.max 200000 100000\n"
	"/sys/fs/cgroup/slurm/job_7/cpu.max max 100000\n"
	"/sys/fs/cgroup/slurm/job_7/cpuset.cpus.effective 0-39\n"
	"/sys/fs/cgroup/slurm/job_7/memory.max max\n"
	"/proc/cpuinfo "
	"processor\t: 0|"
	"vendor_id\t: GenuineIntel|"
	"cpu family\t: 6|"
	"model\t\t: 106|"
	"model name\t: Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz|"
	"stepping\t: 6|"
	"microcode\t: 0xd0003b9|"
	"cpu MHz\t\t: 800.000|"
	"flags\t\t: fpu tsc constant_tsc nonstop_tsc avx512f|"
	"|"
	"processor\t: 1|"
	"vendor_id\t: Another|"
	"microcode\t: 0x1\n"
	"/proc/self/limits "
	"Limit                     Soft Limit           Hard Limit           Units     |"
	"Max cpu time              unlimited            unlimited            seconds   |"
	"Max open files            1024                 524288               files     |"
	"Max locked memory         67108864             unlimited            bytes     \n"
	"/proc/self/maps "
	"7f1 r--p 00000000 fe:01 1 /usr/lib/x86_64-linux-gnu/libc.so.6|"
	"7f2 r--p 00000000 fe:01 2 /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0|"
	"7f3 r-xp 00001000 fe:01 2 /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0\n"
	"/proc/self/status Name:\tverbmark|CapEff:\t0000000000000000|Cpus_allowed_list:\t0-39\n"
	"/proc/self/cgroup 1:name=systemd:/other|0::/slurm/job_7\n"
	"/sys/fs/cgroup/slurm/cpu.stat usage_usec 1|nr_throttled 30\n"
	"/sys/fs/cgroup/slurm/job_7/cpu.stat usage_usec 1|nr_throttled 4|throttled_usec 5\n"
	"/dev/infiniband/uverbs1\n"
	"/sys/class/dmi/id/sys_vendor Dell Inc.\n"
	"/sys/class/dmi/id/product_name PowerEdge R750\n";

static const char wanted_of_hardware[] =
	"{'host':'n01',"
	" 'device':{'name':'mlx5_0', 'node_type':'CA', 'fw_ver':'20.39.2048',"
	"  'board_id':'MT_0000000594', 'hca_type':'MT4123', 'hw_rev':'0', 'kind':'hardware', 'software':false,"
	"  'driver':'mlx5_core', 'driver_version':'23.10-1.1.9',"
	"  'driver_srcversion':'0123456789ABCDEF', 'rdma_driver':'mlx5_ib',"
	"  'rdma_driver_version':'23.10-1.1.8', 'virtual_function':false},"
	" 'port':{'number':1, 'link_layer':'Ethernet', 'state':'ACTIVE',"
	"  'phys_state':'LinkUp', 'rate':'100 Gb/sec (4X EDR)', 'gid_types':['IB/RoCE v1',"
	"  'RoCE v2']},"
	" 'netdev':{'name':'eth2', 'mtu':9000, 'operstate':'up', 'driver':'mlx5_core'},"
	" 'flow':{'ecn_receiver':[3]},"
	" 'pcie':{'current_link_speed':'8.0 GT/s PCIe', 'current_link_width':8,"
	"  'max_link_speed':'16.0 GT/s PCIe', 'max_link_width':16, 'numa_node':1,"
	"  'local_cpulist':'40-79'},"
	" 'iommu':{'type':'DMA-FQ'},"
	" 'access':{'uverbs':{'path':'/dev/infiniband/uverbs1', 'opens':true},"
	"  'rdma_cm':{'path':'/dev/infiniband/rdma_cm', 'opens':false, 'errno':2}},"
	" 'rdma_core':{'library':'libibverbs.so.1.14.44.0', 'version':'44.0'},"
	" 'cpu':{'model':'Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz',"
	"  'vendor':'GenuineIntel', 'family':'6', 'model_number':'106', 'stepping':'6',"
	"  'microcode':'0xd0003b9', 'online':'0-79', 'count':80, 'smt':true,"
	"  'isolated':'4-7', 'allowed':'0-39'},"
	" 'frequency':{'driver':'intel_pstate', 'governor':'performance, powersave',"
	"  'energy_preference':'balance_power', 'turbo':true},"
	" 'idle':{'driver':'intel_idle', 'cpu_dma_latency_us':55, 'deepest':{'name':'C1E',"
	"  'latency_us':10}},"
	" 'numa':{'nodes':2, 'distances':[[10,21],[21,10]], 'balancing':1},"
	" 'kernel':{'release':'6.1.0-18-amd64',"
	"  'version':'#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1',"
	"  'cmdline':'BOOT_IMAGE=/vmlinuz ro quiet isolcpus=4-7'},"
	" 'clock':{'source':'tsc', 'available':'tsc hpet acpi_pm', 'constant_tsc':true,"
	"  'nonstop_tsc':true},"
	" 'limits':{'memlock':67108864, 'nofile':1024, 'memlock_exempt':false},"
	" 'hugepages':{'transparent':'madvise', 'default_kib':2048, 'sizes':[{'kib':2048, 'total':512,"
	"  'free':500}, {'kib':1048576, 'total':0, 'free':0}]},"
	" 'cgroup':{'cpus':'0-39', 'memory_max':'max', 'cpu_max':'200000 100000',"
	"  'nr_throttled':4},"
	" 'virtualization':{'hypervisor':false, 'vendor':'Dell Inc.',"
	"  'product':'PowerEdge R750'}}";

static void make_hardware(struct made_up *machine)
{
	const int32_t latency_us = 55;

	made_up_open(machine);
	made_up_files(machine, hardware, NULL, 0);
	made_up_bytes(machine, "/dev/cpu_dma_latency", &latency_us, sizeof(latency_us));
	made_up_link(machine, "/sys/class/infiniband/mlx5_0/device/driver",
		     "../../../../bus/pci/drivers/mlx5_core");
	made_up_link(machine, "/sys/class/net/eth2/device/driver", "/x/y/mlx5_core");
}

static void test_hardware(void **unused)
{
	struct made_up machine;
	json_t *facts;

	unsetenv("SOFTROCE_ACCEL");
	make_hardware(&machine);
	facts = facts_gather(machine.root, "mlx5_0", 1);
	/* These depend on the build. */
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(facts, "tool"), "version")),
		VERBMARK_VERSION);
	assert_true(json_is_string(json_object_get(facts, "libc")));
	json_object_del(facts, "tool");
	json_object_del(facts, "libc");
	assert_json(facts, wanted_of_hardware);
	json_decref(facts);
	made_up_close(&machine);
}

/* Facts without a source are omitted. */
static void test_empty_machine(void **unused)
{
	struct made_up machine;
	json_t *facts;

	made_up_open(&machine);
	setenv("SOFTROCE_ACCEL", "kvm", 1);
	facts = facts_gather(machine.root, "mlx5_0", 1);
	unsetenv("SOFTROCE_ACCEL");
	json_object_del(facts, "tool");
	json_object_del(facts, "libc");
	assert_json(facts, "{'device':{'name':'mlx5_0', 'kind':'other', 'software':true},"
			   " 'port':{'number':1}, 'environment':{'softroce_accel':'kvm'}}");
	json_decref(facts);
	facts = facts_noise(machine.root);
	assert_json(facts, "{}");
	json_decref(facts);
	made_up_close(&machine);
}

/* rxe1 is below the card that it uses, as with older kernels. */
static void test_software_devices(void **unused)
{
	static const char files[] = "/sys/class/infiniband/rxe0/parent ve0\n"
				    "/sys/class/infiniband/rxe0/node_type 1: CA\n"
				    "/sys/class/infiniband/siw0/node_type 4: RNIC\n"
				    "/sys/class/infiniband/siw0/node_desc Software iWARP stack\n"
				    "/sys/class/infiniband/siw0/ports/1/link_layer Ethernet\n"
				    "/sys/class/infiniband/rxe1/parent eth2\n"
				    "/sys/class/infiniband/rxe1/device/current_link_width 16\n"
				    "/sys/class/infiniband/rxe1/device/iommu_group/type DMA\n"
				    "/sys/class/net/ve0/mtu 4200\n";
	struct made_up machine;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	made_up_link(&machine, "/sys/class/infiniband/rxe1/device/driver", "/x/mlx5_core");
	check_section(
		&machine, "rxe0", "device",
		"{'name':'rxe0', 'node_type':'CA', 'software':true, 'kind':'rxe', 'driver':'rdma_rxe'}");
	check_section(&machine, "rxe0", "access",
		      "{'rdma_cm':{'path':'/dev/infiniband/rdma_cm', 'opens':false, 'errno':2}}");
	check_section(&machine, "rxe0", "netdev", "{'name':'ve0', 'mtu':4200}");
	check_section(
		&machine, "siw0", "device",
		"{'name':'siw0', 'node_type':'RNIC', 'software':true, 'kind':'siw', 'driver':'siw'}");
	check_section(&machine, "siw0", "port", "{'number':1, 'link_layer':'iWARP'}");
	check_section(&machine, "siw0", "netdev", NULL);
	check_section(&machine, "rxe1", "device",
		      "{'name':'rxe1', 'software':true, 'kind':'rxe', 'driver':'rdma_rxe'}");
	check_section(&machine, "rxe1", "pcie", NULL);
	check_section(&machine, "rxe1", "iommu", NULL);
	made_up_close(&machine);
}

/* With IPoIB, no GID names an interface. Also tests a virtual function. */
static void test_infiniband(void **unused)
{
	static const char files[] = "/sys/class/infiniband/mlx5_0/device/physfn/vendor 0x15b3\n"
				    "/sys/class/infiniband/mlx5_0/device/net/ib0/dev_port 1\n"
				    "/sys/class/infiniband/mlx5_0/device/net/ib1/dev_port 0\n"
				    "/sys/class/net/ib0/mtu 2044\n"
				    "/sys/class/net/ib1/mtu 4092\n";
	struct made_up machine;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	check_section(&machine, "mlx5_0", "netdev", "{'name':'ib1', 'mtu':4092}");
	check_section(
		&machine, "mlx5_0", "device",
		"{'name':'mlx5_0', 'software':false, 'kind':'hardware', 'virtual_function':true}");
	made_up_close(&machine);
	/* In a guest, a function does not show its kind. */
	made_up_open(&machine);
	made_up_file(&machine, "/sys/class/infiniband/mlx5_0/device/vendor", "0x15b3");
	made_up_file(&machine, "/proc/cpuinfo", "flags\t\t: fpu tsc hypervisor");
	check_section(&machine, "mlx5_0", "device",
		      "{'name':'mlx5_0', 'software':false, 'kind':'hardware'}");
	/* On arm64, /proc/cpuinfo does not show if the machine is a guest. */
	made_up_file(&machine, "/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd");
	check_section(&machine, "mlx5_0", "device",
		      "{'name':'mlx5_0', 'software':false, 'kind':'hardware'}");
	made_up_file(&machine, "/proc/cpuinfo", "flags\t\t: fpu tsc");
	check_section(
		&machine, "mlx5_0", "device",
		"{'name':'mlx5_0', 'software':false, 'kind':'hardware', 'virtual_function':false}");
	made_up_close(&machine);
}

static void test_cpus_of_other_architectures(void **unused)
{
	struct made_up machine;

	made_up_open(&machine);
	made_up_file(&machine, "/proc/cpuinfo",
		     "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\n"
		     "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\nCPU revision\t: 1");
	check_section(&machine, NULL, "cpu",
		      "{'implementer':'0x41', 'part':'0xd0c', 'revision':'1'}");
	check_section(&machine, NULL, "virtualization", NULL);
	made_up_file(&machine, "/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec");
	check_section(&machine, NULL, "cpu", "{'model':'POWER9, altivec'}");
	made_up_file(&machine, "/proc/cpuinfo", "flags\t: fpu hypervisor tsc_known_freq");
	check_section(&machine, NULL, "virtualization", "{'hypervisor':true}");
	check_section(&machine, NULL, "clock", NULL);
	made_up_close(&machine);
}

static void test_locked_memory(void **unused)
{
	static const struct {
		const char *capabilities;
		const char *uid_map;
		const char *wanted;
	} rows[] = {
		{"0000000000004000", "         0          0 4294967295", "true" },
		{"000001ffffffffff", "0 0 4294967295",                   "true" },
		{"000001ffffffbfff", "0 0 4294967295",                   "false"},
 /* Root in a user namespace has no privileges of the kernel. */
		{"000001ffffffffff", "0 1000 1",                         "false"},
		{"000001ffffffffff", "0 0 65536",                        "false"},
	};
	struct made_up machine;

	made_up_open(&machine);
	made_up_file(&machine, "/proc/self/limits",
		     "Max locked memory         unlimited            unlimited            bytes");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char text[128];

		snprintf(text, sizeof(text), "CapEff:\t%s", rows[i].capabilities);
		made_up_file(&machine, "/proc/self/status", text);
		made_up_file(&machine, "/proc/self/uid_map", rows[i].uid_map);
		snprintf(text, sizeof(text), "{'memlock':'unlimited', 'memlock_exempt':%s}",
			 rows[i].wanted);
		check_section(&machine, NULL, "limits", text);
	}
	made_up_close(&machine);
}

static void test_no_device(void **unused)
{
	struct made_up machine;

	made_up_open(&machine);
	check_section(&machine, NULL, "device", NULL);
	check_section(&machine, NULL, "access", NULL);
	check_section(&machine, NULL, "soft_roce", "{'module':'unknown'}");
	made_up_file(&machine, "/sys/class/net/lo/operstate", "up");
	made_up_file(&machine, "/sys/class/net/br-1/operstate", "up");
	made_up_folder(&machine, "/sys/class/net/br-1/bridge");
	made_up_file(&machine, "/sys/class/net/eth0/operstate", "down");
	made_up_file(&machine, "/sys/class/net/eth10/operstate", "up");
	made_up_file(&machine, "/sys/class/net/eth9/operstate", "up");
	made_up_file(&machine, "/proc/sys/kernel/osrelease", "6.1");
	made_up_file(&machine, "/lib/modules/6.1/modules.dep", "kernel/a/rdma_rxe2.ko: x");
	check_section(&machine, NULL, "soft_roce", "{'module':'absent', 'netdev':'eth9'}");
	made_up_file(&machine, "/lib/modules/6.1/modules.dep",
		     "kernel/x.ko:\nkernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: kernel/x.ko");
	check_section(&machine, NULL, "soft_roce", "{'module':'available', 'netdev':'eth9'}");
	made_up_folder(&machine, "/sys/module/rdma_rxe");
	made_up_link(&machine, "/sys/class/net/eth9/device/driver", "/x/virtio_net");
	made_up_link(&machine, "/sys/class/net/eth10/device/driver", "/x/mlx5_core");
	check_section(&machine, NULL, "soft_roce",
		      "{'module':'loaded', 'netdev':'eth9', 'card':{'netdev':'eth10',"
		      " 'driver':'mlx5_core', 'module':'mlx5_ib'}}");
	made_up_folder(&machine, "/sys/module/mlx5_ib");
	check_section(&machine, NULL, "soft_roce", "{'module':'loaded', 'netdev':'eth9'}");
	made_up_close(&machine);
}

/* A driver some of whose cards support RDMA; and a card listed after a bridge. */
static void test_cards(void **unused)
{
	struct made_up machine;

	made_up_open(&machine);
	made_up_file(&machine, "/sys/class/net/docker0/operstate", "up");
	made_up_folder(&machine, "/sys/class/net/docker0/bridge");
	made_up_file(&machine, "/sys/class/net/ens1/operstate", "up");
	made_up_file(&machine, "/sys/class/net/ens3/operstate", "up");
	made_up_link(&machine, "/sys/class/net/ens3/device/driver", "/x/i40e");
	made_up_folder(&machine, "/sys/module/rdma_rxe");
	made_up_folder(&machine, "/sys/bus/auxiliary/devices/ice.roce.0");
	made_up_folder(&machine, "/sys/bus/auxiliary/devices/i40e.ptp.0");
	check_section(&machine, NULL, "soft_roce", "{'module':'loaded', 'netdev':'ens3'}");
	made_up_folder(&machine, "/sys/bus/auxiliary/devices/i40e.iwarp.0");
	check_section(&machine, NULL, "soft_roce",
		      "{'module':'loaded', 'netdev':'ens3', 'card':{'netdev':'ens3',"
		      " 'driver':'i40e', 'module':'irdma'}}");
	made_up_close(&machine);
}

static void test_noise(void **unused)
{
	static const char files[] =
		"/proc/stat cpu  100 1 20 3000 4 5 6 70 800 9|cpu0 1 1 1 1 1 1 1 1 1 1\n"
		"/proc/loadavg 5.25 2.5 1.00 7/114 15864\n"
		"/proc/self/cgroup 0::/a/b\n"
		"/sys/fs/cgroup/cgroup.controllers cpu\n"
		"/sys/fs/cgroup/a/cpu.stat nr_periods 5|nr_throttled 30\n"
		"/sys/fs/cgroup/a/b/cpu.stat nr_throttled 4\n"
		"/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count 2\n"
		"/sys/devices/system/cpu/cpu11/thermal_throttle/core_throttle_count 5\n";
	struct made_up machine;
	json_t *noise;

	made_up_open(&machine);
	made_up_files(&machine, files, NULL, 0);
	noise = facts_noise(machine.root);
	/* The time of guests, 800 and 9, is included in the first two figures. */
	assert_json(noise, "{'steal_ticks':70, 'total_ticks':3206, 'loadavg':[5.25, 2.5, 1.0],"
			   " 'nr_throttled':34, 'core_throttles':7}");
	json_decref(noise);
	made_up_close(&machine);
}

/* Whatever the files contain, the facts are valid JSON that fits into a message. */
static void test_nonsense(void **unused)
{
	static char bytes[100000];
	struct made_up machine;

	for (unsigned int kind = 0; kind < 4; kind++) {
		json_t *facts;
		char *text;

		make_hardware(&machine);
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)(kind == 0   ? 'x'
					  : kind == 1 ? '\0'
					  : kind == 2 ? 0xff
						      : (i * 7919) >> 3);
		made_up_files(&machine, hardware, bytes, sizeof(bytes));
		facts = facts_gather(machine.root, "mlx5_0", 1);
		text = json_dumps(facts, 0);
		assert_non_null(text);
		assert_true(strlen(text) < 100000);
		free(text);
		json_decref(facts);
		facts = facts_noise(machine.root);
		assert_non_null(facts);
		json_decref(facts);
		made_up_close(&machine);
	}
}

/* Empty files. */
static void test_empty_files(void **unused)
{
	struct made_up machine;
	json_t *facts;

	make_hardware(&machine);
	made_up_files(&machine, hardware, "", 0);
	made_up_bytes(&machine, "/dev/cpu_dma_latency", "", 0);
	facts = facts_gather(machine.root, "mlx5_0", 1);
	assert_json(json_object_get(facts, "frequency"), NULL);
	assert_json(json_object_get(facts, "numa"), NULL);
	assert_json(json_object_get(facts, "clock"), NULL);
	assert_json(json_object_get(facts, "idle"), NULL);
	assert_json(json_object_get(facts, "pcie"), NULL);
	assert_json(json_object_get(facts, "host"), NULL);
	json_decref(facts);
	made_up_close(&machine);
}

/* The kernel's answer to 'dcb pfc show', with priorities 3 and 4 enabled. */
struct __attribute__((packed, aligned(8))) answer {
	struct nlmsghdr head;
	struct dcbmsg dcb;
	struct rtattr name;
	char text[8];
	struct rtattr ieee;
	struct rtattr maxrate;
	uint64_t rate;
	struct rtattr pfc;
	struct ieee_pfc value;
};

static void make_answer(struct answer *answer)
{
	*answer = (struct answer){
		.head = {.nlmsg_len = sizeof(*answer),                        .nlmsg_type = RTM_GETDCB   },
		.name = {.rta_len = sizeof(struct rtattr) + 5,                .rta_type = DCB_ATTR_IFNAME},
		.text = "eth2",
		.ieee = {.rta_len = sizeof(*answer) - offsetof(struct answer, ieee),
			 .rta_type = DCB_ATTR_IEEE | NLA_F_NESTED},
		.maxrate = {.rta_len = sizeof(struct rtattr) + sizeof(uint64_t),
                         .rta_type = DCB_ATTR_IEEE_MAXRATE                           },
		.pfc = {.rta_len = sizeof(struct rtattr) + sizeof(struct ieee_pfc),
			 .rta_type = DCB_ATTR_IEEE_PFC},
		.value = {.pfc_cap = 8,						   .pfc_en = 0x18									 },
	};
}

static void test_flow_control(void **unused)
{
	struct answer answer;
	unsigned int mask = 0;

	make_answer(&answer);
	assert_true(facts_take_pfc(&answer, sizeof(answer), &mask));
	assert_int_equal(mask, 0x18);
	/* Truncated answers are rejected without reading beyond the end. */
	for (size_t length = 0; length < sizeof(answer); length++) {
		char *cut = malloc(length + 1);

		assert_non_null(cut);
		memcpy(cut, &answer, length);
		assert_false(facts_take_pfc(cut, length, &mask));
		if (length >= sizeof(struct nlmsghdr)) {
			((struct nlmsghdr *)(void *)cut)->nlmsg_len = (uint32_t)length;
			assert_false(facts_take_pfc(cut, length, &mask));
		}
		free(cut);
	}
	answer.head.nlmsg_type = NLMSG_ERROR;
	assert_false(facts_take_pfc(&answer, sizeof(answer), &mask));
	make_answer(&answer);
	answer.pfc.rta_len = sizeof(struct rtattr) + 8;
	assert_false(facts_take_pfc(&answer, sizeof(answer), &mask));
	make_answer(&answer);
	answer.pfc.rta_type = DCB_ATTR_IEEE_ETS;
	assert_false(facts_take_pfc(&answer, sizeof(answer), &mask));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hardware),
		cmocka_unit_test(test_empty_machine),
		cmocka_unit_test(test_software_devices),
		cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_cpus_of_other_architectures),
		cmocka_unit_test(test_locked_memory),
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_cards),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_empty_files),
		cmocka_unit_test(test_flow_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
