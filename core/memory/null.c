/* SPDX-License-Identifier: MIT */
/*
 * No memory: a null region (ibv_alloc_null_mr), from which the device reads zeros, and whose data it
 * drops. There are no bytes for the CPU, nor for the peer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/memory/memory.h"
#include "core/verbs/verbs.h"

#define PAGE 4096

static struct ibv_mr *null_register(const struct memory *memory, size_t offset, size_t length,
				    struct ibv_pd *pd, int access, struct error *error)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(pd);

	if (!mr)
		error_set_errno(error, verbs_null(),
				"the device has no null regions (ibv_alloc_null_mr)");
	return mr;
}

/* Devices do not report whether they have null regions. */
static int null_check(const struct memory_request *request, struct error *error)
{
	struct ibv_pd *pd = request->device ? ibv_alloc_pd(request->device) : NULL;
	struct ibv_mr *mr;

	if (!pd)
		return 0;
	mr = null_register(NULL, 0, 0, pd, 0, error);
	if (mr)
		ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	return mr ? 0 : error->code;
}

static int null_allocate(struct memory *memory, const struct memory_request *request,
			 struct error *error)
{
	if (!request->size || request->size > SIZE_MAX - PAGE)
		return error_set(error, -EINVAL, "invalid buffer size of %zu bytes", request->size);
	memory->size = (request->size + PAGE - 1) / PAGE * PAGE;
	memory->page = PAGE;
	memory->numa_node = request->numa_node;
	return 0;
}

static void null_release(struct memory *memory)
{
}

static void null_read(const struct memory *memory, size_t offset, void *into, size_t length)
{
	memset(into, 0, length);
}

static void null_write(const struct memory *memory, size_t offset, const void *from, size_t length)
{
}

static bool null_is_polled(const char *detail)
{
	return false;
}

static bool null_is_private(const char *detail)
{
	return true;
}

static void null_describe(const struct memory *memory, struct memory_facts *facts)
{
	snprintf(facts->path, sizeof(facts->path), "ibv_alloc_null_mr");
}

const struct memory_kind memory_null = {
	.name = "null",
	.is_polled = null_is_polled,
	.is_private = null_is_private,
	.check = null_check,
	.allocate = null_allocate,
	.release = null_release,
	.register_region = null_register,
	.read = null_read,
	.write = null_write,
	.describe = null_describe,
};
