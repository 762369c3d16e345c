/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/test/check.h"
#include "reports/document.h"
#include "reports/test/sample.h"

static struct sample sample;
static char folder[64];
static char path[128];

static int open_sample(void **unused)
{
	snprintf(folder, sizeof(folder), "/tmp/document.XXXXXX");
	sample_init(&sample);
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/result.json", folder);
	return 0;
}

static int close_sample(void **unused)
{
	sample_finish(&sample);
	unlink(path);
	return rmdir(folder);
}

/*
 * 12 x 1230 + 8 x 1250 + 2^37 = 137438978232, and the 11th of 21 samples is 1230.
 */
static const char wanted[] =
	"{\"schema\": \"verbmark.result/1\","
	" \"tool\": {\"name\": \"verbmark\", \"version\": \"1.2.3\"},"
	" \"run\": {\"started\": \"2001-02-03T04:05:06Z\", \"finished\": \"2001-02-03T04:05:07Z\","
	"  \"status\": \"interrupted\", \"command\": [\"verbmark\", \"run\", \"n02\"],"
	"  \"clock\": {\"kind\": \"tsc\", \"hz\": 2500000000, \"drift_ppm\": -1.5}},"
	" \"hosts\": {"
	"  \"client\": {\"host\": \"n01\", \"device\": \"mlx5_0\", \"port\": 1,"
	"   \"address\": \"192.0.2.1\", \"link_layer\": \"Ethernet\", \"rate_mbps\": 100000,"
	"   \"mtu\": 4096},"
	"  \"server\": {\"host\": \"n02\", \"device\": \"mlx5_1\", \"port\": 2,"
	"   \"address\": \"192.0.2.2\", \"link_layer\": \"Ethernet\", \"rate_mbps\": 2500,"
	"   \"mtu\": 1024}},"
	" \"cases\": ["
	"  {\"id\": \"send/lat/64/poll\", \"op\": \"send\", \"metric\": \"lat\", \"size\": 64,"
	"   \"cq\": \"poll\", \"server_cq\": \"poll\", \"transport\": \"RC\","
	"   \"status\": \"complete\", \"warmup_messages\": 100, \"duration_ns\": 123456,"
	"   \"latency_ns\": {\"count\": 21, \"kind\": \"half\", \"min\": 1230.0,"
	"    \"max\": 137438953472.0, \"p50\": 1230.0,"
	"    \"histogram\": {\"scheme\": \"log2-linear\", \"sub_bits\": 10, \"unit\": \"ns\","
	"     \"count\": 21, \"sum\": 137438978232, \"min\": 1230, \"max\": 137438953472,"
	"     \"over\": 1, \"bins\": [[1230, 1231, 12], [1250, 1251, 8]]}},"
	"   \"cpu\": {"
	"    \"client\": {\"messages\": 21, \"user_ns\": 42000, \"system_ns\": 21000,"
	"     \"voluntary_switches\": 1, \"involuntary_switches\": 2, \"cq_events\": 3,"
	"     \"completions\": 22},"
	"    \"server\": {\"messages\": 121, \"user_ns\": 60500, \"system_ns\": 0,"
	"     \"voluntary_switches\": 0, \"involuntary_switches\": 0, \"cq_events\": 0,"
	"     \"completions\": 0}}},"
	"  {\"id\": \"write/lat/4k/event/server-poll\", \"op\": \"write\", \"metric\": \"lat\","
	"   \"size\": 4096, \"cq\": \"event\", \"server_cq\": \"poll\", \"transport\": \"RC\","
	"   \"status\": \"failed\", \"error\": \"no completion for 5 s\"},"
	"  {\"id\": \"read/lat/1m/adaptive\", \"op\": \"read\", \"metric\": \"lat\","
	"   \"size\": 1048576, \"cq\": \"adaptive\", \"server_cq\": \"adaptive\","
	"   \"transport\": \"RC\", \"status\": \"interrupted\"}]}";

/* Takes a figure out of the first case, for it is no exact number. */
static double take(json_t *document, const char *key)
{
	json_t *latency = json_object_get(json_array_get(json_object_get(document, "cases"), 0),
					  "latency_ns");
	double value = json_real_value(json_object_get(latency, key));

	json_object_del(latency, key);
	return value;
}

static void check_document(json_t *document)
{
	json_t *golden = json_loads(wanted, 0, NULL);
	char *found;

	assert_non_null(golden);
	/* By Python's statistics.mean and statistics.stdev. */
	assert_near(take(document, "mean"), 6544713249.142858, 1e-3);
	assert_near(take(document, "stddev"), 29991638192.748814, 1);
	if (!json_equal(document, golden)) {
		found = json_dumps(document, JSON_INDENT(1));
		print_error("%s\n", found);
		free(found);
		fail();
	}
	json_decref(golden);
}

static void test_made(void **unused)
{
	json_t *document = document_make(&sample.result);

	assert_non_null(document);
	check_document(document);
	json_decref(document);
}

static uint64_t bins_and_over(const json_t *histogram)
{
	uint64_t sum = (uint64_t)json_integer_value(json_object_get(histogram, "over"));
	const json_t *bins = json_object_get(histogram, "bins");

	for (size_t i = 0; i < json_array_size(bins); i++)
		sum += (uint64_t)json_integer_value(json_array_get(json_array_get(bins, i), 2));
	return sum;
}

