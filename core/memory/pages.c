/* SPDX-License-Identifier: MIT */
#include "core/memory/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/free_memory.h"
#include "core/verbs/verbs.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Hint for mmap: an address below all libraries. The kernel searches mappings from the
 * lowest address up, so the lookup of a buffer among the libraries, and with it the time of
 * kernel copies, would vary randomly. Each buffer gets an address above the previous one;
 * if that is taken, the kernel chooses another.
 */
#define LOWEST  ((uintptr_t)1 << 28)
#define HIGHEST ((uintptr_t)1 << 40)
#define SPACING ((uintptr_t)2 << 20) /* huge pages fit */

static void *choose_address(size_t size)
{
	static _Atomic uintptr_t next = LOWEST;
	uintptr_t length = size < HIGHEST ? (size + SPACING - 1) / SPACING * SPACING : HIGHEST;
	uintptr_t address = atomic_fetch_add(&next, length);

	if (address < HIGHEST)
		return (void *)address;
	/* Start over at LOWEST: the first mappings are probably gone by now. */
	atomic_store(&next, LOWEST + length);
	return (void *)LOWEST;
}

/* A buffer of this size is always allowed; a larger one leaves 1/RESERVED of the free memory. */
#define ALWAYS_ALLOWED (16UL << 20)
#define RESERVED       16

/*
 * Touch this much between updates of `promised`. Until an update, touched pages count
 * twice: as promised, and as used.
 */
#define TOUCHED_AT_ONCE (16UL << 20)

/* Memory that was promised to buffers of this process, which have not touched it yet. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t promised;

/* A preference only: memory of another node works, and a kernel without NUMA ignores it. */
static void prefer_node(const struct memory *memory, int node)
{
	unsigned long mask[16] = {0};
	const size_t bits = 8 * sizeof(mask[0]);

	if (node < 0 || (size_t)node >= sizeof(mask) * 8)
		return;
	mask[(size_t)node / bits] = 1UL << ((size_t)node % bits);
	syscall(SYS_mbind, memory->cpu, memory->size, MPOL_PREFERRED, mask, sizeof(mask) * 8 + 1,
		0);
}

int pages_measure(struct memory *memory, size_t size, size_t page, struct error *error)
{
	if (!size || size > SIZE_MAX - page)
		return error_set(error, -EINVAL, "invalid buffer size of %zu bytes", size);
	memory->page = page;
	memory->size = (size + page - 1) / page * page;
	return 0;
}

int pages_promise(struct memory *memory, size_t size, struct error *error)
{
	uint64_t available = UINT64_MAX;
	bool is_available;

	pthread_mutex_lock(&lock);
	if (size > ALWAYS_ALLOWED)
		available = free_memory_available("");
	if (available != UINT64_MAX)
		available -= available < promised ? available : promised;
	is_available = available == UINT64_MAX || size <= available - available / RESERVED;
	memory->promised = is_available ? memory->size : 0;
	promised += memory->promised;
	pthread_mutex_unlock(&lock);
	if (is_available)
		return 0;
	return error_set(error, -ENOMEM,
			 "no memory for a buffer of %zu bytes: this machine has %" PRIu64
			 " MiB left, a sixteenth of which is reserved",
			 size, available >> 20);
}

static void keep_promise(struct memory *memory, size_t size)
{
	if (!memory->promised)
		return;
	pthread_mutex_lock(&lock);
	promised -= size;
	pthread_mutex_unlock(&lock);
	memory->promised -= size;
}

void pages_touch(struct memory *memory)
{
	for (size_t i = 0; i < memory->size; i += TOUCHED_AT_ONCE) {
		size_t rest = memory->size - i;
		size_t size = rest < TOUCHED_AT_ONCE ? rest : TOUCHED_AT_ONCE;

		memset(memory->cpu + i, 0, size);
		keep_promise(memory, size);
	}
}

int pages_map(struct memory *memory, int flags, int numa_node)
{
	char *address;

	flags |= memory->file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	address = mmap(choose_address(memory->size), memory->size, PROT_READ | PROT_WRITE, flags,
		       memory->file ? memory->file : -1, 0);
	if (address == MAP_FAILED)
		return -errno;
	memory->cpu = address;
	memory->address = (uintptr_t)address;
	memory->numa_node = numa_node;
	prefer_node(memory, numa_node);
	return 0;
}

int pages_populate(const struct memory *memory)
{
	int code;

	do {
		code = madvise(memory->cpu, memory->size, MADV_POPULATE_WRITE) ? -errno : 0;
	} while (code == -EINTR);
	return code == -EINVAL ? 0 : code;
}

int pages_fill_file(int file, uint64_t offset, size_t size)
{
	int code;

	do {
		code = posix_fallocate(file, (off_t)offset, (off_t)size);
	} while (code == EINTR);
	/* Some file systems cannot allocate space in advance. */
	return code == EINVAL || code == EOPNOTSUPP ? 0 : -code;
}

int pages_no_room(const char *path, size_t size, int code, struct error *error)
{
	error_set_errno(error, code, "no room for %zu bytes in %s", size, path);
	error_append(error, "free some, or use a smaller --size or --buffer");
	return code;
}

int pages_keep_file(struct memory *memory, int file, uint64_t offset, const char *path,
		    struct error *error)
{
	/* Unlike others, locks of an open file description also exclude this process. */
	struct flock range = {.l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)offset,
			      .l_len = (off_t)memory->size};

	/* 0 stands for no file. */
	memory->file = file ? file : fcntl(0, F_DUPFD_CLOEXEC, 1);
	if (!file)
		close(0);
	if (memory->file < 0) {
		memory->file = 0;
		return error_set_errno(error, -errno, "cannot keep %s open", path);
	}
	if (!fcntl(memory->file, F_OFD_SETLK, &range) || (errno != EAGAIN && errno != EACCES))
		return 0;
	return error_set(error, -EBUSY,
			 "bytes %" PRIu64 " to %" PRIu64
			 " of %s are already in use by another buffer; use another file or offset",
			 offset, offset + memory->size - 1, path);
}

size_t pages_of_file(int file)
{
	struct statfs system;

	if (!fstatfs(file, &system) && system.f_type == HUGETLBFS_MAGIC && system.f_bsize > 0)
		return (size_t)system.f_bsize;
	return (size_t)sysconf(_SC_PAGESIZE);
}

void pages_unmap(struct memory *memory)
{
	if (memory->cpu)
		munmap(memory->cpu, memory->size);
	if (memory->file)
		close(memory->file);
	keep_promise(memory, memory->promised);
}

struct ibv_mr *pages_register(const struct memory *memory, size_t offset, size_t length,
			      struct ibv_pd *pd, int access, struct error *error)
{
	return verbs_register(pd, memory->cpu + offset, length, access, error);
}
