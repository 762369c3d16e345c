/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/test/lib/check.h"
#include "reports/document/document.h"
#include "reports/document/hdr.h"
#include "reports/test/lib/failing.h"
#include "reports/test/lib/sample.h"

static struct result sample;
static json_t *golden; /* sample.json; figures computed by hand or by Python's statistics */
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
	result_finish(&sample);
	unlink(path);
	return rmdir(folder);
}

static const json_t *case_of(const json_t *document, size_t number)
{
	return json_array_get(json_object_get(document, "cases"), number);
}

static const json_t *member(const json_t *object, const char *name)
{
	const json_t *found = json_object_get(object, name);

	if (!found)
		fail_msg("%s is missing", name);
	return found;
}

static uint64_t integer(const json_t *object, const char *name)
{
	const json_t *found = member(object, name);

	assert_true(json_is_integer(found));
	return (uint64_t)json_integer_value(found);
}

/* Checks that the string has the same bins. The compressed bytes depend on zlib. */
static void check_hdr(const json_t *histogram)
{
	const json_t *bins = json_object_get(histogram, "bins");
	struct hist *hist = test_malloc(sizeof(*hist));
	struct error error = {0};

	assert_int_equal(hdr_decode(hist, json_string_value(member(histogram, "hdr_v2")), &error),
			 0);
	assert_int_equal(hist->count, integer(histogram, "count") - integer(histogram, "over"));
	for (size_t i = 0; i < json_array_size(bins); i++) {
		const json_t *bin = json_array_get(bins, i);
		uint64_t low = (uint64_t)json_integer_value(json_array_get(bin, 0));

		assert_int_equal(hist->bins[hist_index(low)],
				 json_integer_value(json_array_get(bin, 2)));
	}
	test_free(hist);
}

static void check_same(const json_t *found, const json_t *wanted, const char *where);

static void check_members(const json_t *found, const json_t *wanted, const char *where)
{
	const char *name;
	const json_t *value;
	char path_there[512];

	json_object_foreach((json_t *)(uintptr_t)wanted, name, value)
	{
		snprintf(path_there, sizeof(path_there), "%s.%s", where, name);
		check_same(json_object_get(found, name), value, path_there);
	}
	json_object_foreach((json_t *)(uintptr_t)found, name, value)
	{
		if (!strcmp(name, "hdr_v2"))
			check_hdr(found);
		else if (!json_object_get(wanted, name))
			fail_msg("%s.%s is unexpected", where, name);
	}
}

/* Compares documents; real numbers may differ in the last digits. */
static void check_same(const json_t *found, const json_t *wanted, const char *where)
{
	char path_there[512];

	if (!found || json_typeof(found) != json_typeof(wanted))
		fail_msg("%s is missing, or of another type", where);
	if (json_is_object(wanted)) {
		check_members(found, wanted, where);
	} else if (json_is_array(wanted)) {
		if (json_array_size(found) != json_array_size(wanted))
			fail_msg("%s has %zu members", where, json_array_size(found));
		for (size_t i = 0; i < json_array_size(wanted); i++) {
			snprintf(path_there, sizeof(path_there), "%s[%zu]", where, i);
			check_same(json_array_get(found, i), json_array_get(wanted, i), path_there);
		}
	} else if (json_is_real(wanted)) {
		assert_near(json_real_value(found), json_real_value(wanted),
			    1e-9 * fabs(json_real_value(wanted)));
	} else if (!json_equal(found, wanted)) {
		fail_msg("%s differs", where);
	}
}

static void test_made(void **unused)
{
	json_t *document = document_make(&sample);

	assert_non_null(document);
	check_same(document, golden, "document");
	json_decref(document);
}

/* Five trials give 93.75 %, which is not an interval; six span all their values. */
static void test_few_trials(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];

	for (size_t n = 1; n <= 6; n++) {
		const json_t *interval;
		json_t *document;

		line->n_trials = n;
		document = document_make(&sample);
		interval = member(member(member(case_of(document, SAMPLE_BANDWIDTH), "bandwidth"),
					 "intervals"),
				  "bytes_per_s");
		assert_int_equal(json_is_null(interval), n < 6);
		if (n == 6) {
			assert_near(json_real_value(member(interval, "low")), 12.4e6, 1);
			assert_near(json_real_value(member(interval, "high")), 72.4e6, 1);
		}
		json_decref(document);
	}
}

