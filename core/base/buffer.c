/* SPDX-License-Identifier: MIT */
#include "core/base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/free_memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static size_t meminfo(const char *name)
{
	return free_memory_info("", name);
}

static size_t free_huge_pages(void)
{
	return meminfo("HugePages_Free") - meminfo("HugePages_Rsvd");
}

static int no_huge_pages(size_t mapped, size_t page, struct error *error)
{
	size_t wanted = mapped / page;
	size_t there = free_huge_pages();

	return error_set(error, -ENOMEM,
			 "%zu huge pages of %zu KiB wanted, %zu free; sysctl vm.nr_hugepages=%zu",
			 wanted, page / 1024, there, meminfo("HugePages_Total") + wanted - there);
}

/* So much is there whatever else takes some; and a part of what there is stays. */
#define UNASKED (16UL << 20)
#define KEPT    16

/*
 * What was found to be there and is not touched yet, by all buffers of this process that are
 * being made: it is there for nobody else.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t promised;

/* At once, so that meanwhile it is counted twice at the most, and that briefly. */
#define TOUCHED_AT_ONCE (16UL << 20)

/* Pages that are touched and not there have somebody killed. */
static int promise(const struct buffer *buffer, size_t size, struct error *error)
{
	uint64_t available = UINT64_MAX;
	bool is_there;

	pthread_mutex_lock(&lock);
	if (size > UNASKED)
		available = free_memory_available("");
	if (available != UINT64_MAX)
		available -= available < promised ? available : promised;
	is_there = available == UINT64_MAX || size <= available - available / KEPT;
	promised += is_there ? buffer->mapped : 0;
	pthread_mutex_unlock(&lock);
	if (is_there)
		return 0;
	return error_set(error, -ENOMEM,
			 "no memory for a buffer of %zu bytes: this machine has %" PRIu64
			 " MiB left, of which a sixteenth is kept",
			 size, available >> 20);
}

static void keep_promise(size_t size)
{
	pthread_mutex_lock(&lock);
	promised -= size;
	pthread_mutex_unlock(&lock);
}

