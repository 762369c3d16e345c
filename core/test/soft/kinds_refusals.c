/* SPDX-License-Identifier: MIT */
/* Calls for special kinds of memory: what they reject, and what the device says about itself. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/test/soft/kinds.h"
#include "core/test/soft/stage.h"

#define PAGE       ((size_t)KINDS_PAGE)
#define READ_ONLY  IBV_ACCESS_REMOTE_READ
#define EVERYTHING KINDS_ACCESS

enum {
	FILE_BYTES = 4 * PAGE,
	DEVICE_BYTES = 256 << 10, /* as ConnectX has */
};

enum which {
	OPEN,
	FROZEN, /* sealed against writes */
	HUGE,
	OTHER,
	NOTHING,
	FILES,
};

static void open_files(int fd[FILES])
{
	fd[OPEN] = memfd_create("open", MFD_CLOEXEC);
	fd[FROZEN] = memfd_create("frozen", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fd[OTHER] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	fd[NOTHING] = -1;
	assert_int_equal(ftruncate(fd[OPEN], FILE_BYTES), 0);
	assert_int_equal(ftruncate(fd[FROZEN], FILE_BYTES), 0);
	assert_int_equal(fcntl(fd[FROZEN], F_ADD_SEALS, F_SEAL_WRITE), 0);
	assert_true(fd[OTHER] >= 0);
}

/* The errors of ib_uverbs' REG_DMABUF_MR and of ib_umem_dmabuf_get(). */
static void test_files(void **unused)
{
	static const struct {
		enum which file;
		uint64_t offset;
		size_t length;
		uint64_t iova;
		int access;
		int error;
	} cases[] = {
		{OPEN,    0,               FILE_BYTES,     0,               EVERYTHING,              0     },
		{OPEN,    0,               1,              PAGE,            EVERYTHING,              0     },
		{OPEN,    PAGE + 7,        FILE_BYTES / 2, 2 * PAGE + 7,    0,                       0     },
		{OPEN,    0,               8,              0,               1 << 20 | EVERYTHING,    0     },
		{OPEN,    7,               8,              0,               EVERYTHING,              EINVAL},
		{OPEN,    0,               8,              7,               EVERYTHING,              EINVAL},
		{OPEN,    0,               0,              0,               EVERYTHING,              EINVAL},
		{OPEN,    0,               FILE_BYTES + 1, 0,               EVERYTHING,              EINVAL},
		{OPEN,    FILE_BYTES,      1,              0,               EVERYTHING,              EINVAL},
		{OPEN,    PAGE,            FILE_BYTES,     0,               EVERYTHING,              EINVAL},
		{OPEN,    -(uint64_t)PAGE, 2 * PAGE,       0,               EVERYTHING,              EINVAL},
		{OPEN,    0,               2 * PAGE,       -(uint64_t)PAGE, EVERYTHING,              EINVAL},
		{OPEN,    0,               8,              0,               IBV_ACCESS_REMOTE_WRITE, EINVAL},
		{OPEN,    0,               8,              0,               IBV_ACCESS_ON_DEMAND,    EINVAL},
		{OPEN,    0,               8,              0,               IBV_ACCESS_ZERO_BASED,   EINVAL},
		{OPEN,    0,               8,              0,               IBV_ACCESS_MW_BIND,      EINVAL},
		{FROZEN,  0,               FILE_BYTES,     0,               READ_ONLY,               0     },
		{FROZEN,  0,               FILE_BYTES,     0,               EVERYTHING,              EPERM },
		{OTHER,   0,               8,              0,               READ_ONLY,               EINVAL},
		{NOTHING, 0,               8,              0,               READ_ONLY,               EBADF },
	};
	struct stage stage;
	int fd[FILES];

	open_files(fd);
	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ibv_mr *mr;

		errno = 0;
		mr = ibv_reg_dmabuf_mr(stage.pd, cases[i].offset, cases[i].length, cases[i].iova,
				       fd[cases[i].file], cases[i].access);
		assert_int_equal(mr ? 0 : errno, cases[i].error);
		if (!mr)
			continue;
		assert_int_equal((uintptr_t)mr->addr, cases[i].offset);
		assert_int_equal(mr->length, cases[i].length);
		assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	stage_close(&stage);
	close(fd[OPEN]);
	close(fd[FROZEN]);
	close(fd[OTHER]);
}

/* A range within a huge page is mapped with the whole page. */
static void test_file_of_huge_pages(void **unused)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	struct stage stage;
	struct ibv_mr *mr;

	if (fd < 0 || ftruncate(fd, 4 << 20)) {
		print_message("# this kernel has no huge pages\n");
		skip();
	}
	stage_open(&stage, &(struct stage_ways){0});
	mr = ibv_reg_dmabuf_mr(stage.pd, PAGE, PAGE, 0, fd, EVERYTHING);
	if (!mr)
		assert_int_equal(errno, ENOMEM);
	else
		assert_int_equal(ibv_dereg_mr(mr), 0);
	stage_close(&stage);
	close(fd);
}

