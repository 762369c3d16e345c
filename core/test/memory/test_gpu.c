/* SPDX-License-Identifier: MIT */
/* The kinds of GPU memory, on the stand-ins for the drivers' libraries. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/memory/gpu.h"
#include "core/memory/memory.h"
#include "core/test/lib/check.h"

static size_t count_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Stands in for a device that registers a dma-buf. */
static struct {
	int fd;
	uint64_t offset;
	size_t length;
	uint64_t address;
	int code; /* of the next registration; 0: works */
} registered;

struct ibv_mr *__wrap_ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access);
struct ibv_mr *__wrap_ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	static struct ibv_mr mr;

	registered.fd = fd;
	registered.offset = offset;
	registered.length = length;
	registered.address = iova;
	errno = registered.code;
	return registered.code ? NULL : &mr;
}

static int open_memory(struct memory *memory, const char *text, size_t size, struct error *error)
{
	struct memory_choice choice;
	struct error ignored = {0};
	int code = memory_find(text, &choice, &ignored);

	assert_int_equal(code, 0);
	return memory_open(
		memory, choice.kind,
		&(struct memory_request){.size = size,
					 .numa_node = -1,
					 .detail = choice.detail[0] ? choice.detail : NULL},
		error);
}

static const char *const own_memory[] = {"cuda", "cuda:0,path=dmabuf", "rocm:0",
					 "rocm:path=dmabuf"};

/* The bytes that a device finds in the dma-buf are those that were written. */
static void test_dmabuf(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(own_memory); i++) {
		struct error error = {0};
		struct memory memory;
		char byte = 'x';
		char bytes[8];

		assert_int_equal(open_memory(&memory, own_memory[i], 100000, &error), 0);
		assert_null(memory.cpu);
		assert_int_equal(memory.size, 131072);
		memory_read(&memory, 131071, &byte, 1);
		assert_int_equal(byte, 0);
		memory_write(&memory, 4094, "abcdef", 6);
		memory_poke(&memory, 4096, 'C');
		assert_int_equal(memory_peek(&memory, 4095), 'b');
		assert_non_null(memory_register(&memory, 4096, 4, NULL, 0, &error));
		assert_int_equal(registered.address, memory.address + 4096);
		assert_int_equal(registered.length, 4);
		assert_int_equal(pread(registered.fd, bytes, 4, (off_t)registered.offset), 4);
		assert_memory_equal(bytes, "Cdef", 4);
		assert_string_equal(memory_describe(&memory).path, "ibv_reg_dmabuf_mr");
		assert_int_equal(memory_copy_error(&memory, &error), 0);
		memory_close(&memory);
	}
}

static void test_facts(void **unused)
{
	struct error error = {0};
	struct memory memory;
	struct memory_facts facts;

	assert_int_equal(open_memory(&memory, "cuda:1", 1, &error), 0);
	facts = memory_describe(&memory);
	memory_close(&memory);
	assert_string_equal(facts.owner, "stand-in GPU");
	assert_string_equal(facts.driver, "CUDA 12.4");
	assert_string_equal(facts.pcie, "0000:fe:01.0");
	assert_int_equal(open_memory(&memory, "rocm", 1, &error), 0);
	facts = memory_describe(&memory);
	memory_close(&memory);
	assert_string_equal(facts.driver, "HIP 6.1");
	assert_string_equal(facts.pcie, "0000:fe:00.0");
}

/* The CPU accesses these bytes without the driver. */
static void test_cpu_access(void **unused)
{
	static const char *const texts[] = {"cuda-managed", "cuda-pinned:1",
					    "cuda:0,path=host-mapped", "rocm:path=host-mapped"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct error error = {0};
		struct memory_choice choice;
		struct memory memory;

		assert_int_equal(memory_find(texts[i], &choice, &error), 0);
		assert_true(memory_is_polled(&choice));
		assert_int_equal(open_memory(&memory, texts[i], 5000, &error), 0);
		assert_non_null(memory.cpu);
		for (size_t j = 0; j < memory.size; j++)
			assert_int_equal(memory.cpu[j], 0);
		memory.cpu[4999] = 'x';
		assert_int_equal(memory_peek(&memory, 4999), 'x');
		/* Requests with an inline payload are read from the address. */
		assert_ptr_equal((char *)(uintptr_t)memory.address, memory.cpu);
		memory_close(&memory);
	}
}

static void test_details(void **unused)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"cuda:x",                     "is not cuda:N or N,path=PATH"                           },
		{"cuda-pinned:0,",             "is not cuda-pinned:N"                                   },
		{"cuda:0path=dmabuf",          "is not cuda:N or N,path=PATH"                           },
		{"cuda:64",                    "GPU numbers end at 63"                                  },
		{"cuda:0,path=bar",            "path of cuda is not one of dmabuf, peermem, host-mapped"},
		{"rocm:0,path=peermem",        "path of rocm is not one of dmabuf, host-mapped"         },
		{"cuda-managed:0,path=dmabuf", "cuda-managed has no path"                               },
	};
	struct memory_choice choice;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};

		assert_int_equal(memory_find(rows[i].text, &choice, &error), -EINVAL);
		assert_string_equal(error.text, rows[i].message);
	}
	assert_int_equal(memory_find("cuda:7", &choice, NULL), 0);
	assert_false(memory_is_polled(&choice));
}

