/* SPDX-License-Identifier: MIT */
/* The kinds of memory that a GPU's driver allocates. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/sysfs.h"
#include "core/memory/gpu.h"
#include "core/memory/memory.h"
#include "core/verbs/verbs.h"

/* GPUs map their memory in pages of this size. */
#define GPU_PAGE 65536

/* How the RDMA device reaches the memory. */
enum gpu_path {
	GPU_PATH_DEFAULT, /* dma-buf, or peer memory if that is not possible */
	GPU_PATH_DMABUF,
	GPU_PATH_PEERMEM,
	GPU_PATH_MAPPED, /* dma-buf, which the CPU maps as well */
};

struct gpu_wish {
	unsigned int index;
	enum gpu_path path;
};

/* A kind, and the memory that it allocates. */
struct gpu_kind {
	const struct memory_kind *kind;
	enum gpu_place place;
	const char *paths[4]; /* names, by enum gpu_path; NULL: not available */
};

// clang-format off
static const struct gpu_kind gpu_kinds[] = {
	{&memory_cuda, GPU_PLACE_DEVICE, {NULL, "dmabuf", "peermem", "host-mapped"}},
	{&memory_cuda_managed, GPU_PLACE_MANAGED, {NULL}},
	{&memory_cuda_pinned, GPU_PLACE_PINNED, {NULL}},
	{&memory_rocm, GPU_PLACE_DEVICE, {NULL, "dmabuf", NULL, "host-mapped"}},
};
// clang-format on

struct gpu_memory {
	const struct gpu_kind *row;
	struct gpu_wish wish;
	struct gpu gpu;
	bool is_open;
	uint64_t start; /* of the allocation; 0: none */
	int dmabuf;     /* descriptor; -1: none */
	uint64_t dmabuf_offset;
	const char *way;    /* of the last registration */
	struct error fault; /* the first copy that failed */
};

static const struct gpu_kind *row_of(const struct memory_kind *kind)
{
	const struct gpu_kind *row = gpu_kinds;

	while (row->kind != kind)
		row++;
	return row;
}

static int parse_path(const struct gpu_kind *row, const char *text, struct gpu_wish *wish,
		      struct error *error)
{
	char names[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(row->paths); i++) {
		if (!row->paths[i])
			continue;
		wish->path = (enum gpu_path)i;
		if (!strcmp(row->paths[i], text))
			return 0;
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", row->paths[i]);
	}
	if (!used)
		return error_set(error, -EINVAL, "%s has no path", row->kind->name);
	return error_set(error, -EINVAL, "path of %s is not one of %s", row->kind->name, names);
}

/* Parses "N", "path=PATH" or "N,path=PATH". */
static int parse(const struct memory_kind *kind, const char *detail, struct gpu_wish *wish,
		 struct error *error)
{
	static const char path[] = "path=";
	unsigned long index = 0;
	const char *rest = detail ? detail : "";
	char *end;

	*wish = (struct gpu_wish){0};
	if (*rest >= '0' && *rest <= '9') {
		index = strtoul(rest, &end, 10);
		if (*end && (*end != ',' || !end[1]))
			return error_set(error, -EINVAL, "is not %s:N%s", kind->name,
					 row_of(kind)->paths[GPU_PATH_DMABUF] ? " or N,path=PATH"
									      : "");
		rest = *end ? end + 1 : end;
	}
	if (index >= GPU_MAX)
		return error_set(error, -EINVAL, "GPU numbers end at %d", GPU_MAX - 1);
	wish->index = (unsigned int)index;
	if (!*rest)
		return 0;
	if (strncmp(rest, path, sizeof(path) - 1) != 0)
		return error_set(error, -EINVAL, "is not %s:N%s", kind->name,
				 row_of(kind)->paths[GPU_PATH_DMABUF] ? " or N,path=PATH" : "");
	return parse_path(row_of(kind), rest + sizeof(path) - 1, wish, error);
}

static bool has_peermem(void)
{
	return sysfs_exists("", "/sys/module/nvidia_peermem") ||
	       sysfs_exists("", "/sys/module/nv_peer_mem");
}

static int check_path(const struct gpu_kind *row, const struct gpu_wish *wish, struct error *error)
{
	bool is_any = wish->path == GPU_PATH_DEFAULT && row->paths[GPU_PATH_PEERMEM];

	if (row->place != GPU_PLACE_DEVICE || (is_any && has_peermem()))
		return 0;
	if (wish->path != GPU_PATH_PEERMEM)
		return row->kind->gpu->check_dmabuf(wish->index, error);
	return has_peermem() ? 0
			     : error_set(error, -EOPNOTSUPP,
					 "the kernel module nvidia_peermem is not loaded; try "
					 "'modprobe nvidia_peermem', or path=dmabuf");
}

