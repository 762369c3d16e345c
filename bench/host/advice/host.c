/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/advice/rule.h"

#define MIB               (1LL << 20)
#define MEMLOCK_NEEDED    (64 * MIB)
#define IDLE_LATENCY_US   10
#define CPU_DMA_UNLIMITED 2000000000LL
#define CPUS_OF_ONE_RUN   2
#define HUGE_KIB          (512LL << 10)

static bool governor(const struct advice_end *end, const struct advice_end *peer,
		     struct advice_words *words)
{
	const char *found = advice_text(end->facts, "frequency", "governor");

	/* With "userspace" somebody has set the frequency on purpose. */
	if (!found || !strcmp(found, "performance") || !strcmp(found, "userspace"))
		return false;
	return advice_what(words, "CPU governor is %.60s", found);
}

/* Returns whether a word occurs in a list separated by blanks. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	while (text && *text) {
		size_t next = strcspn(text, " ");

		if (next == length && !strncmp(text, word, length))
			return true;
		text += next + (text[next] == ' ');
	}
	return false;
}

static bool slow_clock(const struct advice_end *end, const struct advice_end *peer,
		       struct advice_words *words)
{
	static const char *const slow[] = {
		"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "hyperv_clocksource_msr"};
	const char *source = advice_text(end->facts, "clock", "source");
	const char *available = advice_text(end->facts, "clock", "available");
	bool found = false;

	for (size_t i = 0; source && i < ARRAY_LENGTH(slow); i++)
		found = found || !strcmp(source, slow[i]);
	if (!found)
		return false;
	if (has_word(available, "tsc"))
		advice_mend(words, "echo tsc > /sys/devices/system/clocksource/clocksource0/"
				   "current_clocksource");
	return advice_what(words, "clock source is %.40s", source);
}

static bool virtual_clock(const struct advice_end *end, const struct advice_end *peer,
			  struct advice_words *words)
{
	static const char *const sources[] = {"kvm-clock", "xen", "hyperv_clocksource_tsc_page"};
	const char *source = advice_text(end->facts, "clock", "source");

	for (size_t i = 0; source && i < ARRAY_LENGTH(sources); i++)
		if (!strcmp(source, sources[i]))
			return advice_what(words,
					   "clock source is %s, which programs cannot read as a "
					   "plain counter",
					   source);
	return false;
}

static bool balancing(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	json_int_t mode;
	json_int_t nodes;

	return advice_number(end->facts, "numa", "balancing", &mode) && mode > 0 &&
	       advice_number(end->facts, "numa", "nodes", &nodes) && nodes > 1 &&
	       advice_what(words, "automatic NUMA balancing is on (%lld nodes)", nodes);
}

static bool memlock(const struct advice_end *end, const struct advice_end *peer,
		    struct advice_words *words)
{
	json_int_t bytes;

	/* soft0 does not lock its buffers. */
	if (advice_is_soft(end->facts))
		return false;
	if (!advice_number(end->facts, "limits", "memlock", &bytes) || bytes >= MEMLOCK_NEEDED ||
	    advice_is_true(end->facts, "limits", "memlock_exempt"))
		return false;
	return bytes < MIB ? advice_what(words, "memlock is %lld KiB", bytes / 1024)
			   : advice_what(words, "memlock is %lld MiB", bytes / MIB);
}

static bool turbo(const struct advice_end *end, const struct advice_end *peer,
		  struct advice_words *words)
{
	const char *driver = advice_text(end->facts, "frequency", "driver");

	if (!advice_is_true(end->facts, "frequency", "turbo"))
		return false;
	/* In passive mode, the driver is called intel_cpufreq. */
	if (driver && (strstr(driver, "intel_pstate") || strstr(driver, "intel_cpufreq")))
		advice_mend(words, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
	return advice_what(words, "CPU turbo is on");
}

static bool idle_states(const struct advice_end *end, const struct advice_end *peer,
			struct advice_words *words)
{
	const json_t *idle = json_object_get(end->facts, "idle");
	const char *name = advice_text(idle, "deepest", "name");
	json_int_t latency_us;
	json_int_t allowed_us;

	if (!advice_number(idle, "deepest", "latency_us", &latency_us) ||
	    latency_us <= IDLE_LATENCY_US)
		return false;
	/* Another program may keep CPUs out of deep idle states. */
	if (!advice_number(end->facts, "idle", "cpu_dma_latency_us", &allowed_us))
		return advice_what(
			words,
			"leaving idle state %.20s takes %lld us, unless a process prevents it "
			"through /dev/cpu_dma_latency, which is not readable",
			name ? name : "?", latency_us);
	return allowed_us >= latency_us &&
	       advice_what(words, "leaving idle state %.20s takes %lld us", name ? name : "?",
			   latency_us);
}

static bool smt(const struct advice_end *end, const struct advice_end *peer,
		struct advice_words *words)
{
	return advice_is_true(end->facts, "cpu", "smt") &&
	       advice_what(words, "SMT is on: two CPUs share each core");
}

static bool no_hugepages(const struct advice_end *end, const struct advice_end *peer,
			 struct advice_words *words)
{
	const json_t *sizes = json_object_get(json_object_get(end->facts, "hugepages"), "sizes");
	json_int_t kib;

