/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/client/sample_file.h"
#include "core/test/lib/check.h"

static struct samples *samples;

static int make(void **unused)
{
	samples = calloc(1, sizeof(*samples));
	return samples ? 0 : -1;
}

static int release(void **unused)
{
	free(samples);
	return 0;
}

static void test_rows(void **unused)
{
	char path[] = "/tmp/verbmark-samples.XXXXXX";
	int fd = mkstemp(path);
	struct error error = {0};
	struct sample_file file;
	char text[256] = "";

	assert_true(fd >= 0);
	assert_int_equal(sample_file_open(&file, path, &error), 0);
	samples_add(samples, 7);
	samples_add(samples, UINT64_MAX);
	sample_file_add(&file, "send/memory-file:a\"b,c", 2, 3, samples);
	assert_int_equal(sample_file_close(&file, &error), 0);
	assert_int_equal(sample_file_close(&file, &error), 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "case,trial,thread,number,latency_ns\n"
				  "\"send/memory-file:a\"\"b,c\",2,3,1,7\n"
				  "\"send/memory-file:a\"\"b,c\",2,3,2,18446744073709551615\n");
	close(fd);
	unlink(path);
}

/* Samples beyond the limit are counted only. */
static void test_limit(void **unused)
{
	samples->count = SAMPLES_MOST - 1;
	samples_add(samples, 5);
	samples_add(samples, 6);
	assert_int_equal(samples->count, SAMPLES_MOST + 1);
	assert_int_equal(samples->ns[SAMPLES_MOST - 1], 5);
}

/* The disk fills up during the run. */
static void test_full(void **unused)
{
	struct sample_file file = {.path = "s.csv", .file = fopen("/dev/full", "we")};
	struct error error = {0};

	assert_non_null(file.file);
	samples_add(samples, 1);
	sample_file_add(&file, "send", 1, 1, samples);
	sample_file_add(&file, "send", 2, 1, samples);
	assert_int_equal(sample_file_close(&file, &error), -ENOSPC);
	assert_string_equal(error.text, "cannot write --samples s.csv: No space left on device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, make, release),
		cmocka_unit_test_setup_teardown(test_limit, make, release),
		cmocka_unit_test_setup_teardown(test_full, make, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