/* A figure that one trial lacks is only known for the whole case. */
static void test_a_figure_that_a_trial_lacks(void **unused)
{
	struct result_trial *trials = sample.cases[SAMPLE_LATENCY].trials;
	const json_t *latency;
	json_t *document;

	assert_string_equal(statistics[3].key, "p50");
	trials[1].latency[3] = (double)NAN;
	document = document_make(&sample);
	latency = member(case_of(document, SAMPLE_LATENCY), "latency_ns");
	assert_near(json_real_value(member(latency, "p50")), 1240, 0);
	assert_true(json_is_null(member(member(latency, "intervals"), "p50")));
	assert_null(json_object_get(member(latency, "intervals"), "max"));
	assert_null(json_object_get(
		member(json_array_get(member(case_of(document, SAMPLE_LATENCY), "trials"), 1),
		       "latency_ns"),
		"p50"));
	json_decref(document);
}

/* If trials are shorter than a window, there are messages but no distribution. */
static void test_a_bandwidth_without_windows(void **unused)
{
	const json_t *bandwidth;
	json_t *document;

	rate_windows_finish(sample.cases[SAMPLE_BANDWIDTH].windows, 9 * SAMPLE_MS);
	document = document_make(&sample);
	bandwidth = member(case_of(document, SAMPLE_BANDWIDTH), "bandwidth");
	assert_int_equal(integer(bandwidth, "messages"), 6360);
	assert_int_equal(json_array_size(member(bandwidth, "windows")), 0);
	assert_int_equal(integer(member(bandwidth, "histogram"), "count"), 0);
	assert_int_equal(integer(member(bandwidth, "histogram"), "min"), 0);
	assert_int_equal(integer(member(bandwidth, "histogram"), "max"), 0);
	assert_int_equal(json_array_size(member(member(bandwidth, "histogram"), "bins")), 0);
	json_decref(document);
}

/* A result without a plan omits it. */
static void test_no_plan(void **unused)
{
	json_t *document;

	json_decref(sample.plan);
	sample.plan = NULL;
	document = document_make(&sample);
	assert_null(json_object_get(member(document, "run"), "plan"));
	json_decref(document);
}

static uint64_t bins_and_over(const json_t *histogram)
{
	uint64_t sum = integer(histogram, "over");
	const json_t *bins = json_object_get(histogram, "bins");

	for (size_t i = 0; i < json_array_size(bins); i++)
		sum += (uint64_t)json_integer_value(json_array_get(json_array_get(bins, i), 2));
	return sum;
}

/* Every sample is in its bin or in over, across the whole range. */
static void test_bins_add_up(void **unused)
{
	struct hist *hist = sample.cases[SAMPLE_LATENCY].latency;
	const json_t *histogram;
	const json_t *bins;
	json_t *document;
	json_int_t end = 0;
	uint64_t count = 0;

	hist_init(hist);
	for (uint64_t value = 1; value < 1ULL << 40; value += 1 + value / 50, count++)
		hist_add(hist, value);
	document = document_make(&sample);
	histogram = member(member(case_of(document, SAMPLE_LATENCY), "latency_ns"), "histogram");
	assert_int_equal(integer(histogram, "count"), count);
	assert_int_equal(bins_and_over(histogram), count);
	assert_true(integer(histogram, "over") > 0);
	bins = member(histogram, "bins");
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

	assert_int_equal(document_write(&sample, path, &error), 0);
	document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	check_same(document, golden, "document");
	json_decref(document);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 0777, 0644);
}

/* A document uses the kept text of a case, even if the case has changed since. */
static void test_kept(void **unused)
{
	struct error error = {0};
	json_t *first;
	json_t *second;

	assert_int_equal(document_write(&sample, path, &error), 0);
	first = json_load_file(path, 0, NULL);
	for (size_t i = 0; i < SAMPLE_CASES; i++)
		document_keep(&sample.cases[i]);
	sample.cases[SAMPLE_LATENCY].status = RESULT_FAILED;
	assert_int_equal(document_write(&sample, path, &error), 0);
	second = json_load_file(path, 0, NULL);
	assert_true(json_equal(first, second));
	document_keep(&sample.cases[SAMPLE_LATENCY]);
	assert_int_equal(document_write(&sample, path, &error), 0);
	json_decref(second);
	second = json_load_file(path, 0, NULL);
	assert_string_equal(json_string_value(member(case_of(second, SAMPLE_LATENCY), "status")),
			    "failed");
	json_decref(first);
	json_decref(second);
}

/* document_write and document_make agree. */
static void test_written_as_made(void **unused)
{
	struct error error = {0};
	json_t *made;
	json_t *written;

	sample.warnings = sample_json("[{\"code\": \"a\"}]");
	made = document_make(&sample);
	assert_int_equal(document_write(&sample, path, &error), 0);
	written = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_equal(made, written));
	json_decref(made);
	json_decref(written);
}

