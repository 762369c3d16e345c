/* SPDX-License-Identifier: MIT */
#include "bench/test/unit.d/advise.h"

/* A rule, facts that cause its finding, and similar facts that do not. */
struct row {
	const char *code;
	bool spoils;
	const char *what;
	const char *mend; /* part of the text */
	struct known known;
	struct known other; /* no finding with that code */
};

// clang-format off
static const struct row of_hosts[] = {
	{"governor", true,
	 "CPU governor is powersave",
	 "cpupower frequency-set -g performance",
	 {.facts = "{'frequency':{'governor':'powersave'}}"},
	 {.facts = "{'frequency':{'governor':'performance', 'driver':'intel_pstate'}}"}},
	{"governor", true,
	 "CPU governor is performance, powersave",
	 "cpupower frequency-set",
	 {.facts = "{'frequency':{'governor':'performance, powersave'}}"},
	 {.facts = "{'frequency':{'governor':'userspace'}}"}},
	{"clock", true,
	 "clock source is hpet",
	 "tsc=reliable clocksource=tsc",
	 {.facts = "{'clock':{'source':'hpet', 'available':'hpet acpi_pm'}}"},
	 {.facts = "{'clock':{'source':'tsc', 'available':'tsc hpet acpi_pm'}}"}},
	{"clock", true,
	 "clock source is acpi_pm",
	 "echo tsc > /sys/devices/system/clocksource",
	 {.facts = "{'clock':{'source':'acpi_pm', 'available':'tsc hpet acpi_pm'}}"},
	 {.facts = "{'clock':{'source':'arch_sys_counter'}}"}},
	/* A clock source whose alternative has "tsc" only as part of its name. */
	{"clock", true,
	 "clock source is hyperv_clocksource_msr",
	 "clocksource=tsc on the kernel command line",
	 {.facts = "{'clock':{'source':'hyperv_clocksource_msr',"
		   " 'available':'hyperv_clocksource_tsc_page hyperv_clocksource_msr'}}"},
	 {.facts = "{'clock':{'source':'tsc'}}"}},
	{"clock", false,
	 "clock source is kvm-clock, which programs cannot read as a plain counter",
	 "clocksource=tsc",
	 {.facts = "{'clock':{'source':'kvm-clock', 'available':'kvm-clock tsc'}}"},
	 {.facts = "{'clock':{'available':'kvm-clock tsc'}}"}},
	{"memory-balancing", true,
	 "automatic NUMA balancing is on (2 nodes)",
	 "sysctl kernel.numa_balancing=0",
	 {.facts = "{'numa':{'nodes':2, 'balancing':1}}"},
	 {.facts = "{'numa':{'nodes':1, 'balancing':1}}"}},
	{"memory-balancing", true,
	 "automatic NUMA balancing is on (8 nodes)",
	 "sysctl",
	 {.facts = "{'numa':{'nodes':8, 'balancing':2}}"},
	 {.facts = "{'numa':{'nodes':8, 'balancing':0}}"}},
	{"memlock", true,
	 "memlock is 64 KiB",
	 "/etc/security/limits.d",
	 {.facts = "{'limits':{'memlock':65536, 'memlock_exempt':false}}"},
	 {.facts = "{'limits':{'memlock':65536, 'memlock_exempt':true}}"}},
	{"memlock", true,
	 "memlock is 8 MiB",
	 "LimitMEMLOCK=infinity",
	 {.facts = "{'limits':{'memlock':8388608}}"},
	 {.facts = "{'limits':{'memlock':67108864}}"}},
	{"memlock", true,
	 "memlock is 64 KiB",
	 "ulimit -l unlimited",
	 {.facts = "{'device':{'kind':'rxe'}, 'limits':{'memlock':65536}}"},
	 /* soft0 locks no memory. */
	 {.facts = "{'device':{'kind':'soft'}, 'limits':{'memlock':65536}}"}},
	{"memlock", true,
	 "memlock is 0 KiB",
	 "ulimit -l unlimited",
	 {.facts = "{'limits':{'memlock':0}}"},
	 {.facts = "{'limits':{'memlock':'unlimited', 'memlock_exempt':false}}"}},
	{"turbo", false,
	 "CPU turbo is on",
	 "echo 0 > /sys/devices/system/cpu/cpufreq/boost",
	 {.facts = "{'frequency':{'turbo':true, 'driver':'acpi-cpufreq'}}"},
	 {.facts = "{'frequency':{'turbo':false, 'driver':'acpi-cpufreq'}}"}},
	{"turbo", false,
	 "CPU turbo is on",
	 "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
	 {.facts = "{'frequency':{'turbo':true, 'driver':'intel_pstate'}}"},
	 {.facts = "{'frequency':{'driver':'intel_pstate'}}"}},
	{"turbo", false,
	 "CPU turbo is on",
	 "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
	 {.facts = "{'frequency':{'turbo':true, 'driver':'intel_cpufreq'}}"},
	 {.facts = "{'frequency':{'turbo':false, 'driver':'intel_cpufreq'}}"}},
	{"idle-states", false,
	 "leaving idle state C6 takes 170 us",
	 "cpupower idle-set -D 10",
	 {.facts = "{'idle':{'deepest':{'name':'C6', 'latency_us':170},"
		   " 'cpu_dma_latency_us':2000000000}}"},
	 {.facts = "{'idle':{'deepest':{'name':'C6', 'latency_us':170}, 'cpu_dma_latency_us':0}}"}},
	{"idle-states", false,
	 "leaving idle state C1E takes 11 us, unless a process prevents it through "
	 "/dev/cpu_dma_latency, which is not readable",
	 "cpupower",
	 {.facts = "{'idle':{'deepest':{'name':'C1E', 'latency_us':11}}}"},
	 {.facts = "{'idle':{'deepest':{'name':'C1E', 'latency_us':10}}}"}},
	{"smt", false,
	 "SMT is on: two CPUs share each core",
	 "smt/control",
	 {.facts = "{'cpu':{'smt':true}}"},
	 {.facts = "{'cpu':{'smt':false}}"}},
	/* Only pages of the size that --hugepages uses count. */
	{"hugepages", false,
	 "no huge page of 2048 KiB is free",
	 "sysctl vm.nr_hugepages=256, and --hugepages",
	 {.facts = "{'device':{'software':false}, 'hugepages':{'default_kib':2048,"
		   " 'sizes':[{'kib':2048, 'free':0}, {'kib':1048576, 'free':1}]}}"},
	 {.facts = "{'device':{'software':false}, 'hugepages':{'default_kib':2048,"
		   " 'sizes':[{'kib':2048, 'free':1}, {'kib':1048576, 'free':0}]}}"}},
	{"hugepages", false,
	 "no huge page of 1048576 KiB is free",
	 "sysctl vm.nr_hugepages=1, and",
	 {.facts = "{'device':{'software':false}, 'hugepages':{'default_kib':1048576}}"},
	 {.facts = "{'device':{'software':true}, 'hugepages':{'default_kib':1048576}}"}},
	{"hugepages", false,
	 "no huge page of 524288 KiB is free",
	 "sysctl vm.nr_hugepages=1, and",
	 {.facts = "{'device':{'software':false}, 'hugepages':{'default_kib':524288}}"},
	 {.facts = "{'device':{'software':false}, 'hugepages':{'sizes':[{'kib':2048}]}}"}},
	{"hugepages", false,
	 "no huge page of 64 KiB is free",
	 "sysctl vm.nr_hugepages=8192, and",
	 {.facts = "{'device':{'software':false}, 'hugepages':{'default_kib':64}}"},
	 {.facts = "{'device':{'software':false},"
		   " 'hugepages':{'default_kib':9223372036854775807}}"}},
	{"cpu-quota", false,
	 "the control group may use 150000 us of CPU time per 100000 us",
	 "CPUQuota",
	 {.facts = "{'cgroup':{'cpu_max':'150000 100000'}}"},
	 {.facts = "{'cgroup':{'cpu_max':'200000 100000'}}"}},
	{"cpu-quota", false,
	 "the control group may use 5000 us of CPU time per 100000 us",
	 "CPUQuota",
	 {.facts = "{'cgroup':{'cpu_max':'5000 100000'}}"},
	 {.facts = "{'cgroup':{'cpu_max':'max 100000'}}"}},
	{"load", false,
	 "load average 2.0 on 2 CPUs",
	 "top",
	 {.facts = "{'cpu':{'count':2}}", .before = "{'loadavg':[2.04, 1.0, 1.0]}"},
	 {.facts = "{'cpu':{'count':2}}", .before = "{'loadavg':[1.99, 9.0, 9.0]}"}},
	{"emulation", false,
	 "emulated machine (tcg)",
	 "measure on hardware",
	 {.facts = "{'environment':{'softroce_accel':'tcg'}}"},
	 {.facts = "{'environment':{'softroce_accel':'kvm'}}"}},
	{"emulation", false,
	 "emulated machine whose clock counts instructions",
	 "measure on hardware",
	 {.facts = "{'environment':{'softroce_accel':'icount'}}"},
	 {.facts = "{'environment':{}}"}},
};
// clang-format on