static struct ibv_dm *allocate(struct stage *stage, size_t length)
{
	struct ibv_alloc_dm_attr attr = {.length = length};

	return ibv_alloc_dm(stage->context, &attr);
}

static void test_amount_of_device_memory(void **unused)
{
	static const struct {
		struct ibv_alloc_dm_attr attr;
		int error;
	} cases[] = {
		{{.length = 0},                      EINVAL},
		{{.length = 8, .comp_mask = 1},      EINVAL},
		{{.length = 8, .log_align_req = 13}, EINVAL},
		{{.length = 8, .log_align_req = 12}, 0     },
		{{.length = DEVICE_BYTES},           0     },
		{{.length = DEVICE_BYTES + 1},       ENOMEM},
		{{.length = SIZE_MAX},               ENOMEM},
	};
	struct stage stage;
	struct ibv_dm *dm[2];

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ibv_alloc_dm_attr attr = cases[i].attr;

		dm[0] = ibv_alloc_dm(stage.context, &attr);
		assert_int_equal(dm[0] ? 0 : errno, cases[i].error);
		if (dm[0])
			assert_int_equal(ibv_free_dm(dm[0]), 0);
	}
	/* A failed allocation leaves the rest, which is allocated in units of 64 bytes. */
	dm[0] = allocate(&stage, DEVICE_BYTES - 128);
	assert_null(allocate(&stage, 129));
	dm[1] = allocate(&stage, 65);
	assert_non_null(dm[1]);
	assert_null(allocate(&stage, 1));
	assert_int_equal(ibv_free_dm(dm[0]), 0);
	assert_int_equal(ibv_free_dm(dm[1]), 0);
	stage_close(&stage);
}

/* The errors of mlx5. */
static void test_copies_of_device_memory(void **unused)
{
	static const struct {
		uint64_t offset;
		size_t length;
		int error;
	} cases[] = {
		{0,              PAGE,     0     },
                {PAGE - 4,       4,        0     },
                {PAGE,           0,        0     },
		{PAGE,           4,        EFAULT},
                {4,              PAGE,     EFAULT},
                {UINT64_MAX - 3, 8,        EFAULT},
		{8,              SIZE_MAX, EFAULT},
                {2,              4,        EINVAL},
                {4,              6,        EINVAL},
	};
	static unsigned char bytes[PAGE];
	struct stage stage;
	struct ibv_dm *dm;

	stage_open(&stage, &(struct stage_ways){0});
	dm = allocate(&stage, PAGE);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		assert_int_equal(ibv_memcpy_to_dm(dm, cases[i].offset, bytes, cases[i].length),
				 cases[i].error);
		assert_int_equal(ibv_memcpy_from_dm(bytes, dm, cases[i].offset, cases[i].length),
				 cases[i].error);
	}
	assert_int_equal(ibv_free_dm(dm), 0);
	stage_close(&stage);
}

