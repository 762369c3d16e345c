/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "reports/page/charts.h"
#include "reports/test/lib/sample.h"

static struct result sample;
static char *text;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	free(text);
	text = NULL;
	return 0;
}

static void print_of(const struct result *result, enum cells_table which)
{
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	charts_print_before(out, &(struct charts){.result = result}, which);
	charts_print_behind(out, &(struct charts){.result = result}, which);
	assert_int_equal(fclose(out), 0);
}

static void print(enum cells_table which)
{
	print_of(&sample, which);
}

static size_t count(const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

/* A single size gives no line by size; the three trials each have a median. */
static void test_latency(void **unused)
{
	print(CELLS_LATENCY);
	assert_null(strstr(text, "Latency by size"));
	assert_contains(text, "<title>send, 64 bytes: p50, half round trip</title>");
	assert_contains(text, " data-x=\"1\" data-y=\"1230\" data-case=\"send/lat/64/poll\"");
	assert_contains(text, " data-x=\"2\" data-y=\"1250\" data-case=\"send/lat/64/poll\"");
	assert_contains(text, " data-x=\"3\" data-y=\"1240\" data-case=\"send/lat/64/poll\"");
}

/* The first trial has windows of 10 ms with 100 and 200 messages of 1000 bytes. */
static void test_bandwidth(void **unused)
{
	print(CELLS_BANDWIDTH);
	assert_null(strstr(text, "Bandwidth by size"));
	assert_contains(text, "<h4>Throughput over time</h4>");
	assert_contains(text, " data-x=\"0\" data-y=\"1e+07\"");
	assert_contains(text, " data-x=\"1e+07\" data-y=\"2e+07\"");
	assert_contains(text, "event/poll at 10 ms: 0.16 Gb/s");
	assert_contains(text, "<h4>Bandwidth by trial</h4>");
	assert_contains(text, " data-x=\"6\" data-y=\"7.24e+07\"");
	assert_int_equal(count("<svg role=\"img\""), 2);
}

/* Cases without trials are not drawn. */
static void test_no_trials(void **unused)
{
	sample.cases[SAMPLE_LATENCY].n_trials = 0;
	sample.cases[SAMPLE_BANDWIDTH].n_trials = 0;
	for (int which = CELLS_LATENCY; which <= CELLS_CALLS; which++) {
		free(text);
		print((enum cells_table)which);
		assert_string_equal(text, "");
	}
}

/* Different kinds of latency are never in the same panel. */
static void test_kinds(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_LATENCY];
	struct result_case both[2] = {*line, *line};
	struct result result = sample;

	both[1].cq = both[1].server_cq = "event";
	snprintf(both[1].id, sizeof(both[1].id), "send/lat/64/event");
	result.cases = both;
	result.n_cases = 2;
	for (int i = 0; i < 2; i++) {
		both[1].kind = i ? RESULT_FULL : RESULT_HALF;
		print_of(&result, CELLS_LATENCY);
		assert_int_equal(count("<h4>Latency by completion mode</h4>"), !i);
		assert_int_equal(count("<title>send, 64 bytes: p50, half round trip</title>"), 1);
		assert_int_equal(count("<title>send, 64 bytes: p50, full round trip</title>"), i);
		free(text);
		text = NULL;
	}
}

/* Calls are drawn like other latencies, but in separate figures. */
static void test_calls(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_LATENCY];
	struct result_case both[2] = {*line, *line};
	struct result result = sample;

	both[1].cq = both[1].server_cq = "event";
	snprintf(both[1].id, sizeof(both[1].id), "send/lat/64/event");
	result.cases = both;
	result.n_cases = 2;
	print_of(&result, CELLS_CALLS);
	assert_string_equal(text, "");
	free(text);
	print_of(&result, CELLS_LATENCY);
	free(text);
	both[0].kind = both[1].kind = RESULT_CALL;
	print_of(&result, CELLS_CALLS);
	assert_contains(text, "<title>send, 64 bytes: p50, call</title>");
	free(text);
	print_of(&result, CELLS_LATENCY);
	assert_string_equal(text, "");
}

/* One message per ns on both sides of 4096, where bins become twice as wide. */
static void test_histogram_of_a_uniform_density(void **unused)
{
	struct hist *hist = sample.cases[SAMPLE_LATENCY].latency;
	char corners[64];

	hist_clear(hist);
	for (uint64_t ns = 3072; ns < 5120; ns++)
		hist_add(hist, ns);
	print(CELLS_LATENCY);
	for (int low = 3072; low < 5120; low += 64) {
		snprintf(corners, sizeof(corners),
			 " data-y=\"64\" data-low=\"%d\" data-high=\"%d\"", low, low + 64);
		assert_contains(text, corners);
	}
	assert_int_equal(count("<title>messages from "), 32);
}

/* At the low end bins are 1 ns wide; no bin is above 137 s. */
static void test_histogram_of_extremes(void **unused)
{
	struct hist *hist = sample.cases[SAMPLE_LATENCY].latency;

	hist_clear(hist);
	hist_add(hist, 0);
	hist_add(hist, (1ULL << HIST_MAX_BITS) - 1);
	hist_add(hist, 1ULL << HIST_MAX_BITS);
	print(CELLS_LATENCY);
	/* 32 columns of 2^32 ns. */
	assert_contains(text, " data-y=\"1\" data-low=\"0\" data-high=\"4294967296\"");
	assert_contains(text, " data-y=\"1\" data-low=\"133143986176\" data-high=\"137438953472\"");
	assert_int_equal(count("<title>messages from "), 2);
}

#define on_sample(test) cmocka_unit_test_setup_teardown(test, open_sample, close_sample)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_sample(test_latency),
		on_sample(test_bandwidth),
		on_sample(test_no_trials),
		on_sample(test_kinds),
		on_sample(test_calls),
		on_sample(test_histogram_of_a_uniform_density),
		on_sample(test_histogram_of_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
