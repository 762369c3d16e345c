/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/memory/memory.h"
#include "core/test/lib/check.h"
#include "core/test/lib/hidden.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Simulates huge pages with ordinary ones; populating them fails with this errno. 0: off. */
static int populate_errno;

/* Simulated available memory; 0: the real value. */
static uint64_t left;

uint64_t __real_free_memory_available(const char *root);
uint64_t __wrap_free_memory_available(const char *root);
uint64_t __wrap_free_memory_available(const char *root)
{
	return left ? left : __real_free_memory_available(root);
}

static bool is_full; /* mmap fails */

/* Runs between the check of available memory and the first touch, like another thread. */
static void (*meanwhile)(void);

void *__real_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (populate_errno)
		flags &= ~MAP_HUGETLB;
	if (meanwhile) {
		void (*other)(void) = meanwhile;

		meanwhile = NULL;
		other();
	}
	if (is_full) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(address, length, protection, flags, fd, offset);
}

int __real_madvise(void *address, size_t length, int advice);
int __wrap_madvise(void *address, size_t length, int advice);
int __wrap_madvise(void *address, size_t length, int advice)
{
	if (!populate_errno || advice != MADV_POPULATE_WRITE)
		return __real_madvise(address, length, advice);
	errno = populate_errno;
	return -1;
}

/* Simulates a file system with pages of this size; 0: the real one. */
static size_t file_page;

int __real_fstatfs64(int file, struct statfs *system);
int __wrap_fstatfs64(int file, struct statfs *system);
int __wrap_fstatfs64(int file, struct statfs *system)
{
	int result = __real_fstatfs64(file, system);

	if (!file_page)
		return result;
	system->f_type = HUGETLBFS_MAGIC;
	system->f_bsize = (__typeof__(system->f_bsize))file_page;
	return result;
}

/* Returns a value of /proc/meminfo, or -1. */
static long meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t length = strlen(name);
	long value = -1;
	char line[128];

	assert_non_null(file);
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			value = strtol(line + length + 1, NULL, 10);
	fclose(file);
	return value;
}

static void test_whole_zeroed_pages(void **unused)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t sizes[] = {1, page - 1, page, page + 1, 10 * page, (1 << 20) + 1};

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct memory buffer;
		struct error error = {0};
		unsigned char present[1 + (1 << 20) / 4096];

		assert_int_equal(
			memory_open(&buffer, &memory_host,
				    &(struct memory_request){.size = sizes[i], .numa_node = -1},
				    &error),
			0);
		assert_int_equal((uintptr_t)buffer.cpu % page, 0);
		assert_int_equal(buffer.size, (sizes[i] + page - 1) / page * page);
		for (size_t j = 0; j < buffer.size; j++)
			assert_int_equal(buffer.cpu[j], 0);
		memset(buffer.cpu, 0xa5, buffer.size);
		/* All pages are present: none is left to fault in later. */
		assert_int_equal(mincore(buffer.cpu, buffer.size, present), 0);
		for (size_t j = 0; j < buffer.size / page; j++)
			assert_true(present[j] & 1);
		memory_close(&buffer);
		assert_null(buffer.cpu);
		memory_close(&buffer);
	}
}

/* The file shares its contents with the buffer and cannot be truncated. */
static void test_shared_pages(void **unused)
{
	struct memory buffer;
	struct error error = {0};
	char byte;

	assert_int_equal(memory_open(&buffer, &memory_shared,
				     &(struct memory_request){.size = 5000, .numa_node = -1},
				     &error),
			 0);
	assert_true(buffer.file > 0);
	assert_int_equal(buffer.size, 2 * sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < buffer.size; i++)
		assert_int_equal(buffer.cpu[i], 0);
	buffer.cpu[4999] = 'x';
	assert_int_equal(pread(buffer.file, &byte, 1, 4999), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(ftruncate(buffer.file, 4096), -1);
	memory_close(&buffer);
	assert_null(buffer.cpu);
	assert_int_equal(buffer.file, 0);
}

/* Buffers are below the libraries, where the kernel finds them faster. */
static void test_buffers_are_below_libraries(void **unused)
{
	const struct memory_kind *const kinds[] = {&memory_host, &memory_shared};
	char *other = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memory buffers[4];
	struct error error = {0};

	assert_ptr_not_equal(other, MAP_FAILED);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_LENGTH(buffers); i++) {
			assert_int_equal(memory_open(&buffers[i], kinds[i % 2],
						     &(struct memory_request){.size = (3 << 20) + 1,
									      .numa_node = -1},
						     &error),
					 0);
			assert_true(buffers[i].cpu < other);
			for (size_t j = 0; j < i; j++)
				assert_ptr_not_equal(buffers[i].cpu, buffers[j].cpu);
		}
		for (size_t i = 0; i < ARRAY_LENGTH(buffers); i++)
			memory_close(&buffers[i]);
	}
	munmap(other, 4096);
}

