/* SPDX-License-Identifier: MIT */
#include "bench/lane/placement.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "bench/plan/pin.h"
#include "core/base/sysfs.h"

#define NODE     "/sys/devices/system/node"
#define SIBLINGS "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list"

/* Returns the allowed CPUs near the device, or all of them if none is or nothing is known. */
static struct cpulist near_device(const struct placement_wish *wish, const struct cpulist *allowed)
{
	struct cpulist local;
	char text[SYSFS_TEXT];

	if (wish->device_node < 0 ||
	    !sysfs_line(wish->root, text, sizeof(text), NODE "/node%d/cpulist",
			wish->device_node) ||
	    !cpulist_parse(&local, text) || !cpulist_common(&local, allowed))
		return *allowed;
	return cpulist_both(&local, allowed);
}

/* Returns the CPUs of `from` on the same core as cpu, or just cpu if the topology is unknown. */
static struct cpulist of_core(const struct placement_wish *wish, const struct cpulist *from,
			      unsigned int cpu)
{
	struct cpulist siblings;
	char text[SYSFS_TEXT];

	if (!sysfs_line(wish->root, text, sizeof(text), SIBLINGS, cpu) ||
	    !cpulist_parse(&siblings, text))
		return cpulist_of(cpu);
	siblings = cpulist_both(&siblings, from);
	return cpulist_count(&siblings) ? siblings : cpulist_of(cpu);
}

/* Returns the first CPU of each core. */
static struct cpulist first_of_cores(const struct placement_wish *wish, const struct cpulist *from)
{
	struct cpulist found = {0};
	unsigned int count = cpulist_count(from);

	for (unsigned int i = 0; i < count; i++) {
		unsigned int cpu = cpulist_nth(from, i);
		const struct cpulist core = of_core(wish, from, cpu);

		if (cpulist_nth(&core, 0) == cpu)
			cpulist_add(&found, cpu);
	}
	return found;
}

static struct cpulist without(const struct cpulist *these, const struct cpulist *others)
{
	struct cpulist rest;

	for (size_t i = 0; i < ARRAY_LENGTH(rest.words); i++)
		rest.words[i] = these->words[i] & ~others->words[i];
	return rest;
}

/* Returns the CPU for this thread of several, best CPUs first. */
static struct cpulist one_of_many(const struct placement_wish *wish, const struct cpulist *allowed)
{
	const struct cpulist near = near_device(wish, allowed);
	const struct cpulist far = without(allowed, &near);
	const struct cpulist near_cores = first_of_cores(wish, &near);
	const struct cpulist far_cores = first_of_cores(wish, &far);
	const struct cpulist choices[] = {near_cores, without(&near, &near_cores), far_cores,
					  without(&far, &far_cores)};
	unsigned int number = wish->number % cpulist_count(allowed);
	size_t i = 0;

	while (number >= cpulist_count(&choices[i]))
		number -= cpulist_count(&choices[i++]);
	if (wish->is_server)
		number = cpulist_count(&choices[i]) - 1 - number;
	return cpulist_of(cpulist_nth(&choices[i], number));
}

/*
 * Returns this side's half of the cores, or of the CPUs of a single core. The scheduler may still
 * move each side within its half, so that concurrent runs can avoid each other.
 */
static struct cpulist half_of(const struct placement_wish *wish, const struct cpulist *allowed)
{
	struct cpulist from = near_device(wish, allowed);
	struct cpulist cores;
	struct cpulist half = {0};
	unsigned int count;

	if (cpulist_count(&from) < 2)
		from = *allowed;
	cores = first_of_cores(wish, &from);
	if (cpulist_count(&cores) < 2)
		cores = from;
	count = cpulist_count(&cores);
	if (count < 2)
		return from;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int cpu = cpulist_nth(&cores, i);
		const struct cpulist core = cpulist_count(&cores) == cpulist_count(&from)
						    ? cpulist_of(cpu)
						    : of_core(wish, &from, cpu);

		if (wish->is_server == (i >= count / 2))
			cpulist_join(&half, &core);
	}
	return half;
}

/* Returns the allowed CPUs except the one that the peer is pinned to. */
static struct cpulist without_peer(const struct placement_wish *wish, const struct cpulist *allowed)
{
	const struct cpulist other = cpulist_of(pin_cpu(wish->other_pin, 0));
	const struct cpulist rest = without(allowed, &other);

	return cpulist_count(&rest) ? rest : *allowed;
}

/* Chooses CPUs if none were requested. */
static struct cpulist default_cpus(const struct placement_wish *wish, const struct cpulist *allowed)
{
	if (wish->threads > 1)
		return one_of_many(wish, allowed);
	if (wish->is_shared && wish->other_pin == PARAMETER_AUTO)
		return half_of(wish, allowed);
	if (wish->is_shared && wish->other_pin < PARAMETER_FAR)
		return without_peer(wish, allowed);
	return near_device(wish, allowed);
}