#define CARD "'device':{'name':'mlx5_0', 'node_type':'CA', 'software':false}"

// clang-format off
static const struct row of_devices[] = {
	{"no-device", true,
	 "no RDMA device",
	 "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev ens3",
	 {.facts = "{'soft_roce':{'module':'available', 'netdev':'ens3'}}"},
	 {.facts = "{" CARD "}"}},
	{"no-device", true,
	 "no RDMA device",
	 "on the container's host",
	 {.facts = "{'soft_roce':{'module':'unknown'}}"},
	 {.facts = "{'soft_roce':{'module':'unknown'}, " CARD "}"}},
	{"no-device", true,
	 "no RDMA device, and this kernel has no module rdma_rxe",
	 "then modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0",
	 {.facts = "{'soft_roce':{'module':'absent'}}"},
	 {.facts = "{}"}},
	{"module", true,
	 "eth2 is a card with driver mlx5_core, but its RDMA module mlx5_ib is not loaded",
	 "modprobe mlx5_ib",
	 {.facts = "{'soft_roce':{'module':'absent', 'card':{'netdev':'eth2',"
		   " 'driver':'mlx5_core', 'module':'mlx5_ib'}}}"},
	 {.facts = "{'soft_roce':{'module':'absent'}}"}},
	{"device", true,
	 "mlx5_0: libibverbs does not list it",
	 "ibverbs-providers",
	 {.facts = "{'device':{'name':'mlx5_0', 'fault':'libibverbs does not list it'}}"},
	 {.facts = "{" CARD "}"}},
	{"rights", true,
	 "cannot open /dev/infiniband/uverbs1: Permission denied",
	 "chmod a+rw /dev/infiniband/uverbs1",
	 {.facts = "{" CARD ", 'access':{'uverbs':{'path':'/dev/infiniband/uverbs1',"
		   " 'opens':false, 'errno':13}}}"},
	 {.facts = "{" CARD ", 'access':{'uverbs':{'path':'/dev/infiniband/uverbs1',"
		   " 'opens':true}}}"}},
	{"rights", true,
	 "cannot open /dev/infiniband/rdma_cm: No such file or directory",
	 "modprobe rdma_ucm",
	 {.facts = "{'access':{'rdma_cm':{'path':'/dev/infiniband/rdma_cm', 'opens':false,"
		   " 'errno':2}}}"},
	 {.facts = "{'access':{'rdma_cm':{'path':'/dev/infiniband/rdma_cm', 'opens':true}}}"}},
	{"rights", true,
	 "mlx5_0 has no device node in /dev/infiniband",
	 "modprobe ib_uverbs",
	 {.facts = "{" CARD ", 'access':{}}"},
	 /* A device that the kernel does not know. */
	 {.facts = "{'device':{'name':'soft0', 'software':true}, 'access':{}}"}},
	{"port", true,
	 "mlx5_0/2 is DOWN (Polling)",
	 "ip link set dev eth2 up",
	 {.facts = "{" CARD ", 'port':{'number':2, 'state':'DOWN', 'phys_state':'Polling',"
		   " 'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'}}"},
	 {.facts = "{" CARD ", 'port':{'number':2, 'state':'ACTIVE'}}"}},
	{"port", true,
	 "mlx5_0/1 is INIT (LinkUp)",
	 "systemctl start opensm",
	 {.facts = "{" CARD ", 'port':{'number':1, 'state':'INIT', 'phys_state':'LinkUp',"
		   " 'link_layer':'InfiniBand'}}"},
	 {.facts = "{" CARD ", 'port':{'number':1}}"}},
	{"port", true,
	 "mlx5_0/1 is DOWN (Polling)",
	 "ibportstate",
	 {.facts = "{" CARD ", 'port':{'number':1, 'state':'DOWN', 'phys_state':'Polling',"
		   " 'link_layer':'InfiniBand'}}"},
	 {.facts = "{" CARD ", 'port':{'number':1, 'link_layer':'InfiniBand'}}"}},
	{"port", true,
	 "hfi1_0/1 is INIT (LinkUp)",
	 "systemctl start opafm",
	 {.facts = "{'device':{'name':'hfi1_0', 'driver':'hfi1'}, 'port':{'number':1,"
		   " 'state':'INIT', 'phys_state':'LinkUp', 'link_layer':'InfiniBand'}}"},
	 {.facts = "{'device':{'name':'hfi1_0', 'driver':'hfi1'}, 'port':{'state':'ACTIVE'}}"}},
	{"mtu", false,
	 "MTU 1024 on mlx5_0/1, which supports 4096",
	 "ip link set dev eth2 mtu 4200",
	 {.facts = "{" CARD ", 'port':{'number':1, 'active_mtu':1024, 'max_mtu':4096},"
		   " 'netdev':{'name':'eth2'}}"},
	 {.facts = "{" CARD ", 'port':{'number':1, 'active_mtu':4096, 'max_mtu':4096}}"}},
	{"mtu", false,
	 "MTU 1024 on mlx5_0/1, which supports 4096",
	 "ip link set",
	 {.facts = "{" CARD ", 'port':{'active_mtu':1024, 'max_mtu':4096,"
		   " 'link_layer':'Ethernet'}}"},
	 {.facts = "{" CARD ", 'port':{'active_mtu':1024, 'max_mtu':4096,"
		   " 'link_layer':'iWARP'}}"}},
	{"mtu", false,
	 "MTU 2048 on mlx5_0/1, which supports 4096",
	 "partitions.conf",
	 {.facts = "{" CARD ", 'port':{'number':1, 'active_mtu':2048, 'max_mtu':4096,"
		   " 'link_layer':'InfiniBand'}}"},
	 {.facts = "{" CARD ", 'port':{'number':1, 'active_mtu':0, 'max_mtu':4096}}"}},
	{"gid-type", false,
	 "mlx5_0/1 has no RoCE v2 GID",
	 "ip address add",
	 {.facts = "{" CARD ", 'port':{'number':1, 'link_layer':'Ethernet',"
		   " 'gid_types':['IB/RoCE v1']}}"},
	 {.facts = "{" CARD ", 'port':{'number':1, 'link_layer':'Ethernet',"
		   " 'gid_types':['IB/RoCE v1', 'RoCE v2']}}"}},
	{"gid-type", false,
	 "mlx5_0/1 has no RoCE v2 GID",
	 "ip address add",
	 {.facts = "{" CARD ", 'port':{'link_layer':'Ethernet', 'gid_types':['IB/RoCE v1']}}"},
	 {.facts = "{" CARD ", 'port':{'link_layer':'InfiniBand', 'gid_types':['IB/RoCE v1']}}"}},
	{"flow-control", false,
	 "eth2 has neither priority flow control nor pause frames",
	 "dcb pfc set dev eth2",
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[]}}"},
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[3]}}"}},
	{"flow-control", false,
	 "eth2 has neither priority flow control nor pause frames",
	 "--tos 96",
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[]}}"},
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':true, 'pfc':[]}}"}},
	{"flow-control", false,
	 "eth2 has neither priority flow control nor pause frames",
	 "dcb",
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[]}}"},
	 {.facts = "{'port':{'link_layer':'iWARP'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[]}}"}},
	{"flow-control", false,
	 "eth2 has neither priority flow control nor pause frames",
	 "dcb",
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false, 'pfc':[]}}"},
	 {.facts = "{'port':{'link_layer':'Ethernet'}, 'netdev':{'name':'eth2'},"
		   " 'flow':{'pause_receive':false, 'pause_send':false}}"}},
	{"software-device", false,
	 "software device rxe0, rdma_rxe: not a measurement of hardware",
	 "only with each other",
	 {.facts = "{'device':{'name':'rxe0', 'software':true, 'driver':'rdma_rxe'}}"},
	 {.facts = "{" CARD "}"}},
	{"software-device", false,
	 "SOFTWARE DEVICE soft0: not a measurement",
	 "compare only with",
	 {.facts = "{'device':{'name':'soft0', 'kind':'soft', 'software':true}}"},
	 {.facts = "{" CARD "}"}},
};
// clang-format on