	if (!advice_is_hardware(end->facts) ||
	    !advice_number(end->facts, "hugepages", "default_kib", &kib) || kib < 1 ||
	    kib > INT32_MAX)
		return false;
	for (size_t i = 0; i < json_array_size(sizes); i++) {
		const json_t *size = json_array_get(sizes, i);

		if (json_integer_value(json_object_get(size, "kib")) == kib &&
		    json_integer_value(json_object_get(size, "free")) > 0)
			return false;
	}
	advice_mend(words, "sysctl vm.nr_hugepages=%lld, and --hugepages",
		    (HUGE_KIB + kib - 1) / kib);
	return advice_what(words, "no huge page of %lld KiB is free", kib);
}

static bool cpu_quota(const struct advice_end *end, const struct advice_end *peer,
		      struct advice_words *words)
{
	const char *limit = advice_text(end->facts, "cgroup", "cpu_max");
	long long quota;
	long long period;

	if (!limit || sscanf(limit, "%lld %lld", &quota, &period) != 2 || period <= 0 ||
	    quota < 0 || quota / period >= CPUS_OF_ONE_RUN)
		return false;
	return advice_what(words, "the control group may use %lld us of CPU time per %lld us",
			   quota, period);
}

static bool loaded(const struct advice_end *end, const struct advice_end *peer,
		   struct advice_words *words)
{
	const json_t *load = json_array_get(json_object_get(end->before, "loadavg"), 0);
	json_int_t count;

	if (!json_is_number(load) || !advice_number(end->facts, "cpu", "count", &count) ||
	    json_number_value(load) < (double)count)
		return false;
	return advice_what(words, "load average %.1f on %lld CPUs", json_number_value(load), count);
}

static bool emulated(const struct advice_end *end, const struct advice_end *peer,
		     struct advice_words *words)
{
	const char *accelerator = advice_text(end->facts, "environment", "softroce_accel");

	if (accelerator && !strcmp(accelerator, "icount"))
		return advice_what(words, "emulated machine whose clock counts instructions");
	return accelerator && !strcmp(accelerator, "tcg") &&
	       advice_what(words, "emulated machine (tcg)");
}

// clang-format off
static const struct advice_rule rules[] = {
	{"governor", true, governor,
	 "the CPU frequency follows the load, and latency follows the frequency",
	 "cpupower frequency-set -g performance"},
	{"clock", true, slow_clock,
	 "reading it is a system call that takes longer than a message",
	 "tsc=reliable clocksource=tsc on the kernel command line"},
	{"memory-balancing", true, balancing,
	 "the kernel briefly unmaps pages to see which CPUs use them",
	 "sysctl kernel.numa_balancing=0"},
	{"memlock", true, memlock,
	 "buffers and queues of RDMA devices are locked memory",
	 "'* - memlock unlimited' in a file of /etc/security/limits.d and a new login, "
	 "LimitMEMLOCK=infinity for a service, or ulimit -l unlimited as root"},
	{"clock", false, virtual_clock,
	 "timestamps come from CLOCK_MONOTONIC_RAW, which takes longer to read",
	 "clocksource=tsc on the kernel command line, if the hypervisor offers it"},
	{"turbo", false, turbo,
	 "the frequency depends on heat and on what the other cores do",
	 "echo 0 > /sys/devices/system/cpu/cpufreq/boost"},
	{"idle-states", false, idle_states,
	 "a thread that sleeps until an event waits for that as well",
	 "cpupower idle-set -D 10"},
	{"smt", false, smt,
	 "a thread on the other CPU of a core slows it down",
	 "echo off > /sys/devices/system/cpu/smt/control, or pin to cores whose other CPU is idle"},
	{"hugepages", false, no_hugepages,
	 "large buffers in small pages need more of the device's translation cache",
	 NULL},
	{"cpu-quota", false, cpu_quota,
	 "an end that polls uses a CPU all the time, and is stopped when the quota is used up",
	 "run outside that group, or raise its quota: systemctl set-property SLICE CPUQuota="},
	{"load", false, loaded,
	 "other processes compete for the CPUs",
	 "stop other work (top shows it)"},
	{"emulation", false, emulated,
	 "its times apply to no real machine; compare them only with each other",
	 "measure on hardware, or where /dev/kvm works"},
};
// clang-format on

const struct advice_table advice_of_host = {rules, ARRAY_LENGTH(rules)};