/* Each message names a fix. */
static void test_impossible(void **unused)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"cuda:2",
		 "no GPU 2: the driver has 2, cuda:0 to cuda:1; see 'verbmark devices --memory'" },
		{"cuda:0,path=peermem",
		 "the kernel module nvidia_peermem is not loaded; try 'modprobe nvidia_peermem', or "
		 "path=dmabuf"								   },
		{"cuda:0,path=dmabuf",
		 "GPU 0: its driver cannot export dma-buf; dma-buf needs driver 515 or newer with "
		 "NVIDIA's open kernel modules and Linux 5.12; or load the module nvidia_peermem"},
		{"cuda:0",
		 "GPU 0: its driver cannot export dma-buf; dma-buf needs driver 515 or newer with "
		 "NVIDIA's open kernel modules and Linux 5.12; or load the module nvidia_peermem"},
		{"rocm",
		 "GPU 0: its driver cannot export dma-buf; install ROCm 5.6 or newer, and a kernel "
		 "with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY"                          },
	};

	setenv("STAND_IN_NO_DMABUF", "1", 1);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};
		struct memory_choice choice;
		struct memory_request request = {.size = 1};
		struct memory memory;

		assert_int_equal(memory_find(rows[i].text, &choice, &error), 0);
		request.detail = choice.detail[0] ? choice.detail : NULL;
		assert_true(memory_check(choice.kind, &request, &error) < 0);
		assert_string_equal(error.text, rows[i].message);
		assert_true(open_memory(&memory, rows[i].text, 1, &error) < 0);
	}
	unsetenv("STAND_IN_NO_DMABUF");
}

static void test_device_without_dmabuf(void **unused)
{
	struct error error = {0};
	struct memory memory;

	registered.code = EOPNOTSUPP;
	assert_int_equal(open_memory(&memory, "cuda", 1, &error), 0);
	assert_null(memory_register(&memory, 0, 1, NULL, 0, &error));
	assert_string_equal(
		error.text,
		"cannot register memory of GPU 0 as a dma-buf: Operation not supported; "
		"Linux 5.12 and support by the RDMA device's driver are needed; or try "
		"'modprobe nvidia_peermem'");
	memory_close(&memory);
	registered.code = 0;
}

/* Opens, copies, registers and closes. Returns whether any of it failed. */
static bool use(const char *text, struct error *error)
{
	struct memory memory;
	char byte;
	int code = open_memory(&memory, text, 200000, error);

	if (code)
		return true;
	memory_write(&memory, 5, "x", 1);
	memory_read(&memory, 5, &byte, 1);
	if (!memory_register(&memory, 0, 10, NULL, 0, error))
		code = error->code;
	if (memory_copy_error(&memory, error))
		code = error->code;
	else
		assert_int_equal(byte, 'x');
	memory_close(&memory);
	return code;
}

/* Each of the driver's calls fails once: an error, and nothing leaks. */
static void check_each_failure(const char *text)
{
	struct error error = {0};
	size_t files;
	bool has_failed = true;

	use(text, &error);
	files = count_files();
	for (int i = 1; has_failed; i++) {
		char number[16];
		struct error fault = {0};

		assert_true(i < 100);
		snprintf(number, sizeof(number), "%d", i);
		setenv("STAND_IN_FAIL", number, 1);
		has_failed = use(text, &fault);
		assert_int_equal(has_failed, fault.code < 0);
		if (has_failed)
			assert_contains(fault.text, "GPU 0");
		assert_int_equal(count_files(), files);
		assert_true(i > 8 || has_failed);
	}
	unsetenv("STAND_IN_FAIL");
}

static void test_failures_of_cuda(void **unused)
{
	check_each_failure("cuda");
	check_each_failure("cuda:0,path=host-mapped");
}

static void test_failures_of_rocm(void **unused)
{
	check_each_failure("rocm");
}

/* The host cannot provide the memory, as without the driver. */
static void test_no_gpu(void **unused)
{
	static const struct {
		const char *text;
		const char *hint;
	} rows[] = {
		{"cuda", "the driver sees no GPU: check CUDA_VISIBLE_DEVICES"},
		{"rocm", "the driver sees no GPU: check HIP_VISIBLE_DEVICES" },
	};
	const char *was = getenv("STAND_IN_GPUS");
	char kept[8] = "";

	snprintf(kept, sizeof(kept), "%s", was ? was : "1");
	setenv("STAND_IN_GPUS", "0", 1);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};
		struct memory memory;

		assert_int_equal(open_memory(&memory, rows[i].text, 1, &error), -EOPNOTSUPP);
		assert_contains(error.text, rows[i].hint);
	}
	setenv("STAND_IN_GPUS", kept, 1);
}

/* Keeps the memory for a request of the same size, and clears it without copies. */
static void test_spare(void **unused)
{
	struct memory_request request = {.size = 70000, .numa_node = -1};
	struct error error = {0};
	struct memory spare = {0};
	struct memory memory;
	uint64_t address;

	assert_int_equal(memory_take(&memory, &spare, &memory_cuda, &request, &error), 0);
	address = memory.address;
	memory_write(&memory, 69999, "x", 1);
	memory_keep(&memory, &spare);
	setenv("STAND_IN_FAIL", "cuMemcpyHtoD_v2:1", 1);
	assert_int_equal(memory_take(&memory, &spare, &memory_cuda, &request, &error), 0);
	unsetenv("STAND_IN_FAIL");
	assert_int_equal(memory_copy_error(&memory, &error), 0);
	assert_int_equal(memory.address, address);
	assert_int_equal(memory_peek(&memory, 69999), 0);
	memory_close(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dmabuf),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_cpu_access),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_device_without_dmabuf),
		cmocka_unit_test(test_failures_of_cuda),
		cmocka_unit_test(test_failures_of_rocm),
		cmocka_unit_test(test_no_gpu),
		cmocka_unit_test(test_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