/* Over the whole range: each sample is in its bin, or in over. */
static void test_bins_add_up(void **unused)
{
	const json_t *histogram;
	const json_t *bins;
	json_t *document;
	json_int_t end = 0;
	uint64_t count = 0;

	hist_init(&sample.latency);
	for (uint64_t value = 1; value < 1ULL << 40; value += 1 + value / 50, count++)
		hist_add(&sample.latency, value);
	document = document_make(&sample.result);
	histogram = json_object_get(
		json_object_get(json_array_get(json_object_get(document, "cases"), 0),
				"latency_ns"),
		"histogram");
	assert_int_equal(json_integer_value(json_object_get(histogram, "count")), count);
	assert_int_equal(bins_and_over(histogram), count);
	assert_true(json_integer_value(json_object_get(histogram, "over")) > 0);
	bins = json_object_get(histogram, "bins");
	for (size_t i = 0; i < json_array_size(bins); i++) {
		const json_t *bin = json_array_get(bins, i);

		assert_true(json_integer_value(json_array_get(bin, 0)) >= end);
		end = json_integer_value(json_array_get(bin, 1));
		assert_true(end > json_integer_value(json_array_get(bin, 0)));
	}
	json_decref(document);
}

static void test_written(void **unused)
{
	struct error error = {0};
	struct stat found;
	json_t *document;

	assert_int_equal(document_write(&sample.result, path, &error), 0);
	document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	check_document(document);
	json_decref(document);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 0777, 0644);
}

static size_t files_in_folder(void)
{
	DIR *open = opendir(folder);
	size_t n = 0;

	assert_non_null(open);
	while (readdir(open))
		n++;
	closedir(open);
	return n - 2;
}

static void put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check_content(const char *text)
{
	char content[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(content, sizeof(content), file));
	fclose(file);
	assert_string_equal(content, text);
}

static void test_replaces_a_file(void **unused)
{
	struct error error = {0};
	json_t *document;

	put("old");
	assert_int_equal(document_write(&sample.result, path, &error), 0);
	document = json_load_file(path, 0, NULL);
	assert_non_null(document);
	json_decref(document);
	assert_int_equal(files_in_folder(), 1);
}

/* Full after so many bytes: nothing of the old file is lost, and nothing left behind. */
static void test_a_failed_write_changes_nothing(void **unused)
{
	static const rlim_t rooms[] = {0, 1, 1000};
	struct rlimit limit;
	rlim_t before;

	put("old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	before = limit.rlim_cur;
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < ARRAY_LENGTH(rooms); i++) {
		struct error error = {0};
		int code;

		limit.rlim_cur = rooms[i];
		setrlimit(RLIMIT_FSIZE, &limit);
		code = document_write(&sample.result, path, &error);
		limit.rlim_cur = before;
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_int_equal(code, -EFBIG);
		assert_contains(error.text, path);
		assert_contains(error.text, "cannot write ");
		check_content("old");
		assert_int_equal(files_in_folder(), 1);
	}
}

static void test_paths_that_cannot_be(void **unused)
{
	char below[160];
	const struct {
		const char *path;
		int code;
	} rows[] = {
		{"/nowhere/at/all.json", -ENOENT },
		{"/proc/result.json",    -ENOENT },
		{folder,                 -EISDIR },
		{below,                  -ENOTDIR},
	};

	put("old");
	snprintf(below, sizeof(below), "%s/result.json", path);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error checked = {0};
		struct error written = {0};

		assert_int_equal(document_check(rows[i].path, &checked), rows[i].code);
		assert_int_equal(document_write(&sample.result, rows[i].path, &written),
				 rows[i].code);
		assert_contains(checked.text, rows[i].path);
		assert_contains(written.text, rows[i].path);
	}
	assert_int_equal(files_in_folder(), 1);
}

static void test_a_check_leaves_nothing(void **unused)
{
	struct error error = {0};

	assert_int_equal(document_check(path, &error), 0);
	assert_int_equal(files_in_folder(), 0);
	put("old");
	assert_int_equal(document_check(path, &error), 0);
	check_content("old");
	assert_int_equal(files_in_folder(), 1);
	assert_int_equal(document_check("-", &error), 0);
}

/* A device stays one; a full one is told. */
static void test_devices(void **unused)
{
	struct error error = {0};
	struct stat found;

	assert_int_equal(document_check("/dev/null", &error), 0);
	assert_int_equal(document_write(&sample.result, "/dev/null", &error), 0);
	assert_int_equal(stat("/dev/null", &found), 0);
	assert_true(S_ISCHR(found.st_mode));
	assert_int_equal(document_write(&sample.result, "/dev/full", &error), -ENOSPC);
	assert_contains(error.text, "cannot write /dev/full: No space left on device");
	assert_int_equal(stat("/dev/full", &found), 0);
	assert_true(S_ISCHR(found.st_mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_bins_add_up, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_written, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_replaces_a_file, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_a_failed_write_changes_nothing, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_paths_that_cannot_be, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_a_check_leaves_nothing, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_devices, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
