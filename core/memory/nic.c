/* SPDX-License-Identifier: MIT */
/*
 * Memory of the device itself, which the CPU accesses only by ibv_memcpy_to_dm() and
 * ibv_memcpy_from_dm(). Addresses start at 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/memory.h"
#include "core/verbs/verbs.h"

#define PAGE 4096
/* Offsets and lengths of copies: some devices require multiples of this. */
#define UNIT 4
/* Bytes of a copy. */
#define PART 1024

struct nic {
	struct ibv_dm *dm;
	atomic_int code; /* of the first copy that failed */
};

/* Returns the bytes that the device has, or 0. */
static uint64_t capacity(struct ibv_context *device)
{
	struct ibv_device_attr_ex attr = {0};

	return ibv_query_device_ex(device, NULL, &attr) ? 0 : attr.max_dm_size;
}

static int nic_check(const struct memory_request *request, struct error *error)
{
	uint64_t most;

	if (!request->device)
		return 0;
	most = capacity(request->device);
	if (!most)
		return error_set(error, -EOPNOTSUPP,
				 "the device has no memory for buffers (max_dm_size is 0)");
	if (request->size > most)
		return error_set(error, -EOPNOTSUPP,
				 "the buffer needs %zu bytes of the device's memory, which has "
				 "%" PRIu64 "; use a smaller --size or --buffer",
				 request->size, most);
	return 0;
}

static int nic_allocate(struct memory *memory, const struct memory_request *request,
			struct error *error)
{
	struct ibv_alloc_dm_attr attr = {.length = (request->size + PAGE - 1) / PAGE * PAGE};
	struct nic *nic;
	int code;

	if (!request->size || request->size > SIZE_MAX - PAGE)
		return error_set(error, -EINVAL, "invalid buffer size of %zu bytes", request->size);
	if (!request->device)
		return error_set(error, -EINVAL, "memory of a device needs a device");
	code = nic_check(request, error);
	if (code)
		return code;
	nic = memory->state = calloc(1, sizeof(*nic));
	if (!nic)
		return error_set_errno(error, -ENOMEM, "cannot describe the device's memory");
	nic->dm = ibv_alloc_dm(request->device, &attr);
	if (!nic->dm)
		return error_set_errno(error, verbs_null(),
				       "cannot allocate %zu bytes of the device's memory",
				       attr.length);
	memory->size = attr.length;
	memory->page = PAGE;
	memory->numa_node = request->numa_node;
	memory_clear(memory, 0, memory->size);
	return memory_copy_error(memory, error);
}

static void nic_release(struct memory *memory)
{
	struct nic *nic = memory->state;

	if (nic && nic->dm)
		ibv_free_dm(nic->dm);
	free(nic);
}

/* Addresses of a region count from its first byte, so all regions begin at offset 0. */
static struct ibv_mr *nic_register(const struct memory *memory, size_t offset, size_t length,
				   struct ibv_pd *pd, int access, struct error *error)
{
	const struct nic *nic = memory->state;
	struct ibv_mr *mr;

	if (offset) {
		error_set(error, -EINVAL, "memory of a device is registered from its start");
		return NULL;
	}
	mr = ibv_reg_dm_mr(pd, nic->dm, 0, length, (unsigned int)access | IBV_ACCESS_ZERO_BASED);
	if (!mr)
		error_set_errno(error, verbs_null(), "cannot register %zu bytes of device memory",
				length);
	return mr;
}

static void keep_code(struct nic *nic, int result)
{
	int none = 0;

	if (result)
		atomic_compare_exchange_strong(&nic->code, &none, verbs_result(result));
}

/* Copies whole units that contain the bytes. Returns the position of the first of them. */
static size_t load(struct nic *nic, size_t offset, size_t length, char *units)
{
	size_t head = offset % UNIT;
	size_t bytes = (head + length + UNIT - 1) / UNIT * UNIT;

	keep_code(nic, ibv_memcpy_from_dm(units, nic->dm, offset - head, bytes));
	return head;
}

static void nic_read(const struct memory *memory, size_t offset, void *into, size_t length)
{
	char units[PART + 2 * UNIT] = {0};
	char *to = into;

	while (length) {
		size_t part = length < PART ? length : PART;

		memcpy(to, units + load(memory->state, offset, part, units), part);
		to += part;
		offset += part;
		length -= part;
	}
}

static void nic_write(const struct memory *memory, size_t offset, const void *from, size_t length)
{
	struct nic *nic = memory->state;
	char units[PART + 2 * UNIT] = {0};
	const char *next = from;

	while (length) {
		size_t part = length < PART ? length : PART;
		size_t head = offset % UNIT;

		if (head || part % UNIT)
			load(nic, offset, part, units);
		memcpy(units + head, next, part);
		keep_code(nic, ibv_memcpy_to_dm(nic->dm, offset - head, units,
						(head + part + UNIT - 1) / UNIT * UNIT));
		next += part;
		offset += part;
		length -= part;
	}
}

static int nic_copy_error(const struct memory *memory, struct error *error)
{
	const struct nic *nic = memory->state;
	int code = atomic_load(&nic->code);

	return code ? error_set_errno(error, code, "cannot access the device's memory") : 0;
}

static bool nic_is_polled(const char *detail)
{
	return false;
}

static void nic_describe(const struct memory *memory, struct memory_facts *facts)
{
	snprintf(facts->path, sizeof(facts->path), "ibv_reg_dm_mr");
}

const struct memory_kind memory_nic = {
	.name = "nic",
	.is_polled = nic_is_polled,
	.check = nic_check,
	.allocate = nic_allocate,
	.release = nic_release,
	.register_region = nic_register,
	.read = nic_read,
	.write = nic_write,
	.copy_error = nic_copy_error,
	.describe = nic_describe,
};