static int check(const struct gpu_kind *row, const struct gpu_wish *wish, struct error *error)
{
	unsigned int count;
	int code = row->kind->gpu->count(&count, error);

	if (code)
		return code;
	if (wish->index >= count)
		return error_set(error, -EOPNOTSUPP,
				 "no GPU %u: the driver has %u, %s:0 to %s:%u; see 'verbmark "
				 "devices --memory'",
				 wish->index, count, row->kind->name, row->kind->name, count - 1);
	return check_path(row, wish, error);
}

static int cannot_map(const struct gpu_memory *state, int code, struct error *error)
{
	error_set_errno(error, code, "the CPU cannot map memory of GPU %u", state->wish.index);
	return error_append(error, "this driver does not map dma-buf; try path=dmabuf");
}

/* Exports the memory, and maps it for the CPU if that was requested. */
static int export_memory(struct memory *memory, struct gpu_memory *state, struct error *error)
{
	char *cpu;
	int code = state->row->kind->gpu->export_dmabuf(state->wish.index, memory->address,
							memory->size, &state->dmabuf,
							&state->dmabuf_offset, error);

	if (code)
		state->dmabuf = -1;
	if (code || state->wish.path != GPU_PATH_MAPPED)
		return code;
	cpu = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, state->dmabuf,
		   (off_t)state->dmabuf_offset);
	if (cpu == MAP_FAILED)
		return cannot_map(state, -errno, error);
	memory->cpu = cpu;
	/* An inline payload is read there. */
	memory->address = (uintptr_t)cpu;
	return 0;
}

static int allocate_bytes(struct memory *memory, struct gpu_memory *state, size_t size,
			  struct error *error)
{
	const struct gpu_driver *driver = state->row->kind->gpu;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int code;

	if (!size || size > SIZE_MAX / 2)
		return error_set(error, -EINVAL, "invalid buffer size of %zu bytes", size);
	memory->page = GPU_PAGE;
	memory->size = (size + GPU_PAGE - 1) / GPU_PAGE * GPU_PAGE;
	/* Small allocations need not begin at a page of the host, which exports require. */
	code = driver->allocate(state->wish.index, state->row->place, memory->size + page,
				&state->start, error);
	if (code) {
		state->start = 0;
		return error_wrap(error, "no memory for a buffer of %zu bytes", size);
	}
	memory->address = (state->start + page - 1) / page * page;
	if (state->row->place != GPU_PLACE_DEVICE)
		memory->cpu = (char *)(uintptr_t)memory->address;
	return driver->clear(state->wish.index, memory->address, memory->size, error);
}

static bool may_be_peer(const struct gpu_memory *state)
{
	return state->wish.path == GPU_PATH_DEFAULT && state->row->paths[GPU_PATH_PEERMEM] &&
	       has_peermem();
}

static int build(struct memory *memory, struct gpu_memory *state, size_t size, struct error *error)
{
	const struct gpu_driver *driver = state->row->kind->gpu;
	int code = check(state->row, &state->wish, error);

	if (!code)
		code = driver->describe(state->wish.index, &state->gpu, error);
	if (!code)
		code = driver->open(state->wish.index, error);
	if (code)
		return code;
	state->is_open = true;
	code = allocate_bytes(memory, state, size, error);
	if (code || state->row->place != GPU_PLACE_DEVICE || state->wish.path == GPU_PATH_PEERMEM)
		return code;
	/* Without dma-buf, the default path uses peer memory. */
	if (may_be_peer(state) && driver->check_dmabuf(state->wish.index, NULL))
		return 0;
	return export_memory(memory, state, error);
}

static int gpu_allocate(struct memory *memory, const struct memory_request *request,
			struct error *error)
{
	struct gpu_memory *state = calloc(1, sizeof(*state));
	int code;

	if (!state)
		return error_set_errno(error, -ENOMEM, "cannot allocate GPU memory");
	state->row = row_of(memory->kind);
	state->dmabuf = -1;
	memory->state = state;
	memory->numa_node = request->numa_node;
	code = parse(memory->kind, request->detail, &state->wish, error);
	return code ? code : build(memory, state, request->size, error);
}

static void gpu_release(struct memory *memory)
{
	struct gpu_memory *state = memory->state;

	if (!state)
		return;
	if (memory->cpu && state->row->place == GPU_PLACE_DEVICE)
		munmap(memory->cpu, memory->size);
	if (state->dmabuf >= 0)
		close(state->dmabuf);
	if (state->start)
		state->row->kind->gpu->release(state->wish.index, state->row->place, state->start);
	if (state->is_open)
		state->row->kind->gpu->close(state->wish.index);
	free(state);
}

static struct ibv_mr *register_address(const struct memory *memory, size_t offset, size_t length,
				       struct ibv_pd *pd, int access, struct error *error)
{
	return verbs_register(pd, (char *)(uintptr_t)memory->address + offset, length, access,
			      error);
}