#define PCIE(speed, width, max_speed, max_width, rate)                                \
	"{" CARD ", 'port':{'rate':'" rate "'}, 'pcie':{'current_link_speed':'" speed \
	"', 'current_link_width':" width ", 'max_link_speed':'" max_speed             \
	"', 'max_link_width':" max_width "}}"

#define NUMA(nodes, local, allowed)                                         \
	"{" CARD ", 'numa':{'nodes':" nodes "}, 'cpu':{'allowed':'" allowed \
	"'}, 'pcie':{'numa_node':1, 'local_cpulist':'" local "'}}"

/* In Gb/s: 8 GT/s x8: 64 * 128 / 130 = 63.01; 16 GT/s x16: 252.06; 5 GT/s x8: 40 * 8 / 10 = 32. */
// clang-format off
static const struct row of_buses[] = {
	{"pcie", true,
	 "PCIe link 8.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16: 63 Gb/s, for a port of 100 Gb/s",
	 "move the card to a slot",
	 {.facts = PCIE("8.0 GT/s PCIe", "8", "16.0 GT/s PCIe", "16", "100 Gb/sec (4X EDR)")},
	 {.facts = PCIE("16.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16", "100 Gb/sec (4X EDR)")}},
	{"pcie", false,
	 "PCIe link 8.0 GT/s PCIe x16 of 16.0 GT/s PCIe x16: 126 Gb/s, for a port of 100 Gb/s",
	 "move the card to a slot",
	 {.facts = PCIE("8.0 GT/s PCIe", "16", "16.0 GT/s PCIe", "16", "100 Gb/sec (4X EDR)")},
	 {.facts = PCIE("Unknown", "0", "16.0 GT/s PCIe", "16", "100 Gb/sec (4X EDR)")}},
	{"pcie", false,
	 "PCIe link 5.0 GT/s PCIe x8 of 5.0 GT/s PCIe x8: 32 Gb/s, for a port of 40 Gb/s",
	 "none for this card",
	 {.facts = PCIE("5.0 GT/s PCIe", "8", "5.0 GT/s PCIe", "8", "40 Gb/sec (4X QDR)")},
	 {.facts = PCIE("2.5 GT/s PCIe", "255", "2.5 GT/s PCIe", "255", "1000 Gb/sec")}},
	{"pcie", true,
	 "PCIe link 2.5 GT/s PCIe x4 of 2.5 GT/s PCIe x8: 8 Gb/s, for a port of 10 Gb/s",
	 "move the card to a slot",
	 {.facts = PCIE("2.5 GT/s PCIe", "4", "2.5 GT/s PCIe", "8", "10 Gb/sec (4X SDR)")},
	 {.facts = "{" CARD ", 'port':{'rate':'10 Gb/sec (4X SDR)'}}"}},
	{"numa", true,
	 "verbmark may run on CPUs 0-39, but mlx5_0 is close to CPUs 40-79",
	 "numactl --cpunodebind=1 --membind=1",
	 {.facts = NUMA("2", "40-79", "0-39")},
	 {.facts = NUMA("2", "40-79", "41,50-60")}},
	{"numa", false,
	 "40 of 80 usable CPUs are on another NUMA node than mlx5_0",
	 "--pin auto, the default, for up to that many threads; or numactl --cpunodebind=1",
	 {.facts = NUMA("2", "40-79", "0-79")},
	 {.facts = NUMA("1", "40-79", "0-79")}},
	/* A device that is not a card has no location. */
	{"numa", true,
	 "verbmark may run on CPUs 0-39, but mlx5_0 is close to CPUs 40-79",
	 "numactl",
	 {.facts = NUMA("2", "40-79", "0-39")},
	 {.facts = "{'device':{'name':'rxe0', 'software':true}, 'numa':{'nodes':2},"
		   " 'cpu':{'allowed':'0-39'}, 'pcie':{'local_cpulist':'40-79'}}"}},
	{"iommu", false,
	 "the IOMMU translates the DMA of mlx5_0 (DMA-FQ)",
	 "iommu.passthrough=1",
	 {.facts = "{" CARD ", 'iommu':{'type':'DMA-FQ'}}"},
	 {.facts = "{" CARD ", 'iommu':{'type':'identity'}}"}},
	{"virtual-function", false,
	 "mlx5_0 is a virtual function",
	 "the physical function",
	 {.facts = "{'device':{'name':'mlx5_0', 'virtual_function':true}}"},
	 {.facts = "{'device':{'name':'mlx5_0', 'virtual_function':false}}"}},
};
// clang-format on