static struct memory taken(struct memory *spare, size_t size, const struct memory_kind *kind,
			   int node)
{
	struct memory buffer;
	struct error error = {0};

	assert_int_equal(memory_take(&buffer, spare, kind,
				     &(struct memory_request){.size = size, .numa_node = node},
				     &error),
			 0);
	assert_null(spare->cpu);
	for (size_t i = 0; i < buffer.size; i++)
		assert_int_equal(buffer.cpu[i], 0);
	memset(buffer.cpu, 0xa5, buffer.size);
	return buffer;
}

/* A suitable spare buffer is reused with the same pages, zeroed. */
static void test_spare(void **unused)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct memory spare = {0};
	struct memory buffer = taken(&spare, 5 * page, &memory_host, -1);
	struct memory other = {0};
	const char *address = buffer.cpu;
	unsigned char present[5];

	memory_keep(&buffer, &spare);
	assert_null(buffer.cpu);
	assert_ptr_equal(spare.cpu, address);
	buffer = taken(&spare, 4 * page + 1, &memory_host, -1);
	assert_ptr_equal(buffer.cpu, address);
	/* A kept buffer replaces the previous spare one. */
	other = taken(&spare, page, &memory_host, -1);
	memory_keep(&buffer, &spare);
	memory_keep(&other, &spare);
	assert_int_equal(spare.size, page);
	assert_int_equal(mincore((void *)(uintptr_t)address, 5 * page, present), -1);
	assert_int_equal(errno, ENOMEM);
	memory_close(&spare);
}

static void test_unsuitable_spare_memory(void **unused)
{
	static const struct {
		size_t pages;
		const struct memory_kind *kind;
		int node;
	} rows[] = {
		{4, &memory_host,   -1},
		{6, &memory_host,   -1},
		{5, &memory_shared, -1},
		{5, &memory_host,   0 },
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct memory spare = {0};
		struct memory buffer = taken(&spare, 5 * page, &memory_host, -1);
		struct error error = {0};

		memory_keep(&buffer, &spare);
		buffer = taken(&spare, rows[i].pages * page, rows[i].kind, rows[i].node);
		assert_int_equal(buffer.size, rows[i].pages * page);
		assert_int_equal(buffer.file > 0, rows[i].kind == &memory_shared);
		assert_int_equal(buffer.numa_node, rows[i].node);
		/* The spare memory is released even if allocation fails. */
		memory_keep(&buffer, &spare);
		assert_int_not_equal(
			memory_take(&buffer, &spare, &memory_host,
				    &(struct memory_request){.size = SIZE_MAX, .numa_node = -1},
				    &error),
			0);
		assert_null(spare.cpu);
	}
}

static void test_absurd_sizes(void **unused)
{
	static const size_t sizes[] = {
		0, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4095, SIZE_MAX / 2, 1UL << 55};

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct memory buffer = {0};
		struct error error = {0};
		char number[32];

		assert_true(memory_open(&buffer, &memory_host,
					&(struct memory_request){.size = sizes[i], .numa_node = -1},
					&error) < 0);
		assert_true(error.code < 0);
		snprintf(number, sizeof(number), "%zu", sizes[i]);
		assert_contains(error.text, number);
		assert_null(buffer.cpu);
		memory_close(&buffer);
	}
}

/* Kinds whose pages this machine provides. */
static const struct {
	const struct memory_kind *kind;
	const char *detail;
} of_machine[] = {
	{&memory_host,   NULL      },
        {&memory_odp,    NULL      },
        {&memory_odp,    "warm"    },
	{&memory_odp,    "prefetch"},
        {&memory_dmabuf, "memfd"   },
};

