/* SPDX-License-Identifier: MIT */
#include "core/buffer.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A line of /proc/meminfo; 0 if it is not there. */
static size_t meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t length = strlen(name);
	unsigned long value = 0;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, name, length) && line[length] == ':' &&
		    sscanf(line + length + 1, "%lu", &value) == 1) // NOLINT(cert-err34-c)
			break;
	}
	fclose(file);
	return value;
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

static int map(struct buffer *buffer, size_t size, bool huge_pages, struct error *error)
{
	size_t page = huge_pages ? meminfo("Hugepagesize") * 1024 : (size_t)sysconf(_SC_PAGESIZE);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (huge_pages ? MAP_HUGETLB : 0);

	*buffer = (struct buffer){0};
	if (!page)
		return error_set(error, -EOPNOTSUPP, "this kernel has no huge pages");
	if (!size || size > SIZE_MAX - page)
		return error_set(error, -EINVAL, "a buffer of %zu bytes cannot be", size);
	buffer->page = page;
	buffer->mapped = (size + page - 1) / page * page;
	buffer->address = mmap(NULL, buffer->mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (buffer->address != MAP_FAILED)
		return 0;
	buffer->address = NULL;
	if (huge_pages && errno == ENOMEM && free_huge_pages() < buffer->mapped / page)
		return no_huge_pages(buffer->mapped, page, error);
	return error_set_errno(error, -errno, "no memory for a buffer of %zu bytes", size);
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

int buffer_open(struct buffer *buffer, size_t size, bool huge_pages, int numa_node,
		struct error *error)
{
	int code = map(buffer, size, huge_pages, error);

	if (!buffer->address)
		return code;
	prefer(buffer, numa_node);
	/* Pages come here, not as faults in the middle of a measurement. */
	memset(buffer->address, 0, buffer->mapped);
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

void buffer_close(struct buffer *buffer)
{
	if (buffer->address)
		munmap(buffer->address, buffer->mapped);
	*buffer = (struct buffer){0};
}