static size_t values;

static void *count_value(size_t size)
{
	values++;
	return malloc(size);
}

/* Returns the number of JSON values allocated to make the text. */
static size_t count_kept(struct result_case *line)
{
	values = 0;
	json_set_alloc_funcs(count_value, free);
	document_keep(line);
	json_set_alloc_funcs(malloc, free);
	assert_non_null(line->text);
	return values;
}

/* The number of JSON values does not depend on the number of samples. */
static void test_bins_take_no_values(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_LATENCY];
	size_t before = count_kept(line);
	json_t *made;
	json_t *kept;

	assert_true(before > 0);
	for (uint64_t value = 1; value < 1ULL << 40; value += 1 + value / 500)
		hist_add(line->latency, value);
	/* With so many samples, some more figures are known. */
	assert_in_range(count_kept(line), before, before + 100);
	made = document_make(&sample);
	kept = json_loads(line->text, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_equal(kept, case_of(made, SAMPLE_LATENCY)));
	assert_true(json_array_size(member(member(member(kept, "latency_ns"), "histogram"),
					   "bins")) > 5000);
	json_decref(made);
	json_decref(kept);
}

static void begin_failing(int after)
{
	allocations = after;
	json_set_alloc_funcs(__wrap_malloc, free);
}

/* Returns whether an allocation has failed. */
static bool end_failing(void)
{
	bool has_failed = allocations < 0;

	json_set_alloc_funcs(malloc, free);
	allocations = -1;
	return has_failed;
}

/* The n-th allocation fails, for every n: the document is complete or NULL. */
static void test_no_memory(void **unused)
{
	json_t *wanted = document_make(&sample);
	bool has_failed = true;

	assert_non_null(wanted);
	for (int n = 0; has_failed; n++) {
		json_t *made;

		begin_failing(n);
		made = document_make(&sample);
		has_failed = end_failing();
		/* Looking for knees allocates memory, even if none is found. */
		assert_true(has_failed || made);
		if (made)
			assert_true(json_equal(made, wanted));
		json_decref(made);
	}
	json_decref(wanted);
}

/* If memory runs out, no partial text is kept. */
static void test_no_memory_to_keep(void **unused)
{
	json_t *made = document_make(&sample);

	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		struct result_case *line = &sample.cases[i];
		bool has_failed = true;

		for (int n = 0; has_failed; n++) {
			json_t *kept;

			begin_failing(n);
			document_keep(line);
			has_failed = end_failing();
			assert_true(has_failed || line->text);
			if (!line->text)
				continue;
			kept = json_loads(line->text, JSON_REJECT_DUPLICATES, NULL);
			assert_true(json_equal(kept, case_of(made, i)));
			json_decref(kept);
		}
	}
	json_decref(made);
}

/* If memory runs out, no partial document replaces a file. */
static void test_no_memory_to_write(void **unused)
{
	json_t *before = document_make(&sample);
	json_t *wanted;
	struct error error = {0};
	bool has_failed = true;

	for (size_t i = 0; i < SAMPLE_CASES; i++)
		document_keep(&sample.cases[i]);
	assert_int_equal(document_write(&sample, path, &error), 0);
	/* At least the warnings remain to be written. */
	sample.warnings = sample_json("[{\"host\": \"n01\", \"what\": \"it is warm\"}]");
	wanted = document_make(&sample);
	for (int n = 0; has_failed; n++) {
		json_t *found;
		int code;

		begin_failing(n);
		error = (struct error){0};
		code = document_write(&sample, path, &error);
		has_failed = end_failing();
		assert_true(!code || (has_failed && code == -ENOMEM));
		found = json_load_file(path, 0, NULL);
		assert_true(json_equal(found, code ? before : wanted));
		json_decref(found);
		if (!code && has_failed)
			assert_int_equal(document_save(before, path, &error), 0);
	}
	json_decref(before);
	json_decref(wanted);
}

/* test_document SAMPLE.JSON */
int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_made, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_few_trials, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_a_figure_that_a_trial_lacks, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_a_bandwidth_without_windows, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_no_plan, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_bins_add_up, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_written, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_kept, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_written_as_made, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_bins_take_no_values, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_no_memory, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_no_memory_to_keep, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_no_memory_to_write, open_sample, close_sample),
	};

	int failed;

	golden = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, NULL) : NULL;
	if (!golden)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(golden);
	return failed;
}