/* The errors of ib_uverbs' REG_DM_MR and of mlx5_reg_dm_mr(). */
static void test_registrations_of_device_memory(void **unused)
{
	static const struct {
		uint64_t offset;
		size_t length;
		unsigned int access;
		int error;
	} cases[] = {
		{0,          PAGE,     IBV_ACCESS_ZERO_BASED | EVERYTHING,              0     },
		{PAGE - 1,   1,        IBV_ACCESS_ZERO_BASED,                           0     },
		{0,          PAGE,     EVERYTHING,				      EINVAL},
		{0,          PAGE + 1, IBV_ACCESS_ZERO_BASED,                           EINVAL},
		{PAGE,       1,        IBV_ACCESS_ZERO_BASED,                           EINVAL},
		{UINT64_MAX, 2,        IBV_ACCESS_ZERO_BASED,                           EINVAL},
		{0,          0,        IBV_ACCESS_ZERO_BASED,                           EINVAL},
		{0,          PAGE,     IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE, EINVAL},
		{0,          PAGE,     IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND,    EINVAL},
	};
	struct stage stage;
	struct ibv_dm *dm;

	stage_open(&stage, &(struct stage_ways){0});
	dm = allocate(&stage, PAGE);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ibv_mr *mr = ibv_reg_dm_mr(stage.pd, dm, cases[i].offset, cases[i].length,
						  cases[i].access);

		assert_int_equal(mr ? 0 : errno, cases[i].error);
		if (!mr)
			continue;
		assert_int_equal(ibv_free_dm(dm), EBUSY);
		assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	assert_int_equal(ibv_free_dm(dm), 0);
	stage_close(&stage);
}

