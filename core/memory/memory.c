/* SPDX-License-Identifier: MIT */
#include "core/memory/memory.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int memory_check(const struct memory_kind *kind, const struct memory_request *request,
		 struct error *error)
{
	return kind->check ? kind->check(request, error) : 0;
}

int memory_open(struct memory *memory, const struct memory_kind *kind,
		const struct memory_request *request, struct error *error)
{
	int code;

	*memory = (struct memory){.kind = kind};
	snprintf(memory->detail, sizeof(memory->detail), "%s",
		 request->detail ? request->detail : "");
	code = kind->allocate(memory, request, error);
	if (code)
		memory_close(memory);
	return code;
}

void memory_close(struct memory *memory)
{
	if (memory->kind)
		memory->kind->release(memory);
	*memory = (struct memory){0};
}

static int node_of(const char *address)
{
	int node = -1;

	return syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR)
		       ? -1
		       : node;
}

int memory_node(const struct memory *memory)
{
	int node;

	if (!memory->cpu)
		return -1;
	node = node_of(memory->cpu);
	return node == node_of(memory->cpu + memory->size - 1) ? node : -1;
}

/* Returns false if the pages are known to be on another node than new ones would be. */
static bool is_in_place(const struct memory *memory)
{
	unsigned int node = (unsigned int)memory->numa_node;

	if (!memory->cpu || node_of(memory->cpu) < 0)
		return true; /* the node is unknown */
	if (memory->numa_node < 0 && getcpu(NULL, &node))
		return false;
	return memory_node(memory) == (int)node;
}

static bool is_as_requested(const struct memory *memory, const struct memory_kind *kind,
			    const struct memory_request *request)
{
	const char *detail = request->detail ? request->detail : "";

	return memory->kind == kind && memory->numa_node == request->numa_node &&
	       request->size <= memory->size && memory->size - request->size < memory->page &&
	       !strcmp(memory->detail, detail) && is_in_place(memory);
}

int memory_take(struct memory *memory, struct memory *spare, const struct memory_kind *kind,
		const struct memory_request *request, struct error *error)
{
	if (!is_as_requested(spare, kind, request)) {
		/* Free the spare pages first: the new memory may need them. */
		memory_close(spare);
		return memory_open(memory, kind, request, error);
	}
	*memory = *spare;
	*spare = (struct memory){0};
	memory_clear(memory, 0, memory->size);
	return 0;
}

void memory_keep(struct memory *memory, struct memory *spare)
{
	/* An error of a copy stays with the memory. */
	if (memory->kind && (!memory->kind->is_kept || memory_copy_error(memory, NULL)))
		memory_close(memory);
	memory_close(spare);
	*spare = *memory;
	*memory = (struct memory){0};
}

struct memory_facts memory_describe(const struct memory *memory)
{
	struct memory_facts facts = {0};

	if (memory->kind && memory->kind->describe)
		memory->kind->describe(memory, &facts);
	return facts;
}

int memory_copy_error(const struct memory *memory, struct error *error)
{
	bool has = memory->kind && memory->kind->copy_error;

	return has ? memory->kind->copy_error(memory, error) : 0;
}

struct ibv_mr *memory_register(const struct memory *memory, size_t offset, size_t length,
			       struct ibv_pd *pd, int access, struct error *error)
{
	return memory->kind->register_region(memory, offset, length, pd, access, error);
}

void memory_clear(const struct memory *memory, size_t offset, size_t length)
{
	static const char zeros[4096];

	if (memory->cpu) {
		memset(memory->cpu + offset, 0, length);
		return;
	}
	if (memory->kind->clear) {
		memory->kind->clear(memory, offset, length);
		return;
	}
	while (length) {
		size_t part = length < sizeof(zeros) ? length : sizeof(zeros);

		memory->kind->write(memory, offset, zeros, part);
		offset += part;
		length -= part;
	}
}