static void dmabuf_refused(const struct gpu_memory *state, int code, struct error *error)
{
	error_set_errno(error, code, "cannot register memory of GPU %u as a dma-buf",
			state->wish.index);
	error_append(error, "Linux 5.12 and support by the RDMA device's driver are needed%s",
		     state->row->paths[GPU_PATH_PEERMEM] ? "; or try 'modprobe nvidia_peermem'"
							 : "");
}

static struct ibv_mr *gpu_register(const struct memory *memory, size_t offset, size_t length,
				   struct ibv_pd *pd, int access, struct error *error)
{
	struct gpu_memory *state = memory->state;
	bool is_device = state->row->place == GPU_PLACE_DEVICE;
	struct ibv_mr *mr;
	int code;

	state->way = is_device ? "ibv_reg_mr, nvidia_peermem" : "ibv_reg_mr";
	if (state->dmabuf < 0)
		return register_address(memory, offset, length, pd, access, error);
	mr = ibv_reg_dmabuf_mr(pd, state->dmabuf_offset + offset, length, memory->address + offset,
			       state->dmabuf, access);
	code = mr ? 0 : errno ? -errno : -EIO;
	if (!mr && may_be_peer(state))
		return register_address(memory, offset, length, pd, access, error);
	state->way = "ibv_reg_dmabuf_mr";
	if (!mr)
		dmabuf_refused(state, code, error);
	return mr;
}

static void gpu_read(const struct memory *memory, size_t offset, void *into, size_t length)
{
	struct gpu_memory *state = memory->state;

	if (state->row->kind->gpu->read(state->wish.index, into, memory->address + offset, length,
					&state->fault))
		memset(into, 0, length);
}

static void gpu_write(const struct memory *memory, size_t offset, const void *from, size_t length)
{
	struct gpu_memory *state = memory->state;

	state->row->kind->gpu->write(state->wish.index, memory->address + offset, from, length,
				     &state->fault);
}

static void gpu_clear(const struct memory *memory, size_t offset, size_t length)
{
	struct gpu_memory *state = memory->state;

	state->row->kind->gpu->clear(state->wish.index, memory->address + offset, length,
				     &state->fault);
}

static int gpu_copy_error(const struct memory *memory, struct error *error)
{
	const struct gpu_memory *state = memory->state;

	if (state->fault.code)
		error_set(error, state->fault.code, "%s", state->fault.text);
	return state->fault.code;
}

static void gpu_describe(const struct memory *memory, struct memory_facts *facts)
{
	const struct gpu_memory *state = memory->state;

	snprintf(facts->path, sizeof(facts->path), "%s", state->way ? state->way : "");
	snprintf(facts->owner, sizeof(facts->owner), "%s", state->gpu.name);
	snprintf(facts->driver, sizeof(facts->driver), "%s", state->gpu.driver);
	snprintf(facts->pcie, sizeof(facts->pcie), "%s", state->gpu.address);
}

/* Defines the functions of a kind that have no other way to know it. */
#define GPU_FUNCTIONS(name)                                                                \
	static int name##_parse(char detail[static MEMORY_TEXT], struct error *error)      \
	{                                                                                  \
		struct gpu_wish wish;                                                      \
		int code = parse(&memory_##name, detail, &wish, error);                    \
		memory_drop_zeros(detail);                                                 \
		return code;                                                               \
	}                                                                                  \
	static int name##_check(const struct memory_request *request, struct error *error) \
	{                                                                                  \
		const struct memory_kind *kind = &memory_##name;                           \
		struct gpu_wish wish;                                                      \
		int code = parse(kind, request->detail, &wish, error);                     \
		return code ? code : check(row_of(kind), &wish, error);                    \
	}

GPU_FUNCTIONS(cuda)
GPU_FUNCTIONS(cuda_managed)
GPU_FUNCTIONS(cuda_pinned)
GPU_FUNCTIONS(rocm)

/* The CPU reaches the GPU's own memory through a mapping only. */
static bool is_mapped(const char *detail)
{
	static const char path[] = "path=host-mapped";
	const char *found = detail ? strstr(detail, path) : NULL;

	return found && !found[sizeof(path) - 1];
}

#define GPU_KIND(kind_name, function, vendor)                                                   \
	.name = (kind_name), .parse = function##_parse, .check = function##_check,              \
	.allocate = gpu_allocate, .release = gpu_release, .register_region = gpu_register,      \
	.read = gpu_read, .write = gpu_write, .clear = gpu_clear, .copy_error = gpu_copy_error, \
	.describe = gpu_describe, .gpu = &(vendor), .is_kept = true

const struct memory_kind memory_cuda = {GPU_KIND("cuda", cuda, gpu_cuda), .is_polled = is_mapped};
const struct memory_kind memory_cuda_managed = {GPU_KIND("cuda-managed", cuda_managed, gpu_cuda)};
const struct memory_kind memory_cuda_pinned = {GPU_KIND("cuda-pinned", cuda_pinned, gpu_cuda)};
const struct memory_kind memory_rocm = {GPU_KIND("rocm", rocm, gpu_rocm), .is_polled = is_mapped};