static int far_from_device(const struct placement_wish *wish, const struct cpulist *allowed,
			   struct cpulist *cpus, struct error *error)
{
	const struct cpulist near = near_device(wish, allowed);

	*cpus = without(allowed, &near);
	if (cpulist_count(cpus))
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "--%spin far: all available CPUs are near the device, or its NUMA "
			 "node is unknown",
			 wish->prefix);
}

int placement_choose(const struct placement_wish *wish, const struct cpulist *allowed,
		     struct cpulist *cpus, struct error *error)
{
	unsigned int cpu;
	char text[128];

	*cpus = *allowed;
	if (wish->pin == PARAMETER_FAR)
		return far_from_device(wish, allowed, cpus, error);
	if (wish->pin == PARAMETER_AUTO)
		*cpus = default_cpus(wish, allowed);
	if (wish->pin >= PARAMETER_OFF)
		return 0;
	cpu = pin_cpu(wish->pin, wish->number);
	*cpus = cpulist_of(cpu);
	if (cpulist_common(cpus, allowed))
		return 0;
	cpulist_print(allowed, text, sizeof(text));
	return error_set(error, -EINVAL, "--%spin: CPU %u is not available; available CPUs: %s",
			 wish->prefix, cpu, text);
}

/* Both types are bits in native words. */
static int affinity(struct cpulist *list)
{
	return sched_getaffinity(0, sizeof(list->words), (cpu_set_t *)(void *)list->words) ? -errno
											   : 0;
}

static int move(const struct cpulist *list)
{
	return sched_setaffinity(0, sizeof(list->words),
				 (const cpu_set_t *)(const void *)list->words)
		       ? -errno
		       : 0;
}

int placement_open(struct placement *placement, const struct placement_wish *wish,
		   struct error *error)
{
	int code;

	*placement = (struct placement){.node = -1};
	code = affinity(&placement->before);
	if (code)
		return error_set_errno(error, code, "cannot read the CPU affinity");
	code = placement_choose(wish, &placement->before, &placement->cpus, error);
	if (code || !memcmp(&placement->cpus, &placement->before, sizeof(placement->cpus)))
		return code;
	code = move(&placement->cpus);
	if (code)
		return error_set_errno(error, code, "--%spin: cannot move the thread",
				       wish->prefix);
	placement->is_moved = true;
	return 0;
}

void placement_close(struct placement *placement)
{
	if (placement->is_moved)
		move(&placement->before);
	*placement = (struct placement){0};
}

/* Lists the nodes with memory; others cannot hold the buffer. */
static bool list_nodes(const char *root, struct cpulist *nodes)
{
	char text[SYSFS_TEXT];

	return (sysfs_line(root, text, sizeof(text), NODE "/has_memory") ||
		sysfs_line(root, text, sizeof(text), NODE "/online")) &&
	       cpulist_parse(nodes, text);
}

int placement_node(const struct placement_wish *wish, int *node, struct error *error)
{
	struct cpulist wanted;
	struct cpulist nodes;
	char text[128];

	*node = wish->numa == PARAMETER_AUTO  ? -1
		: wish->numa == PARAMETER_OFF ? ENDPOINT_NO_NODE
					      : (int)wish->numa;
	if (*node < 0)
		return 0;
	if (!list_nodes(wish->root, &nodes))
		return error_set(error, -EINVAL,
				 "--%snuma: the kernel does not list the NUMA nodes", wish->prefix);
	wanted = cpulist_of((unsigned int)*node);
	if (cpulist_common(&wanted, &nodes))
		return 0;
	cpulist_print(&nodes, text, sizeof(text));
	return error_set(error, -EINVAL,
			 "--%snuma: no NUMA node %d with memory; available nodes: %s", wish->prefix,
			 *node, text);
}

int placement_check(struct placement *placement, const struct placement_wish *wish,
		    const struct memory *memory, struct error *error)
{
	placement->node = memory_node(memory);
	/*
	 * The kernel treats the node as a preference and falls back to another one if it is full.
	 */
	if (wish->numa >= PARAMETER_OFF || placement->node == (int)wish->numa)
		return 0;
	if (placement->node < 0)
		return error_set(error, -ENOMEM,
				 "--%snuma: cannot verify that the buffer is on NUMA node %d",
				 wish->prefix, (int)wish->numa);
	return error_set(
		error, -ENOMEM,
		"--%snuma: the buffer is on NUMA node %d instead of node %d, which may be full",
		wish->prefix, placement->node, (int)wish->numa);
}

void placement_join(struct placement *into, const struct placement *from)
{
	cpulist_join(&into->cpus, &from->cpus);
	if (into->node != from->node)
		into->node = -1;
}

struct result_place placement_result(const struct placement *placement)
{
	struct result_place place = {.numa_node = placement->node};

	cpulist_print(&placement->cpus, place.cpus, sizeof(place.cpus));
	return place;
}