/* The allocation fails before any page is touched, which could kill a process. */
static void test_more_than_available(void **unused)
{
	size_t available = (size_t)meminfo("MemAvailable") * 1024;

	for (size_t i = 0; i < ARRAY_LENGTH(of_machine); i++) {
		const struct memory_request request = {.size = available + ((size_t)1 << 30),
						       .numa_node = -1,
						       .detail = of_machine[i].detail};
		struct memory buffer = {0};
		struct error error = {0};

		assert_int_equal(memory_open(&buffer, of_machine[i].kind, &request, &error),
				 -ENOMEM);
		assert_contains(error.text, " MiB left, a sixteenth of which is reserved");
		assert_null(buffer.cpu);
	}
}

#define PART (40UL << 20)

static struct memory second;
static int second_code;

static void open_second(void)
{
	struct error error = {0};

	second_code = memory_open(&second, &memory_host,
				  &(struct memory_request){.size = PART, .numa_node = -1}, &error);
	if (second_code)
		assert_contains(error.text, "this machine has 24 MiB left");
}

/* A second buffer cannot use memory that the first one has reserved and not yet touched. */
static void test_concurrent_allocations(void **unused)
{
	struct memory first;
	struct error error = {0};

	left = PART + (24 << 20);
	for (int i = 0; i < 3; i++) {
		meanwhile = open_second;
		assert_int_equal(
			memory_open(&first, &memory_host,
				    &(struct memory_request){.size = PART, .numa_node = -1},
				    &error),
			0);
		assert_int_equal(second_code, -ENOMEM);
		/* Once touched, the memory is included in the available memory. */
		open_second();
		assert_int_equal(second_code, 0);
		memory_close(&second);
		memory_close(&first);
	}
	left = 0;
}

/* Pages that the device touches later are reserved until the memory is closed. */
static void test_cold_pages(void **unused)
{
	struct memory cold;
	struct error error = {0};

	left = PART + (24 << 20);
	assert_int_equal(memory_open(&cold, &memory_odp,
				     &(struct memory_request){.size = PART, .numa_node = -1},
				     &error),
			 0);
	open_second();
	assert_int_equal(second_code, -ENOMEM);
	memory_close(&cold);
	open_second();
	assert_int_equal(second_code, 0);
	memory_close(&second);
	left = 0;
}

/* A failed mapping releases its reservation. */
static void test_no_mapping(void **unused)
{
	left = PART + (24 << 20);
	for (size_t i = 0; i < ARRAY_LENGTH(of_machine); i++) {
		const struct memory_request request = {
			.size = PART, .numa_node = -1, .detail = of_machine[i].detail};
		struct memory buffer;
		struct error error = {0};

		is_full = true;
		assert_int_equal(memory_open(&buffer, of_machine[i].kind, &request, &error),
				 -ENOMEM);
		is_full = false;
		open_second();
		assert_int_equal(second_code, 0);
		memory_close(&second);
	}
	left = 0;
}

/* A file of huge pages is mapped in whole pages of its own; munmap rejects other lengths. */
static void test_files_of_huge_pages(void **unused)
{
	static const struct memory_kind *const kinds[] = {&memory_file, &memory_dmabuf};
	char path[] = "/tmp/verbmark-memory-XXXXXX";
	int file = mkstemp(path);

	assert_int_equal(ftruncate(file, 4 << 20), 0);
	file_page = 2 << 20;
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		const struct memory_request request = {
			.size = 5000, .numa_node = -1, .detail = path};
		struct memory buffer;
		struct error error = {0};

		assert_int_equal(memory_open(&buffer, kinds[i], &request, &error), 0);
		assert_int_equal(buffer.size, 2 << 20);
		memory_close(&buffer);
	}
	file_page = 0;
	close(file);
	unlink(path);
}

static void test_numa_nodes(void **unused)
{
	/* Node 0 always exists; the others, even invalid ones, are only preferences. */
	static const int nodes[] = {-1, 0, 1, 63, 64, 1023, 1024, 1 << 30};

	for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++) {
		struct memory buffer;
		struct error error = {0};

		assert_int_equal(
			memory_open(&buffer, &memory_host,
				    &(struct memory_request){.size = 8192, .numa_node = nodes[i]},
				    &error),
			0);
		buffer.cpu[8191] = 1;
		memory_close(&buffer);
	}
}

