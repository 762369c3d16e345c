/* SPDX-License-Identifier: MIT */
#include "reports/result/breakdown.h"
#include "reports/table/csv.h"
#include "reports/test/lib/loads.h"

static struct result sample;
static char *text;

static int close_sample(void **unused)
{
	result_finish(&sample);
	free(text);
	text = NULL;
	return 0;
}

static void make(const char *name)
{
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	csv_begin(out);
	csv_add(out, &sample, name);
	assert_int_equal(fclose(out), 0);
}

/* See loads.h: 64 bytes at 200000 and 300000 messages per second. */
static void test_loads(void **unused)
{
	static const struct load_row rows[] = {
		{200000, 1500, false},
		{300000, 2500, true },
	};

	loads_init(&sample, rows, ARRAY_LENGTH(rows));
	make("x");
#define FIRST  "\nx,send/load/64/poll/rate200000,send,load,64,poll,poll,RC,1,,,completion,complete,"
#define SECOND "\nx,send/load/64/poll/rate300000,send,load,64,poll,poll,RC,1,,,completion,complete,"
	assert_contains(text, FIRST ",rate,1/s,200000,,\n");
	assert_contains(text, FIRST ",saturated,1,0,,\n");
	assert_contains(text, FIRST "1,rate,1/s,200000,,\n");
	assert_contains(text, FIRST "2,bytes_per_s,B/s,12800000,,\n");
	assert_contains(text, FIRST "2,unsent,1,0,,\n");
	assert_contains(text, SECOND ",saturated,1,1,,\n");
	assert_contains(text, SECOND "2,saturated,1,1,,\n");
	assert_contains(text, SECOND "2,unsent,1,5,,\n");
	assert_contains(text, FIRST ",max,ns,1500,,\n");
}

/* File names are prefixed if a spreadsheet would take them for a formula. */
static void test_file_names(void **unused)
{
	static const struct {
		const char *name;
		const char *row;
	} rows[] = {
		{"=1+1.json", "\n./=1+1.json,send/"    },
		{"+a,b.json", "\n\"./+a,b.json\",send/"},
		{"-a.json",   "\n./-a.json,send/"      },
		{"@a.json",   "\n./@a.json,send/"      },
		{"-",         "\n-,send/"              },
		{"/a/=b",     "\n/a/=b,send/"          },
	};

	sample_init(&sample);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		make(rows[i].name);
		assert_contains(text, rows[i].row);
		free(text);
		text = NULL;
	}
}

/* Cases without figures have a line without values; lost messages are counted. */
static void test_failures_and_losses(void **unused)
{
	sample_init(&sample);
	sample.cases[SAMPLE_BANDWIDTH].sent = 7;
	sample.cases[SAMPLE_BANDWIDTH].lost = 2;
	sample.cases[SAMPLE_BANDWIDTH].trials[0].has_far = true;
	sample.cases[SAMPLE_BANDWIDTH].trials[0].far_messages_per_s = 12;
	make("a,\"b");
	assert_contains(text,
			"\n\"a,\"\"b\",read/lat/1m/adaptive,read,lat,1048576,adaptive,adaptive,"
			"RC,,,,,interrupted,,,,,,\n");
	assert_contains(text,
			",write/lat/4k/event/server-poll,write,lat,4096,event,poll,RC,,,,,failed,"
			",,,,,\n");
	assert_contains(text, ",,,16,,complete,,lost,1,2,,\n");
	assert_contains(text, ",,,16,,complete,1,far_messages_per_s,1/s,12,,\n");
	/* The third trial: 910 messages of 1000 bytes in 25 ms. */
	assert_contains(text, ",,,16,,complete,3,bytes_per_s,B/s,36400000,,\n");
}

static void test_breakdown_and_receivers(void **unused)
{
	struct breakdown *breakdown = calloc(1, sizeof(*breakdown));
	struct error error = {0};

	sample_init(&sample);
	assert_non_null(breakdown);
	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		hist_init(&breakdown->parts[i]);
	for (uint64_t ns = 10; ns <= 60; ns += 25)
		hist_add(&breakdown->parts[BREAKDOWN_POST], ns);
	hist_add(&breakdown->parts[BREAKDOWN_WAKEUP], 0);
	sample.cases[SAMPLE_LATENCY].breakdown = breakdown;
	assert_int_equal(receivers_open(&sample.cases[SAMPLE_BANDWIDTH].receivers, 2, &error), 0);
	sample.cases[SAMPLE_BANDWIDTH].receivers.receiver[1] = (struct receiver){70, 3};
	make("x");
	assert_contains(text, ",complete,,breakdown_post_mean,ns,35,,\n");
	assert_contains(text, ",complete,,breakdown_post_p50,ns,35,,\n");
	/* The program never slept. */
	assert_null(strstr(text, "breakdown_wakeup"));
	assert_contains(text, ",complete,,receiver_1_lost,1,0,,\n");
	assert_contains(text, ",complete,,receiver_2_arrived,1,70,,\n");
	assert_contains(text, ",complete,,receiver_2_lost,1,3,,\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_loads, close_sample),
		cmocka_unit_test_teardown(test_failures_and_losses, close_sample),
		cmocka_unit_test_teardown(test_breakdown_and_receivers, close_sample),
		cmocka_unit_test_teardown(test_file_names, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