// clang-format off
static const struct row of_changes[] = {
	{"steal", false,
	 "steal time: 0.50 % of the CPU time",
	 "dedicate CPUs",
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':11, 'total_ticks':1200}"},
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':10, 'total_ticks':1200}"}},
	{"steal", false,
	 "steal time: 1.00 % of the CPU time",
	 "dedicate CPUs",
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':20, 'total_ticks':2000}"},
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':21, 'total_ticks':2000}"}},
	{"steal", true,
	 "steal time: 1.10 % of the CPU time",
	 "dedicate CPUs",
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':21, 'total_ticks':2000}"},
	 {.before = "{'steal_ticks':10, 'total_ticks':1000}",
	  .after = "{'steal_ticks':20, 'total_ticks':2000}"}},
	{"steal", true,
	 "steal time: 100.00 % of the CPU time",
	 "measure on the host",
	 {.before = "{'steal_ticks':0, 'total_ticks':0}",
	  .after = "{'steal_ticks':500, 'total_ticks':500}"},
	 /* More than 100 % is nonsense. */
	 {.before = "{'steal_ticks':0, 'total_ticks':0}",
	  .after = "{'steal_ticks':501, 'total_ticks':500}"}},
	{"steal", true,
	 "steal time: 50.00 % of the CPU time",
	 "measure on the host",
	 {.before = "{'steal_ticks':0, 'total_ticks':0}",
	  .after = "{'steal_ticks':500, 'total_ticks':1000}"},
	 {.after = "{'steal_ticks':500, 'total_ticks':1000}"}},
	{"throttled", true,
	 "the control group was throttled 3 times",
	 "CPUQuota",
	 {.before = "{'nr_throttled':7}", .after = "{'nr_throttled':10}"},
	 {.before = "{'nr_throttled':7}", .after = "{'nr_throttled':7}"}},
	{"heat", true,
	 "heat throttled CPUs 2 times",
	 "cooling",
	 {.before = "{'core_throttles':7}", .after = "{'core_throttles':9}"},
	 {.before = "{'core_throttles':9}", .after = "{'core_throttles':7}"}},
	{"lost-packets", true,
	 "out_of_sequence +5, local_ack_timeout_err +1",
	 "flow control",
	 {.counters = "{'out_of_sequence':5, 'symbol_error':0, 'local_ack_timeout_err':1}"},
	 {.counters = "{'out_of_sequence':0, 'port_xmit_data':1000}"}},
	{"lost-packets", true,
	 "completer_retry_err +2",
	 "sysctl net.core.netdev_max_backlog",
	 {.facts = "{'device':{'name':'rxe0', 'software':true}}",
	  .counters = "{'completer_retry_err':2}"},
	 {.facts = "{'device':{'name':'rxe0', 'software':true}}",
	  .counters = "{'completer_retry_err':0}"}},
	{"receiver-not-ready", true,
	 "rcvd_rnr_err +9",
	 "a deeper receive queue",
	 {.counters = "{'rcvd_rnr_err':9}"},
	 {.counters = "{'rcvd_rnr_err':0}"}},
	{"link-errors", true,
	 "ports/1/hw_counters/link_downed +1",
	 "cable",
	 {.counters = "{'ports/1/hw_counters/link_downed':1}"},
	 {.counters = "{'ports/1/hw_counters/link_downed':0}"}},
	{"congestion", false,
	 "np_cnp_sent +123456789012",
	 "an idle network",
	 {.counters = "{'np_cnp_sent':123456789012}"},
	 {.counters = "{'np_cnp_sent':'many'}"}},
};
// clang-format on

/* Checks a finding, which must have a reason and advice, and belong to the host. */
static void check_finding(const json_t *finding, const struct row *row)
{
	assert_string_equal(text(finding, "code"), row->code);
	assert_string_equal(text(finding, "what"), row->what);
	assert_int_equal(json_is_true(json_object_get(finding, "spoils")), row->spoils);
	assert_true(strlen(text(finding, "why")) > 10);
	assert_contains(text(finding, "mend"), row->mend);
	assert_string_equal(text(finding, "host"), "this host");
}

static const json_t *find(const json_t *findings, const struct row *row)
{
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *finding = json_array_get(findings, i);

		if (!strcmp(text(finding, "code"), row->code) &&
		    json_is_true(json_object_get(finding, "spoils")) == row->spoils)
			return finding;
	}
	return NULL;
}

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *findings = advise(&rows[i].known, NULL);
		const json_t *finding = find(findings, &rows[i]);

		if (!finding)
			print_error("row %zu: no finding %s\n", i, rows[i].code);
		assert_non_null(finding);
		check_finding(finding, &rows[i]);
		json_decref(findings);
		findings = advise(&rows[i].other, NULL);
		if (find(findings, &rows[i]))
			print_error("row %zu: %s should not be found\n", i, rows[i].code);
		assert_null(find(findings, &rows[i]));
		json_decref(findings);
	}
}

static void test_hosts(void **unused)
{
	check_rows(of_hosts, ARRAY_LENGTH(of_hosts));
}

static void test_devices(void **unused)
{
	check_rows(of_devices, ARRAY_LENGTH(of_devices));
}

static void test_buses(void **unused)
{
	check_rows(of_buses, ARRAY_LENGTH(of_buses));
}

static void test_changes(void **unused)
{
	check_rows(of_changes, ARRAY_LENGTH(of_changes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_buses),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