/* What may be mapped by others is never shorter than they believe. */
static int share(size_t size)
{
	int file = memfd_create("verbmark", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file <= 0)
		return 0;
	if (!ftruncate(file, (off_t)size) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		return file;
	close(file);
	return 0;
}

/*
 * A hint: below all libraries, where the kernel, which looks for a mapping from the lowest on,
 * has it sooner. Among them it is by chance sooner or later, and so would be what is copied by
 * the kernel. Each buffer has a place behind the one before, or the kernel finds it another.
 */
#define LOWEST  ((uintptr_t)1 << 28)
#define HIGHEST ((uintptr_t)1 << 40)
#define APART   ((uintptr_t)2 << 20) /* and huge pages fit */

static void *find_place(size_t size)
{
	static _Atomic uintptr_t next = LOWEST;
	uintptr_t length = size < HIGHEST ? (size + APART - 1) / APART * APART : HIGHEST;
	uintptr_t place = atomic_fetch_add(&next, length);

	if (place < HIGHEST)
		return (void *)place;
	/* Those of long ago are gone. */
	atomic_store(&next, LOWEST + length);
	return (void *)LOWEST;
}

static int map(struct buffer *buffer, size_t size, enum buffer_pages pages, struct error *error)
{
	bool is_huge = pages == BUFFER_HUGE;
	size_t page = is_huge ? meminfo("Hugepagesize") * 1024 : (size_t)sysconf(_SC_PAGESIZE);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (is_huge ? MAP_HUGETLB : 0);
	int code;

	*buffer = (struct buffer){.pages = pages};
	if (!page)
		return error_set(error, -EOPNOTSUPP, "this kernel has no huge pages");
	if (!size || size > SIZE_MAX - page)
		return error_set(error, -EINVAL, "a buffer of %zu bytes cannot be", size);
	buffer->page = page;
	buffer->mapped = (size + page - 1) / page * page;
	if (!is_huge && promise(buffer, size, error))
		return error->code;
	if (pages == BUFFER_SHARED)
		buffer->file = share(buffer->mapped);
	if (buffer->file)
		flags = MAP_SHARED;
	buffer->address = mmap(find_place(buffer->mapped), buffer->mapped, PROT_READ | PROT_WRITE,
			       flags, buffer->file ? buffer->file : -1, 0);
	if (buffer->address != MAP_FAILED)
		return 0;
	code = -errno;
	buffer->address = NULL;
	if (!is_huge)
		keep_promise(buffer->mapped);
	if (is_huge && code == -ENOMEM && free_huge_pages() < buffer->mapped / page)
		return no_huge_pages(buffer->mapped, page, error);
	return error_set_errno(error, code, "no memory for a buffer of %zu bytes", size);
}

/*
 * A preference: where the node is full, memory of another one still works, and a
 * kernel without NUMA has nothing to prefer.
 */
static void prefer(const struct buffer *buffer, int node)
{
	unsigned long mask[16] = {0};
	const size_t bits = 8 * sizeof(mask[0]);

	if (node < 0 || (size_t)node >= sizeof(mask) * 8)
		return;
	mask[(size_t)node / bits] = 1UL << ((size_t)node % bits);
	syscall(SYS_mbind, buffer->address, buffer->mapped, MPOL_PREFERRED, mask,
		sizeof(mask) * 8 + 1, 0);
}

/*
 * A control group is asked for huge pages when they are touched, not when they are mapped,
 * and who is over its limit is killed. Here it is told. Kernels before 5.14 cannot.
 */
static int populate(const struct buffer *buffer, size_t size, struct error *error)
{
	if (!madvise(buffer->address, buffer->mapped, MADV_POPULATE_WRITE) || errno == EINVAL)
		return 0;
	return error_set(error, -ENOMEM,
			 "no memory for a buffer of %zu bytes: huge pages are limited here, see "
			 "hugetlb.*.max of the control group",
			 size);
}

/* Pages come here, not as faults in the middle of a measurement. */
static void touch(const struct buffer *buffer)
{
	for (size_t i = 0; i < buffer->mapped; i += TOUCHED_AT_ONCE) {
		size_t rest = buffer->mapped - i;
		size_t size = rest < TOUCHED_AT_ONCE ? rest : TOUCHED_AT_ONCE;

		memset(buffer->address + i, 0, size);
		if (buffer->pages != BUFFER_HUGE)
			keep_promise(size);
	}
}

int buffer_open(struct buffer *buffer, size_t size, enum buffer_pages pages, int numa_node,
		struct error *error)
{
	int code = map(buffer, size, pages, error);

	if (!buffer->address) {
		buffer_close(buffer);
		return code;
	}
	buffer->numa_node = numa_node;
	prefer(buffer, numa_node);
	if (pages == BUFFER_HUGE && populate(buffer, size, error)) {
		buffer_close(buffer);
		return error->code;
	}
	touch(buffer);
	return 0;
}

static int node_of(const char *address)
{
	int node = -1;

	return syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR)
		       ? -1
		       : node;
}

int buffer_node(const struct buffer *buffer)
{
	int node;

	if (!buffer->address)
		return -1;
	node = node_of(buffer->address);
	return node == node_of(buffer->address + buffer->mapped - 1) ? node : -1;
}

/* Whether its pages are where new ones would be asked to be: near this thread, or on a node. */
static bool is_in_place(const struct buffer *buffer)
{
	unsigned int node = (unsigned int)buffer->numa_node;

	if (node_of(buffer->address) < 0)
		return true; /* nothing is known of nodes here */
	if (buffer->numa_node < 0 && getcpu(NULL, &node))
		return false;
	return buffer_node(buffer) == (int)node;
}

static bool is_as_wanted(const struct buffer *buffer, size_t size, enum buffer_pages pages,
			 int numa_node)
{
	return buffer->address && buffer->pages == pages && buffer->numa_node == numa_node &&
	       size <= buffer->mapped && buffer->mapped - size < buffer->page &&
	       is_in_place(buffer);
}

int buffer_take(struct buffer *buffer, struct buffer *spare, size_t size, enum buffer_pages pages,
		int numa_node, struct error *error)
{
	if (!is_as_wanted(spare, size, pages, numa_node)) {
		/* What it has may be what the other needs. */
		buffer_close(spare);
		return buffer_open(buffer, size, pages, numa_node, error);
	}
	*buffer = *spare;
	*spare = (struct buffer){0};
	memset(buffer->address, 0, buffer->mapped);
	return 0;
}

void buffer_keep(struct buffer *buffer, struct buffer *spare)
{
	buffer_close(spare);
	*spare = *buffer;
	*buffer = (struct buffer){0};
}

void buffer_close(struct buffer *buffer)
{
	if (buffer->address)
		munmap(buffer->address, buffer->mapped);
	if (buffer->file)
		close(buffer->file);
	*buffer = (struct buffer){0};
}
