/* SPDX-License-Identifier: MIT */
/* Huge pages, without falling back to another page size. */
#include "core/memory/huge.h"

#include <errno.h>
#include <linux/mman.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "core/base/free_memory.h"
#include "core/base/sysfs.h"
#include "core/memory/pages.h"

static const struct {
	const char *detail;
	size_t page;
	int shift; /* log2 of the page */
} sizes[] = {
	{"hugepages",     0,         0 }, /* the kernel's default size */
	{"hugepages=2M",  2U << 20,  21},
	{"hugepages=32M", 32U << 20, 25},
	{"hugepages=1G",  1U << 30,  30},
};

int huge_parse(char detail[static MEMORY_TEXT], struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
		if (memory_is_word(detail, sizes[i].detail))
			return 0;
	return error_set(error, -EINVAL, "has a detail that is not hugepages=2M, =32M or =1G");
}

/* Returns the row of the detail; NULL stands for the default size. */
static size_t row_of(const char *detail)
{
	for (size_t i = 0; detail && i < ARRAY_LENGTH(sizes); i++)
		if (!strcasecmp(sizes[i].detail, detail))
			return i;
	return 0;
}

size_t huge_page(const char *detail)
{
	size_t page = sizes[row_of(detail)].page;

	return page ? page : free_memory_info("", "Hugepagesize") * 1024;
}

#define POOL "/sys/kernel/mm/hugepages/hugepages-%zukB/"

/* Returns a counter of the pool of that page size, or 0. */
static size_t pool_count(size_t page, const char *name)
{
	int64_t count;
	bool is_known = sysfs_number("", &count, POOL "%s", page / 1024, name);

	return is_known && count > 0 ? (size_t)count : 0;
}

static size_t free_huge_pages(size_t page)
{
	size_t free = pool_count(page, "free_hugepages");
	size_t reserved = pool_count(page, "resv_hugepages");

	/* The counters are not read at the same time. */
	return free > reserved ? free - reserved : 0;
}

static int too_few_pages(const struct memory *memory, struct error *error)
{
	size_t page = memory->page;
	size_t wanted = memory->size / page;
	size_t free = free_huge_pages(page);
	size_t total = pool_count(page, "nr_hugepages") + wanted - free;

	if (page == free_memory_info("", "Hugepagesize") * 1024)
		return error_set(
			error, -ENOMEM,
			"need %zu huge pages of %zu KiB, %zu free; try 'sysctl vm.nr_hugepages=%zu'",
			wanted, page / 1024, free, total);
	return error_set(error, -ENOMEM,
			 "need %zu huge pages of %zu KiB, %zu free; try 'echo %zu > " POOL
			 "nr_hugepages'",
			 wanted, page / 1024, free, total, page / 1024);
}

/*
 * A control group is charged for huge pages when they are touched, not when they are
 * mapped, and kills a process over its limit.
 */
static int populate(const struct memory *memory, size_t size, struct error *error)
{
	if (!pages_populate(memory))
		return 0;
	return error_set(
		error, -ENOMEM,
		"no memory for a buffer of %zu bytes: the control group limits huge pages; see "
		"its hugetlb.*.max",
		size);
}

static int huge_check(const struct memory_request *request, struct error *error)
{
	size_t page = sizes[row_of(request->detail)].page;

	if (!free_memory_info("", "Hugepagesize"))
		return error_set(error, -EOPNOTSUPP, "this kernel has no huge pages");
	if (page && !sysfs_exists("", POOL, page / 1024))
		return error_set(error, -EOPNOTSUPP, "this kernel has no huge pages of %zu KiB",
				 page / 1024);
	return 0;
}

static int huge_allocate(struct memory *memory, const struct memory_request *request,
			 struct error *error)
{
	size_t page = huge_page(request->detail);
	int code = huge_check(request, error);

	if (!code)
		code = pages_measure(memory, request->size, page, error);
	if (code)
		return code;
	code = pages_map(memory,
			 MAP_HUGETLB | sizes[row_of(request->detail)].shift << MAP_HUGE_SHIFT,
			 request->numa_node);
	if (code == -ENOMEM && free_huge_pages(page) < memory->size / page)
		return too_few_pages(memory, error);
	if (code)
		return error_set_errno(error, code, "no memory for a buffer of %zu bytes",
				       request->size);
	code = populate(memory, request->size, error);
	if (!code)
		memory_clear(memory, 0, memory->size);
	return code;
}

const struct memory_kind memory_huge = {
	.name = "host",
	.check = huge_check,
	.allocate = huge_allocate,
	.release = pages_unmap,
	.register_region = pages_register,
	.is_kept = true,
};
