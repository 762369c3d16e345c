/* SPDX-License-Identifier: MIT */
/* The early check of the client's memory, with a stand-in for the driver of two GPUs. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/host/gpu_list.h"
#include "bench/lane/lane.h"
#include "bench/plan/defaults.h"
#include "bench/test/unit.d/asked.h"
#include "core/test/lib/check.h"

static unsigned int nearest;

unsigned int __wrap_gpu_nearest(const char *root, const struct gpu_driver *driver,
				const char *device);
unsigned int __wrap_gpu_nearest(const char *root, const struct gpu_driver *driver,
				const char *device)
{
	return nearest;
}

static int check(const char *text, struct error *error)
{
	struct parameters wanted = asked(text);

	defaults_choose(&operations[wanted.op], &wanted);
	*error = (struct error){0};
	return lane_check_memory(&wanted, &operations[wanted.op].shape, "mlx5_0", error);
}

/* Without a number, the case runs on the GPU that is nearest to the device. */
static void test_nearest_gpu(void **unused)
{
	struct error error;

	nearest = 1;
	assert_int_equal(check("memory=cuda", &error), 0);
	nearest = 2;
	assert_int_equal(check("memory=cuda", &error), -EOPNOTSUPP);
	assert_contains(error.text, "no GPU 2: the driver has 2");
	assert_int_equal(check("memory=cuda:path=dmabuf", &error), -EOPNOTSUPP);
	assert_int_equal(check("memory=cuda:1", &error), 0);
	assert_int_equal(check("server-memory=cuda:2", &error), 0);
	assert_int_equal(check("", &error), 0);
}

/* The file needs room for both areas of the buffer and a page. */
static void test_size_of_a_file(void **unused)
{
	char path[] = "/tmp/verbmark-lane-XXXXXX";
	char text[128];
	int file = mkstemp(path);
	struct error error;

	assert_int_equal(ftruncate(file, 12288), 0);
	close(file);
	snprintf(text, sizeof(text), "op=write metric=bw access=same size=4000 memory=file:%s",
		 path);
	assert_int_equal(check(text, &error), 0);
	snprintf(text, sizeof(text), "op=write metric=bw access=same size=4096 memory=file:%s",
		 path);
	assert_int_equal(check(text, &error), -EOPNOTSUPP);
	assert_contains(error.text, "try 'fallocate -l 20480");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest_gpu),
		cmocka_unit_test(test_size_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
