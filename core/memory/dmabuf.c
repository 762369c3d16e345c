/* SPDX-License-Identifier: MIT */
/*
 * Memory that the device reaches by a dma-buf: one made by /dev/udmabuf from a memfd, or by a heap
 * of /dev/dma_heap. The software device accepts the descriptor of a memfd or file as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sysfs.h"
#include "core/memory/pages.h"
#include "core/verbs/device_kind.h"
#include "core/verbs/verbs.h"

#define UDMABUF       "/dev/udmabuf"
#define UDMABUF_LIMIT "/sys/module/udmabuf/parameters/size_limit_mb"

static const char *const words[] = {"udmabuf", "memfd"};

static bool is_udmabuf(const char *detail)
{
	return !detail || !detail[0] || !strcasecmp(detail, words[0]);
}

static bool is_memfd(const char *detail)
{
	return detail && !strcasecmp(detail, words[1]);
}

static int dmabuf_parse(char detail[static MEMORY_TEXT], struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		if (memory_is_word(detail, words[i]))
			return 0;
	if (detail[0] == '/')
		return 0;
	return error_set(error, -EINVAL,
			 "has an unknown source; use udmabuf, memfd or an absolute path");
}

static const char *dmabuf_name(const char *detail)
{
	return is_udmabuf(detail) ? words[0] : detail;
}

static bool dmabuf_path(const char *detail, char *path)
{
	snprintf(path, MEMORY_TEXT, "%s", detail);
	return detail[0] == '/';
}

static bool is_software(struct ibv_context *device)
{
	struct ibv_device_attr attr;

	return !verbs_result(ibv_query_device(device, &attr)) && device_kind_is_soft(&attr);
}

/* Opens a heap, or a file of a software device. Returns the descriptor. */
static int open_path(const char *detail, struct error *error)
{
	char path[MEMORY_TEXT];
	int file;

	dmabuf_path(detail, path);
	file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return file >= 0 ? file : error_set_errno(error, -errno, "cannot open %s", path);
}

/* Measures the memory in the file's pages. */
static int measure_file(struct memory *memory, size_t size, int file, const char *path,
			struct error *error)
{
	struct stat stat;
	int code = fstat(file, &stat) ? -errno : 0;

	if (code)
		return error_set_errno(error, code, "cannot open %s", path);
	code = pages_measure(memory, size, pages_of_file(file), error);
	if (code || (size_t)stat.st_size >= memory->size)
		return code;
	return error_set(error, -EOPNOTSUPP,
			 "%s is smaller than the buffer of %zu bytes; try 'fallocate -l %zu %s'",
			 path, memory->size, memory->size, path);
}

static int check_path(const struct memory_request *request, struct error *error)
{
	struct memory wanted = {0};
	struct stat stat;
	int file = open_path(request->detail, error);
	int code = file < 0 ? file : 0;

	if (code)
		return code;
	if (fstat(file, &stat))
		code = error_set_errno(error, -errno, "cannot open %s", request->detail);
	else if (!S_ISREG(stat.st_mode) && !S_ISCHR(stat.st_mode))
		code = error_set(error, -EINVAL, "%s is neither a heap nor a file",
				 request->detail);
	else if (S_ISREG(stat.st_mode) && request->device && !is_software(request->device))
		code = error_set(error, -EOPNOTSUPP,
				 "%s is not a heap of /dev/dma_heap; only soft0 takes files",
				 request->detail);
	else if (S_ISREG(stat.st_mode) && request->size)
		code = measure_file(&wanted, request->size, file, request->detail, error);
	close(file);
	return code;
}

/* The module rejects a larger buffer with EINVAL. */
static int check_limit(size_t size, struct error *error)
{
	size_t needed_mb = (size >> 20) + !!(size % (1 << 20));
	int64_t most_mb;

	if (!sysfs_number("", &most_mb, UDMABUF_LIMIT) || most_mb < 0 ||
	    needed_mb <= (size_t)most_mb)
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "the buffer needs %zu MiB, but udmabuf allows %" PRId64
			 "; try 'echo %zu > " UDMABUF_LIMIT "', or a smaller --size or --buffer",
			 needed_mb, most_mb, needed_mb);
}

static int check_udmabuf(size_t size, struct error *error)
{
	if (!access(UDMABUF, R_OK | W_OK))
		return check_limit(size, error);
	if (errno == ENOENT)
		return error_set(error, -EOPNOTSUPP,
				 "this kernel has no " UDMABUF
				 "; try 'modprobe udmabuf', or dmabuf:memfd on soft0");
	return error_set_errno(error, -errno, "cannot open " UDMABUF);
}

static int dmabuf_check(const struct memory_request *request, struct error *error)
{
	if (is_udmabuf(request->detail))
		return check_udmabuf(request->size, error);
	if (!is_memfd(request->detail))
		return check_path(request, error);
	if (request->device && !is_software(request->device))
		return error_set(error, -EOPNOTSUPP,
				 "only soft0 takes a memfd for a dma-buf; use dmabuf:udmabuf");
	return 0;
}