/* Memory on demand need not be mapped; its registration touches no page. */
static void test_registrations_on_demand(void **unused)
{
	static const struct {
		uint64_t address;
		size_t length;
		uint64_t iova;
		unsigned int access;
		int error;
	} cases[] = {
		{PAGE,            PAGE,     0, 0,                       0     },
                {0,               SIZE_MAX, 0, IBV_ACCESS_LOCAL_WRITE,  0     },
		{0,               SIZE_MAX, 1, 0,                       EINVAL},
                {0,               SIZE_MAX, 0, IBV_ACCESS_HUGETLB,      EINVAL},
		{1,               SIZE_MAX, 0, 0,                       EINVAL},
                {-(uint64_t)PAGE, 2 * PAGE, 0, 0,                       EINVAL},
		{PAGE,            0,        0, 0,                       EINVAL},
                {PAGE,            PAGE,     0, IBV_ACCESS_REMOTE_WRITE, EINVAL},
	};
	unsigned char there[2];
	unsigned char *memory =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stage stage;
	struct ibv_mr *mr;

	stage_open(&stage, &(struct stage_ways){0});
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		mr = ibv_reg_mr_iova2(stage.pd, (void *)(uintptr_t)cases[i].address,
				      cases[i].length, cases[i].iova,
				      cases[i].access | IBV_ACCESS_ON_DEMAND);
		assert_int_equal(mr ? 0 : errno, cases[i].error);
		if (mr)
			assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	assert_null(ibv_reg_mr(stage.pd, NULL, SIZE_MAX, 0));
	mr = ibv_reg_mr(stage.pd, memory, 2 * PAGE, EVERYTHING | IBV_ACCESS_ON_DEMAND);
	assert_non_null(mr);
	assert_int_equal(mincore(memory, 2 * PAGE, there), 0);
	assert_int_equal(there[0] | there[1], 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	stage_close(&stage);
	munmap(memory, 2 * PAGE);
}

/* Memory on demand of four pages, of which the last one is not mapped. */
struct advised {
	struct stage stage;
	struct ibv_pd *other_pd;
	unsigned char *memory;
	struct ibv_mr *writable;
	struct ibv_mr *readable;
};

static void open_advised(struct advised *advised)
{
	unsigned char *memory =
		mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	munmap(memory + 3 * PAGE, PAGE);
	stage_open(&advised->stage, &(struct stage_ways){0});
	advised->other_pd = ibv_alloc_pd(advised->stage.context);
	advised->memory = memory;
	advised->writable = ibv_reg_mr(advised->stage.pd, memory, FILE_BYTES,
				       EVERYTHING | IBV_ACCESS_ON_DEMAND);
	advised->readable = ibv_reg_mr(advised->stage.pd, memory, FILE_BYTES, IBV_ACCESS_ON_DEMAND);
	assert_non_null(advised->writable);
	assert_non_null(advised->readable);
}

static void close_advised(struct advised *advised)
{
	assert_int_equal(ibv_dereg_mr(advised->writable), 0);
	assert_int_equal(ibv_dereg_mr(advised->readable), 0);
	assert_int_equal(ibv_dealloc_pd(advised->other_pd), 0);
	stage_close(&advised->stage);
	munmap(advised->memory, FILE_BYTES);
}

#define FETCH       IBV_ADVISE_MR_ADVICE_PREFETCH
#define FETCH_WRITE IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
#define NO_FAULT    IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
#define FLUSH       IBV_ADVISE_MR_FLAG_FLUSH

/* The errors of mlx5_ib_advise_mr(). */
static void test_advice(void **unused)
{
	struct advised advised;
	const struct {
		struct ibv_mr **mr; /* NULL: a key of no region */
		int advice;
		uint32_t flags;
		uint64_t at;
		uint32_t length;
		uint32_t count;
		bool is_foreign; /* of another protection domain */
		int error;
		unsigned int pages; /* that are there afterwards */
	} cases[] = {
		{&advised.writable, NO_FAULT,    FLUSH, 0,               PAGE,       1, false, 0,          0},
		{&advised.writable, 3,           FLUSH, 0,               PAGE,       1, false, EOPNOTSUPP, 0},
		{&advised.writable, FETCH,       2,     0,               PAGE,       1, false, EINVAL,     0},
		{&advised.writable, FETCH,       FLUSH, 0,               PAGE,       0, false, EINVAL,     0},
		{NULL,              FETCH,       FLUSH, 0,               PAGE,       1, false, ENOENT,     0},
		{&advised.stage.mr, FETCH,       FLUSH, 0,               PAGE,       1, false, ENOENT,     0},
		{&advised.writable, FETCH,       FLUSH, 0,               PAGE,       1, true,  EPERM,      0},
		{&advised.readable, FETCH_WRITE, FLUSH, 0,               PAGE,       1, false, EPERM,      0},
		{&advised.writable, FETCH,       FLUSH, PAGE,            FILE_BYTES, 1, false, EFAULT,     0},
		{&advised.writable, FETCH,       FLUSH, -(uint64_t)PAGE, PAGE,       1, false, EFAULT,     0},
		{&advised.writable, FETCH,       FLUSH, 3 * PAGE,        PAGE,       1, false, EFAULT,     0},
		{&advised.writable, FETCH,       0,     3 * PAGE,        PAGE,       1, false, 0,          0},
		{&advised.writable, FETCH_WRITE, FLUSH, 10,              PAGE - 10,  1, false, 0,          1},
		{&advised.readable, FETCH,       FLUSH, PAGE - 1,        2,          1, false, 0,          2},
		{&advised.writable, FETCH_WRITE, 0,     2 * PAGE,        1,          1, false, 0,          3},
	};

	open_advised(&advised);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)advised.memory + cases[i].at,
			.length = cases[i].length,
			.lkey = cases[i].mr ? (*cases[i].mr)->lkey : 0,
		};
		unsigned char there[3];

		assert_int_equal(
			ibv_advise_mr(cases[i].is_foreign ? advised.other_pd : advised.stage.pd,
				      (enum ibv_advise_mr_advice)cases[i].advice, cases[i].flags,
				      &sge, cases[i].count),
			cases[i].error);
		assert_int_equal(mincore(advised.memory, 3 * PAGE, there), 0);
		assert_int_equal((there[0] & 1) + (there[1] & 1) + (there[2] & 1), cases[i].pages);
	}
	close_advised(&advised);
}

static void test_capabilities(void **unused)
{
	const uint32_t messages = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
	struct ibv_context *context = stage_open_device();
	struct ibv_device_attr_ex attr;

	assert_int_equal(ibv_query_device_ex(context, NULL, &attr), 0);
	assert_int_equal(attr.max_dm_size, DEVICE_BYTES);
	assert_int_equal(attr.odp_caps.general_caps, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	assert_int_equal(attr.odp_caps.per_transport_caps.rc_odp_caps & messages, messages);
	assert_int_equal(attr.odp_caps.per_transport_caps.ud_odp_caps & messages, messages);
	assert_int_equal(ibv_close_device(context), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_file_of_huge_pages),
		cmocka_unit_test(test_amount_of_device_memory),
		cmocka_unit_test(test_copies_of_device_memory),
		cmocka_unit_test(test_registrations_of_device_memory),
		cmocka_unit_test(test_registrations_on_demand),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_capabilities),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
