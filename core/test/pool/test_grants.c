/* SPDX-License-Identifier: MIT */
/* Grants on a fake device: granted memory, and regions that cannot be deregistered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/pool/grants.h"
#include "core/test/lib/check.h"

#define PAGE ((size_t)4096)

static struct {
	int n_regions;
	int n_domains;       /* deallocated ones */
	unsigned int access; /* of the last region */
	bool refuses;
} device;

static struct ibv_mr *make(struct ibv_pd *pd, void *address, size_t length, unsigned int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	assert_non_null(mr);
	*mr = (struct ibv_mr){.pd = pd, .addr = address, .length = length};
	device.n_regions++;
	device.access = access;
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
	return make(pd, address, length, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova,
				unsigned int access)
{
	return make(pd, address, length, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	if (device.refuses)
		return EBUSY;
	free(mr);
	device.n_regions--;
	return 0;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	if (device.n_regions)
		return EBUSY;
	device.n_domains++;
	return 0;
}

static enum pool_status take(struct grants *grants, uint64_t size, struct grant **grant)
{
	static struct ibv_pd pd;

	return grants_take(grants, &pd, &(struct pool_message){.size = size}, UINT64_MAX, grant);
}

static void open_all(struct grants *grants, struct memory *buffer)
{
	struct error error = {0};

	device.n_regions = device.n_domains = 0;
	device.refuses = false;
	*buffer = (struct memory){.kind = &memory_host,
				  .cpu = aligned_alloc(PAGE, 2 * PAGE),
				  .size = 2 * PAGE,
				  .page = PAGE};
	assert_non_null(buffer->cpu);
	assert_int_equal(grants_open(grants, buffer, &error), 0);
}

/*
 * The memory is granted again once deregistration succeeds, and the domain goes with the
 * last region.
 */
static void test_delayed_deregistration(void **unused)
{
	struct grants grants;
	struct memory buffer;
	struct grant *one;
	struct grant *two;

	open_all(&grants, &buffer);
	assert_int_equal(take(&grants, PAGE, &one), POOL_OK);
	assert_int_equal(take(&grants, PAGE, &two), POOL_OK);
	device.refuses = true;
	assert_int_equal(grants_abandon(&grants, one), -EBUSY);
	assert_int_equal(grants_abandon(&grants, two), -EBUSY);
	assert_int_equal(take(&grants, PAGE, &one), POOL_EXHAUSTED);
	device.refuses = false;
	assert_int_equal(take(&grants, 2 * PAGE, &one), POOL_OK);
	assert_int_equal(device.n_regions, 1);
	assert_int_equal(device.n_domains, 1);
	assert_int_equal(grants_abandon(&grants, one), 0);
	assert_int_equal(grants.count, 0);
	grants_close(&grants);
	free(buffer.cpu);
}

static void test_deregistration_on_close(void **unused)
{
	struct grants grants;
	struct memory buffer;
	struct grant *one;

	open_all(&grants, &buffer);
	assert_int_equal(take(&grants, 2 * PAGE, &one), POOL_OK);
	device.refuses = true;
	assert_int_equal(grants_abandon(&grants, one), -EBUSY);
	device.refuses = false;
	grants_close(&grants);
	assert_int_equal(device.n_regions, 0);
	assert_int_equal(device.n_domains, 1);
	free(buffer.cpu);
}

static bool is_zero(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/*
 * A client must never read what another client wrote before, regardless of the sizes of the two
 * grants.
 */
static void test_a_grant_is_cleared(void **unused)
{
	static const struct {
		uint64_t before;
		uint64_t after;
	} rows[] = {
		{1,        1       },
                {PAGE,     PAGE    },
                {2 * PAGE, PAGE + 1},
                {2 * PAGE, 2 * PAGE},
                {PAGE + 1, 8       },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct grants grants;
		struct memory buffer;
		struct grant *grant;

		open_all(&grants, &buffer);
		assert_int_equal(take(&grants, rows[i].before, &grant), POOL_OK);
		memset(grant->mr->addr, 'x', grants_taken_by(&grants, rows[i].before));
		assert_int_equal(grants_give(&grants, grant), 0);
		assert_int_equal(take(&grants, rows[i].after, &grant), POOL_OK);
		assert_ptr_equal(grant->mr->addr, buffer.cpu);
		assert_true(is_zero(grant->mr->addr, grants_taken_by(&grants, rows[i].after)));
		assert_int_equal(grants_give(&grants, grant), 0);
		grants_close(&grants);
		free(buffer.cpu);
	}
}

static struct ibv_mw *make_window(struct ibv_pd *pd, enum ibv_mw_type type)
{
	static struct ibv_mw window;

	assert_int_equal(type, IBV_MW_TYPE_2);
	window = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = 0x100};
	return &window;
}

static int drop_window(struct ibv_mw *window)
{
	return 0;
}

/* Clients may write and read. If they use windows, the region itself is not accessible. */
static void test_access(void **unused)
{
	struct ibv_context context = {
		.ops = {.alloc_mw = make_window, .dealloc_mw = drop_window}
        };
	struct ibv_pd pd = {.context = &context};
	struct grants grants;
	struct memory buffer;
	struct grant *grant;

	for (int has_windows = 0; has_windows <= 1; has_windows++) {
		open_all(&grants, &buffer);
		grants.has_windows = has_windows;
		assert_int_equal(grants_take(&grants, &pd, &(struct pool_message){.size = 8},
					     UINT64_MAX, &grant),
				 POOL_OK);
		assert_int_equal(
			device.access,
			IBV_ACCESS_LOCAL_WRITE |
				(has_windows ? IBV_ACCESS_MW_BIND
					     : IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
		assert_int_equal(grants_give(&grants, grant), 0);
		grants_close(&grants);
		free(buffer.cpu);
	}
}

/* A client's share counts whole pages. */
static void test_size_and_share_limits(void **unused)
{
	static struct ibv_pd pd;
	static const struct {
		uint64_t size;
		uint64_t left;
		enum pool_status status;
	} rows[] = {
		{0,            UINT64_MAX, POOL_ZERO     },
                {1,            PAGE,       POOL_OK       },
		{PAGE,         PAGE,       POOL_OK       },
                {1,            PAGE - 1,   POOL_SHARE    },
		{PAGE + 1,     PAGE,       POOL_SHARE    },
                {2 * PAGE + 1, UINT64_MAX, POOL_TOO_LARGE},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct grants grants;
		struct memory buffer;
		struct grant *grant;

		open_all(&grants, &buffer);
		assert_int_equal(grants_take(&grants, &pd,
					     &(struct pool_message){.size = rows[i].size},
					     rows[i].left, &grant),
				 rows[i].status);
		if (rows[i].status == POOL_OK)
			assert_int_equal(grants_give(&grants, grant), 0);
		grants_close(&grants);
		free(buffer.cpu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_grant_is_cleared),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_size_and_share_limits),
		cmocka_unit_test(test_delayed_deregistration),
		cmocka_unit_test(test_deregistration_on_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