/* The error names the command that fixes it. */
static void test_too_few_huge_pages(void **unused)
{
	long page = meminfo("Hugepagesize");
	long total = meminfo("HugePages_Total");
	long there = meminfo("HugePages_Free") - meminfo("HugePages_Rsvd");
	struct memory buffer = {0};
	struct error error = {0};
	char wanted[160];

	if (page <= 0) {
		assert_int_equal(memory_open(&buffer, &memory_huge,
					     &(struct memory_request){.size = 1, .numa_node = -1},
					     &error),
				 -EOPNOTSUPP);
		assert_contains(error.text, "no huge pages");
		return;
	}
	assert_int_equal(memory_open(&buffer, &memory_huge,
				     &(struct memory_request){
					     .size = ((size_t)there + 3) * (size_t)page * 1024 - 1,
					     .numa_node = -1},
				     &error),
			 -ENOMEM);
	snprintf(wanted, sizeof(wanted),
		 "need %ld huge pages of %ld KiB, %ld free; try 'sysctl vm.nr_hugepages=%ld'",
		 there + 3, page, there, total + 3);
	assert_string_equal(error.text, wanted);
	assert_null(buffer.cpu);
}

/* The allocation fails before a page is touched, which would kill the process. */
static void test_limited_huge_pages(void **unused)
{
	struct memory buffer = {0};
	struct error error = {0};

	if (meminfo("Hugepagesize") <= 0)
		return;
	populate_errno = EFAULT;
	assert_int_equal(memory_open(&buffer, &memory_huge,
				     &(struct memory_request){.size = 5000, .numa_node = -1},
				     &error),
			 -ENOMEM);
	assert_string_equal(error.text, "no memory for a buffer of 5000 bytes: the control "
					"group limits huge pages; see its hugetlb.*.max");
	assert_null(buffer.cpu);
	/* Kernels that lack MADV_POPULATE_WRITE return EINVAL. */
	populate_errno = EINVAL;
	assert_int_equal(memory_open(&buffer, &memory_huge,
				     &(struct memory_request){.size = 5000, .numa_node = -1},
				     &error),
			 0);
	assert_int_equal(buffer.cpu[4999], 0);
	memory_close(&buffer);
	populate_errno = 0;
}

/* The kind's functions access bytes that the CPU cannot reach. */
static void test_memory_hidden_from_the_cpu(void **unused)
{
	static char bytes[3 * 4096];
	static char copy[sizeof(bytes)];
	const struct memory memory = {.kind = &memory_hidden, .address = (uintptr_t)bytes};

	memset(bytes, 'x', sizeof(bytes));
	memory_clear(&memory, 1, sizeof(bytes) - 2);
	assert_int_equal(bytes[0], 'x');
	assert_int_equal(bytes[sizeof(bytes) - 1], 'x');
	for (size_t i = 1; i < sizeof(bytes) - 1; i++)
		assert_int_equal(bytes[i], 0);
	memory_write(&memory, 4095, "ab", 2);
	memory_poke(&memory, 4097, 'c');
	assert_memory_equal(bytes + 4094, "\0abc\0", 5);
	assert_int_equal(memory_peek(&memory, 4096), 'b');
	memory_read(&memory, 0, copy, sizeof(copy));
	assert_memory_equal(copy, bytes, sizeof(bytes));
	assert_int_equal(memory_node(&memory), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_zeroed_pages),
		cmocka_unit_test(test_spare),
		cmocka_unit_test(test_unsuitable_spare_memory),
		cmocka_unit_test(test_absurd_sizes),
		cmocka_unit_test(test_shared_pages),
		cmocka_unit_test(test_buffers_are_below_libraries),
		cmocka_unit_test(test_more_than_available),
		cmocka_unit_test(test_concurrent_allocations),
		cmocka_unit_test(test_cold_pages),
		cmocka_unit_test(test_no_mapping),
		cmocka_unit_test(test_files_of_huge_pages),
		cmocka_unit_test(test_numa_nodes),
		cmocka_unit_test(test_too_few_huge_pages),
		cmocka_unit_test(test_limited_huge_pages),
		cmocka_unit_test(test_memory_hidden_from_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
