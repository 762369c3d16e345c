/* SPDX-License-Identifier: MIT */
/* Huge pages, without falling back to another page size. */
#include <errno.h>
#include <sys/mman.h>

#include "core/base/free_memory.h"
#include "core/memory/pages.h"

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

static int too_few_pages(const struct memory *memory, struct error *error)
{
	size_t wanted = memory->size / memory->page;
	size_t free = free_huge_pages();

	return error_set(
		error, -ENOMEM,
		"need %zu huge pages of %zu KiB, %zu free; try 'sysctl vm.nr_hugepages=%zu'",
		wanted, memory->page / 1024, free, meminfo("HugePages_Total") + wanted - free);
}

/*
 * A control group is charged for huge pages when they are touched, not when they are
 * mapped, and kills a process over its limit. Populating reports an error instead. Needs
 * Linux 5.14.
 */
static int populate(const struct memory *memory, size_t size, struct error *error)
{
	if (!madvise(memory->cpu, memory->size, MADV_POPULATE_WRITE) || errno == EINVAL)
		return 0;
	return error_set(
		error, -ENOMEM,
		"no memory for a buffer of %zu bytes: the control group limits huge pages; see "
		"its hugetlb.*.max",
		size);
}

static int huge_allocate(struct memory *memory, size_t size, int numa_node, struct error *error)
{
	size_t page = meminfo("Hugepagesize") * 1024;
	int code;

	if (!page)
		return error_set(error, -EOPNOTSUPP, "this kernel has no huge pages");
	code = pages_measure(memory, size, page, error);
	if (code)
		return code;
	code = pages_map(memory, MAP_HUGETLB, numa_node);
	if (code == -ENOMEM && free_huge_pages() < memory->size / page)
		return too_few_pages(memory, error);
	if (code)
		return error_set_errno(error, code, "no memory for a buffer of %zu bytes", size);
	code = populate(memory, size, error);
	if (!code)
		memory_clear(memory, 0, memory->size);
	return code;
}

const struct memory_kind memory_huge = {
	.allocate = huge_allocate,
	.release = pages_unmap,
	.register_region = pages_register,
};