/* Returns a sealed memfd of that size, or a negative errno. */
static int make_memfd(size_t size)
{
	int file = memfd_create("verbmark", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int code;

	if (file < 0)
		return -errno;
	if (!ftruncate(file, (off_t)size) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		return file;
	code = -errno;
	close(file);
	return code;
}

static int make_udmabuf(size_t size)
{
	int memfd = make_memfd(size);
	int device;
	int made;

	if (memfd < 0)
		return memfd;
	device = open(UDMABUF, O_RDWR | O_CLOEXEC);
	made = device < 0 ? -errno : 0;
	if (!made) {
		struct udmabuf_create create = {
			.memfd = (__u32)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = size};

		made = ioctl(device, UDMABUF_CREATE, &create);
		made = made < 0 ? -errno : made;
		close(device);
	}
	close(memfd);
	return made;
}

static int take_from_heap(int heap, size_t size)
{
	struct dma_heap_allocation_data data = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};

	return ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) ? -errno : (int)data.fd;
}

/* Measures the memory and allocates its space, as the file may be sparse. */
static int fill_file(struct memory *memory, size_t size, int file, struct error *error)
{
	int code = measure_file(memory, size, file, memory->detail, error);

	if (code)
		return code;
	code = pages_fill_file(file, 0, memory->size);
	return code ? pages_no_room(memory->detail, memory->size, code, error) : 0;
}

/* Measures memory that this machine has to provide. */
static int measure(struct memory *memory, size_t size, struct error *error)
{
	int code = pages_measure(memory, size, (size_t)sysconf(_SC_PAGESIZE), error);

	return code ? code : pages_promise(memory, size, error);
}

/* Returns the descriptor of a heap's buffer, or of the file itself. */
static int take_path(struct memory *memory, size_t size, struct error *error)
{
	struct stat stat;
	int file = open_path(memory->detail, error);
	int made;

	if (file < 0)
		return file;
	if (fstat(file, &stat)) {
		made = -errno;
	} else if (S_ISREG(stat.st_mode)) {
		made = fill_file(memory, size, file, error);
		if (!made)
			return file;
	} else {
		made = measure(memory, size, error);
		if (!made)
			made = take_from_heap(file, memory->size);
	}
	close(file);
	return made;
}

/* Measures the memory and returns the descriptor to register. */
static int make(struct memory *memory, size_t size, struct error *error)
{
	int code;

	if (!is_udmabuf(memory->detail) && !is_memfd(memory->detail))
		return take_path(memory, size, error);
	code = measure(memory, size, error);
	if (code)
		return code;
	return is_memfd(memory->detail) ? make_memfd(memory->size) : make_udmabuf(memory->size);
}

static int dmabuf_allocate(struct memory *memory, const struct memory_request *request,
			   struct error *error)
{
	int code = dmabuf_check(request, error);
	int file;

	if (code)
		return code;
	file = make(memory, request->size, error);
	if (file < 0)
		return error_set_errno(error, file, "cannot make a dma-buf of %zu bytes",
				       memory->size);
	code = pages_keep_file(memory, file, 0, dmabuf_name(memory->detail), error);
	if (code)
		return code;
	code = pages_map(memory, 0, request->numa_node);
	if (code)
		return error_set_errno(error, code, "cannot map the dma-buf");
	code = pages_populate(memory);
	if (code)
		return pages_no_room(dmabuf_name(memory->detail), memory->size, code, error);
	pages_touch(memory);
	return 0;
}

static struct ibv_mr *dmabuf_register(const struct memory *memory, size_t offset, size_t length,
				      struct ibv_pd *pd, int access, struct error *error)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(pd, offset, length, memory->address + offset,
					      memory->file, access);
	int code = verbs_null();

	if (mr)
		return mr;
	if (code == -EOPNOTSUPP)
		error_set(error, code,
			  "the device or the kernel does not support dma-bufs "
			  "(ibv_reg_dmabuf_mr)");
	else
		verbs_memory_error(error, code, "register a dma-buf");
	return NULL;
}

static void dmabuf_describe(const struct memory *memory, struct memory_facts *facts)
{
	snprintf(facts->path, sizeof(facts->path), "ibv_reg_dmabuf_mr");
	snprintf(facts->owner, sizeof(facts->owner), "%.63s", dmabuf_name(memory->detail));
}

const struct memory_kind memory_dmabuf = {
	.name = "dmabuf",
	.detail = "udmabuf",
	.parse = dmabuf_parse,
	.path = dmabuf_path,
	.check = dmabuf_check,
	.allocate = dmabuf_allocate,
	.release = pages_unmap,
	.register_region = dmabuf_register,
	.describe = dmabuf_describe,
};
