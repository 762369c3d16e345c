/* SPDX-License-Identifier: MIT */
#include "reports/test/lib/exporting.h"

#define HEAD "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"

/* Replaces the latencies of the sample: count times value, and last once. */
static struct hist *set_latency(uint64_t value, uint64_t count, uint64_t last)
{
	struct hist *hist = sample.cases[SAMPLE_LATENCY].latency;

	hist_init(hist);
	for (uint64_t i = 0; i < count; i++)
		hist_add(hist, value);
	hist_add(hist, last);
	return hist;
}

/*
 * Three samples of 1000 ns are 75 % of four; from there, steps are 2.5 %. The last sample is in the
 * bin from 4096 to 4099 with the middle 4098. (3 * 1000 + 4098) / 4 = 1774.5, and the deviation is
 * sqrt((3 * 774.5^2 + 2323.5^2) / 4) = 1341.47.
 */
static void test_small(void **unused)
{
	set_latency(1000, 3, 4097);
	exporting_check(&export_hgrm,
			HEAD "       1.000 0.000000000000          3           1.00\n"
			     "       1.000 0.100000000000          3           1.11\n"
			     "       1.000 0.200000000000          3           1.25\n"
			     "       1.000 0.300000000000          3           1.43\n"
			     "       1.000 0.400000000000          3           1.67\n"
			     "       1.000 0.500000000000          3           2.00\n"
			     "       1.000 0.550000000000          3           2.22\n"
			     "       1.000 0.600000000000          3           2.50\n"
			     "       1.000 0.650000000000          3           2.86\n"
			     "       1.000 0.700000000000          3           3.33\n"
			     "       1.000 0.750000000000          3           4.00\n"
			     "       4.099 0.775000000000          4           4.44\n"
			     "       4.099 1.000000000000          4\n"
			     "#[Mean    =        1.775, StdDeviation   =        1.341]\n"
			     "#[Max     =        4.099, Total count    =            4]\n"
			     "#[Buckets =           27, SubBuckets     =         2048]\n"
			     "#[Case    = send/lat/64/poll, latency in us, half]\n");
	assert_true(export_hgrm.has_banner);
}

static void test_one_value(void **unused)
{
	set_latency(7, 1, 7);
	sample.client.kind = "soft";
	exporting_check(&export_hgrm,
			HEAD "       0.007 0.000000000000          2           1.00\n"
			     "       0.007 1.000000000000          2\n"
			     "#[Mean    =        0.007, StdDeviation   =        0.000]\n"
			     "#[Max     =        0.007, Total count    =            2]\n"
			     "#[Buckets =           27, SubBuckets     =         2048]\n"
			     "#[Case    = send/lat/64/poll, latency in us, half]\n"
			     "#[" BANNER_SOFT "]\n");
}

/* Samples beyond the bins are counted but not in the table, even if there are no others. */
static void test_beyond(void **unused)
{
	set_latency(1ULL << HIST_MAX_BITS, 2, 1ULL << (HIST_MAX_BITS + 1));
	exporting_check(&export_hgrm,
			HEAD "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
			     "#[Max     =        0.000, Total count    =            0]\n"
			     "#[Buckets =           27, SubBuckets     =         2048]\n"
			     "#[Case    = send/lat/64/poll, latency in us, half]\n"
			     "#[Beyond  = 3 samples are 137438953 us and more]\n");
}

/* All samples but one are so close to 100 % that a double rounds the share up to it. */
static void test_nearly_all(void **unused)
{
	struct hist *hist = set_latency(0, 1, 5);

	hist->bins[hist_first(hist)] = 1ULL << 60;
	hist->count = (1ULL << 60) + 1;
	exporting_open(&export_hgrm);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	assert_int_equal(exporting_finish(), 0);
	assert_contains(exporting.text, "       0.005 1.000000000000 1152921504606846977\n");
	assert_true(strlen(exporting.text) < 100000);
}

/* Adds latencies to the bandwidth case. */
static void add_second(void)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];

	line->latency = malloc(sizeof(*line->latency));
	assert_non_null(line->latency);
	sample_fill(line->latency, 35, false);
}

static void test_which(void **unused)
{
	add_second();
	exporting.choice.id = "write/bw/1000/event/server-poll/t16";
	exporting_open(&export_hgrm);
	assert_int_equal(exporting_add(&sample, "a.json"), 0);
	exporting_refused(exporting_add(&sample, "b.json"), -EINVAL,
			  "b.json: the format allows only one result");
	assert_int_equal(exporting_finish(), 0);
	assert_contains(exporting.text,
			"\n#[Case    = write/bw/1000/event/server-poll/t16, latency in us, "
			"completion]\n");
}

static void refuse(const char *id, int wanted, const char *sentence)
{
	exporting.choice.id = id;
	exporting.error = (struct error){0};
	if (exporting.format)
		exporting.format->close(exporting.state);
	exporting_open(&export_hgrm);
	exporting_refused(exporting_add(&sample, "a.json"), wanted, sentence);
}

static void test_refused(void **unused)
{
	refuse("send/lat/65/poll", -ENODATA, "a.json: no case send/lat/65/poll");
	refuse("write/lat/4k/event/server-poll", -ENODATA,
	       "a.json: write/lat/4k/event/server-poll has no latency");
	add_second();
	refuse(NULL, -EINVAL,
	       "a.json: 2 cases have a latency, such as send/lat/64/poll; choose one with --case");
	sample.cases[SAMPLE_LATENCY].status = RESULT_FAILED;
	sample.cases[SAMPLE_BANDWIDTH].status = RESULT_INTERRUPTED;
	refuse(NULL, -ENODATA, "a.json: no case has a latency");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		exporting_test(test_small),   exporting_test(test_one_value),
		exporting_test(test_beyond),  exporting_test(test_which),
		exporting_test(test_refused), exporting_test(test_nearly_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
