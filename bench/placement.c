/* SPDX-License-Identifier: MIT */
#include "bench/placement.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "bench/tree.h"

#define NODE "/sys/devices/system/node"

/* Those of them near the device; all where nothing is known, or none of them is near. */
static struct cpulist near_device(const struct placement_wish *wish, const struct cpulist *allowed)
{
	struct cpulist local;
	char text[TREE_TEXT];

	if (wish->device_node < 0 ||
	    !tree_line(wish->root, text, sizeof(text), NODE "/node%d/cpulist", wish->device_node) ||
	    !cpulist_parse(&local, text) || !cpulist_common(&local, allowed))
		return *allowed;
	return cpulist_both(&local, allowed);
}

int placement_choose(const struct placement_wish *wish, const struct cpulist *allowed,
		     struct cpulist *cpus, struct error *error)
{
	char text[128];

	*cpus = *allowed;
	if (wish->pin == PARAMETER_AUTO)
		*cpus = near_device(wish, allowed);
	if (wish->pin >= PARAMETER_OFF)
		return 0;
	*cpus = cpulist_of((unsigned int)wish->pin);
	if (cpulist_common(cpus, allowed))
		return 0;
	cpulist_print(allowed, text, sizeof(text));
	return error_set(error, -EINVAL, "--%spin: CPU %u is none that may be used; there is %s",
			 wish->whose, (unsigned int)wish->pin, text);
}

/* Both are bits in words of the machine's own order. */
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
		return error_set_errno(error, code, "cannot tell which CPUs may be used");
	code = placement_choose(wish, &placement->before, &placement->cpus, error);
	if (code || !memcmp(&placement->cpus, &placement->before, sizeof(placement->cpus)))
		return code;
	code = move(&placement->cpus);
	if (code)
		return error_set_errno(error, code, "--%spin: cannot move the thread", wish->whose);
	placement->is_moved = true;
	return 0;
}

void placement_close(struct placement *placement)
{
	if (placement->is_moved)
		move(&placement->before);
	*placement = (struct placement){0};
}

/* Those with memory: others can hold no buffer. */
static bool list_nodes(const char *root, struct cpulist *nodes)
{
	char text[TREE_TEXT];

	return (tree_line(root, text, sizeof(text), NODE "/has_memory") ||
		tree_line(root, text, sizeof(text), NODE "/online")) &&
	       cpulist_parse(nodes, text);
}

int placement_node(const struct placement_wish *wish, int *node, struct error *error)
{
	struct cpulist wanted;
	struct cpulist nodes;
	char text[128];

	*node = wish->numa == PARAMETER_AUTO  ? -1
		: wish->numa == PARAMETER_OFF ? GROUND_NO_NODE
					      : (int)wish->numa;
	if (*node < 0)
		return 0;
	if (!list_nodes(wish->root, &nodes))
		return error_set(error, -EINVAL,
				 "--%snuma: this kernel does not tell which NUMA nodes there are",
				 wish->whose);
	wanted = cpulist_of((unsigned int)*node);
	if (cpulist_common(&wanted, &nodes))
		return 0;
	cpulist_print(&nodes, text, sizeof(text));
	return error_set(error, -EINVAL,
			 "--%snuma: there is no NUMA node %d with memory; there is %s", wish->whose,
			 *node, text);
}

int placement_check(struct placement *placement, const struct placement_wish *wish,
		    const struct buffer *buffer, struct error *error)
{
	placement->node = buffer_node(buffer);
	/* The kernel takes a wish for a preference, and a full node for a reason. */
	if (wish->numa >= PARAMETER_OFF || placement->node == (int)wish->numa)
		return 0;
	if (placement->node < 0)
		return error_set(error, -ENOMEM,
				 "--%snuma: the buffer is not known to be on NUMA node %d",
				 wish->whose, (int)wish->numa);
	return error_set(error, -ENOMEM,
			 "--%snuma: the buffer is on NUMA node %d, not on %d: is that full?",
			 wish->whose, placement->node, (int)wish->numa);
}

struct result_place placement_tell(const struct placement *placement)
{
	struct result_place place = {.numa_node = placement->node};

	cpulist_print(&placement->cpus, place.cpus, sizeof(place.cpus));
	return place;
}
