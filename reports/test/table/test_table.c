/* SPDX-License-Identifier: MIT */
#include "reports/table/table.h"
#include "reports/test/lib/sample.h"

static struct result sample;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	return 0;
}

#define TITLES "      size mode       kind          p50       95% CI    p99  p99.9"
#define LATENCY                                                                             \
	"\nLATENCY us                                                                 CPU " \
	"us/msg\n" TITLES "    max  client/server\n"
#define BANDWIDTH_OF(unit)                                         \
	"\nBANDWIDTH: size 1000, event/poll, t16     CPU us/msg\n" \
	"       " unit "        95% CI %line  Mmsg/s  client/server\n"
#define BANDWIDTH BANDWIDTH_OF(" Gb/s")

/* Shows the table of a single case without the heading. */
static void show_line(char text[static 1024], const struct table_unit *unit, size_t number)
{
	FILE *out = fmemopen(text, 1024, "w");
	struct table table;
	long head;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out}, unit, &sample);
	head = ftell(out);
	table_line(&table, &sample.cases[number]);
	fclose(out);
	memmove(text, text + head, strlen(text + head) + 1);
}

static void check_line(size_t number, const char *wanted)
{
	char text[1024] = "";

	show_line(text, NULL, number);
	assert_string_equal(text, wanted);
}

/* The banner comes first, also if only client or server used the software device. */
static void test_banner(void **unused)
{
	for (unsigned int i = 0; i < 2; i++) {
		char text[1024] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");
		struct table table;

		assert_non_null(out);
		sample.client.kind = i ? "hardware" : "soft";
		sample.server.kind = i ? "soft" : NULL;
		table_open(&table, &(struct terminal){.out = out}, NULL, &sample);
		fclose(out);
		assert_int_equal(strncmp(text, "SOFTWARE DEVICE", 15), 0);
		assert_contains(text, "\nn01 mlx5_0/1 -> n02 mlx5_1/2  ");
	}
}

/* With "needs" on the software device, the document has times, but the table shows none. */
static void test_needs_of_the_software_device(void **unused)
{
	char text[1024] = "";

	sample.client.kind = "soft";
	json_object_set_new(sample.cases[SAMPLE_BANDWIDTH].parameters, "needs", json_true());
	show_line(text, NULL, SAMPLE_LATENCY);
	assert_string_equal(text, "");
	show_line(text, NULL, SAMPLE_FAILED);
	assert_contains(text, "no completion for 5 s");
}

static void check_foot(const char *wanted)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table_count found;
	struct table table;
	long head;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out}, NULL, &sample);
	head = ftell(out);
	found = table_foot(&table);
	fclose(out);
	assert_string_equal(text + head, wanted);
	assert_int_equal(found.wanted, SAMPLE_CASES - 1);
}

/* At first, two of three latency trials and all bandwidth trials converged. */
static void test_foot(void **unused)
{
	static const char skipped[] =
		"read/bw/64/poll/t4/Q5: skipped: --cq-mod exceeds --tx-depth\n";
	static const char summary[] = "SUMMARY\n  Highest bandwidth measured: write at size 1000, "
				      "13.6 % of the line rate\n";
	struct result_trial *trials = sample.cases[SAMPLE_LATENCY].trials;
	char wanted[512];

	snprintf(wanted, sizeof(wanted), "\n%sread/lat/1m/adaptive: interrupted\n\n%s\n", skipped,
		 summary);
	check_foot(wanted);
	/* This reason would only repeat the status. */
	snprintf(sample.cases[SAMPLE_NOT_RUN].error, sizeof(sample.cases->error), "interrupted");
	check_foot(wanted);
	/* The case that was running has a reason. */
	sample.cases[SAMPLE_FAILED].status = RESULT_INTERRUPTED;
	trials[1].warmup.has_converged = false;
	snprintf(
		wanted, sizeof(wanted),
		"\n%s2 cases interrupted or not run, from write/lat/4k/event/server-poll to "
		"read/lat/1m/adaptive: no completion for 5 s\n"
		"\n%s\nwarning: 1 of 2 cases did not stabilize during warm-up (e.g. send/lat/64/poll); "
		"use a longer --warmup\n\n",
		skipped, summary);
	check_foot(wanted);
	/* The plan leaves no time to stabilize. */
	json_object_set_new(sample.cases[SAMPLE_LATENCY].parameters, "warmup_ns",
			    json_integer(9999999));
	snprintf(strstr(wanted, "\nwarning"), 2, "\n");
	check_foot(wanted);
}

/* A few cases are listed individually; many with the same reason share a line with the first. */
static void test_many_skipped(void **unused)
{
	static const char *const reasons[] = {"UC cannot", "UD cannot",  "UC cannot", "it is none",
					      "UC cannot", "it is none", "UC cannot", "UC cannot"};
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct result result;
	struct table table;
	long head;

	assert_non_null(out);
	sample_init_empty(&result, ARRAY_LENGTH(reasons));
	for (size_t i = 0; i < result.n_cases; i++) {
		struct result_case *line = &result.cases[i];

		line->status = RESULT_SKIPPED;
		line->op = "read";
		line->metric = "lat";
		line->cq = "poll";
		snprintf(line->id, sizeof(line->id), "read/lat/%zu", i);
		snprintf(line->error, sizeof(line->error), "%s", reasons[i]);
	}
	table_open(&table, &(struct terminal){.out = out}, NULL, &result);
	head = ftell(out);
	assert_int_equal(table_foot(&table).wanted, 0);
	fclose(out);
	assert_string_equal(text + head, "\nread/lat/0 and 4 more: skipped: UC cannot\n"
					 "read/lat/1: skipped: UD cannot\n"
					 "read/lat/3: skipped: it is none\n"
					 "read/lat/5: skipped: it is none\n\n");
	result_finish(&result);
}

/*
 * The median of 61 samples is 1240 ns, and three trials have no interval. CPU time is 189 us for 61
 * messages on the client (3.10), and 181.5 us for 366 on the server (0.496).
 */
static void test_latency(void **unused)
{
	check_line(
		SAMPLE_LATENCY,
		"\nLATENCY us                                                                    CPU us/msg\n" TITLES
		"       max  client/server\n"
		"send    64 poll       half         1.24            -      -      - 137438953  3.10/0.496\n");
}

/*
 * The median of six trials, 42.4 MB/s, is 0.3392 Gb/s on a link of 2.5 Gb/s. Their interval spans
 * them all, from 0.0992 to 0.5792 Gb/s. 42.4 thousand messages per second, 3 us of CPU time for
 * 6360.
 */
static void test_bandwidth(void **unused)
{
	check_line(SAMPLE_BANDWIDTH,
		   BANDWIDTH "write  0.339 0.0992..0.579  13.6  0.0424  0.000/0\n");
}

/* One thousandth of that: 339.2 kb/s, and 42.4 messages per second. */
static void test_little_bandwidth(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];

	for (size_t i = 0; i < line->n_trials; i++)
		line->trials[i].messages_per_s /= 1000;
	check_line(SAMPLE_BANDWIDTH,
		   "\nBANDWIDTH: size 1000, event/poll, t16                CPU us/msg\n"
		   "          Gb/s              95% CI  %line    Mmsg/s  client/server\n"
		   "write 0.000339 0.0000992..0.000579 0.0136 0.0000424  0.000/0\n");
}

/* A software device has no link, and no share of it. */
static void test_no_line(void **unused)
{
	char text[1024] = "";

	sample.client.kind = "soft";
	show_line(text, NULL, SAMPLE_BANDWIDTH);
	assert_contains(text, "95% CI  Mmsg/s");
	assert_contains(text, "0.0992..0.579  0.0424");
}

/* 42.4 MB/s: 339.2 Mb/s, and 40.435791015625 MiB/s. */
static void test_units(void **unused)
{
	static const char *const rows[][3] = {
		{"Gb/s",  "  Gb/s        95% CI %line",  "write  0.339 0.0992..0.579  13.6  0.0424"},
		{"Mb/s",  "  Mb/s       95% CI %line",   "write    339    99.2..579  13.6  0.0424" },
		{"GB/s",  "  GB/s         95% CI %line",
		 "write 0.0424 0.0124..0.0724  13.6  0.0424"                                       },
		{"MB/s",  "  MB/s       95% CI %line",   "write   42.4   12.4..72.4  13.6  0.0424" },
		{"MiB/s", " MiB/s       95% CI %line",   "write   40.4   11.8..69.0  13.6  0.0424" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct table_unit *unit = NULL;
		char text[1024] = "";

		assert_null(table_parse_unit(rows[i][0], &unit));
		show_line(text, unit, SAMPLE_BANDWIDTH);
		assert_contains(text, rows[i][1]);
		assert_contains(text, rows[i][2]);
	}
}

/* Binding a window of 1000 bytes moves none of them. */
static void test_binds(void **unused)
{
	char text[1024] = "";

	sample.cases[SAMPLE_BANDWIDTH].op = "bind-mw";
	show_line(text, NULL, SAMPLE_BANDWIDTH);
	assert_contains(text, "bind-mw      -            -     -  0.0424");
}

static void share(unsigned int threads, unsigned int qps, uint64_t last)
{
	struct shares *shares = &sample.cases[SAMPLE_BANDWIDTH].shares;
	struct error error = {0};

	assert_int_equal(shares_open(shares, threads, qps, &error), 0);
	for (size_t i = 0; i < (size_t)threads * qps; i++)
		shares->messages[i] = 1;
	for (size_t i = 0; i < threads; i++)
		shares->duration_ns[i] = 1000;
	shares->messages[threads * qps - 1] = last;
}

static void test_shares(void **unused)
{
	static const struct {
		unsigned int threads;
		unsigned int qps;
		uint64_t last;
		const char *text;
	} rows[] = {
		{1, 1, 1, "0.000/0\n"						     },
		{2, 1, 0, "0.000/0  fairness 0.500 of 2 threads\n"                        },
		{1, 4, 1, "0.000/0  fairness 1.000 of 4 queue pairs\n"                    },
		{2, 2, 3, "0.000/0  fairness 0.900 of 2 threads, 0.750 of 4 queue pairs\n"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char text[1024] = "";

		share(rows[i].threads, rows[i].qps, rows[i].last);
		show_line(text, NULL, SAMPLE_BANDWIDTH);
		assert_contains(text, rows[i].text);
	}
}

/* 1000 messages of 1000 bytes in 10 ms are 0.8 Gb/s. */
static void test_flows(void **unused)
{
	struct flows *flows = &sample.cases[SAMPLE_BANDWIDTH].flows;
	struct error error = {0};
	char text[1024] = "";

	assert_int_equal(flows_open(flows, 2, &error), 0);
	flows->flow[0] = (struct flow_share){"client 0", "server 0", 1000, 10000000};
	flows->flow[1] = (struct flow_share){"client 1", "server 0", 500, 10000000};
	show_line(text, NULL, SAMPLE_BANDWIDTH);
	assert_contains(text, "  fairness 0.900 of 2 flows of 0.400..0.800 Gb/s\n");
}

static void test_rejects_unknown_units(void **unused)
{
	static const char *const texts[] = {"", "gb/s", "Gbps", "Gb", "Gb/s ", "KB/s", "GiB/s"};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		const struct table_unit *unit = NULL;

		assert_string_equal(table_parse_unit(texts[i], &unit),
				    "is not one of Gb/s, Mb/s, GB/s, MB/s, MiB/s");
		assert_null(unit);
	}
}

static void test_cases_without_figures(void **unused)
{
	check_line(SAMPLE_FAILED,
		   "write/lat/4k/event/server-poll: failed\n  no completion for 5 s\n");
	/* Cases that were not run are listed below the others. */
	check_line(SAMPLE_NOT_RUN, "");
	check_line(SAMPLE_SKIPPED, "");
	/* The trials of a failed case are not shown. */
	sample_latency(&sample.cases[SAMPLE_FAILED]);
	check_line(SAMPLE_FAILED,
		   "write/lat/4k/event/server-poll: failed\n  no completion for 5 s\n");
}

/* Titles are printed when the metric changes, and not repeated after failures. */
static void test_titles(void **unused)
{
	static const struct {
		enum result_status status;
		bool is_bandwidth;
		const char *beginning;
	} rows[SAMPLE_CASES] = {
		{RESULT_FAILED,   false, "0: "         },
		{RESULT_COMPLETE, true,  "\nBANDWIDTH" },
		{RESULT_SKIPPED,  false, ""            },
		{RESULT_COMPLETE, true,  "write "      },
		{RESULT_COMPLETE, false, "\nLATENCY us"},
	};

	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out}, NULL, &sample);
	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		struct result_case *line = &sample.cases[i];
		size_t before;

		result_drop_trials(line);
		(rows[i].is_bandwidth ? sample_bandwidth : sample_latency)(line);
		snprintf(line->id, sizeof(line->id), "%zu", i);
		line->op = "write";
		line->status = rows[i].status;
		fflush(out);
		before = length;
		table_line(&table, line);
		fflush(out);
		assert_int_equal(
			strncmp(text + before, rows[i].beginning, strlen(rows[i].beginning)), 0);
	}
	fclose(out);
	free(text);
}

/* Adds six trials of ten thousand samples each; those of trial k are value + k * step. */
static void fill(struct result_case *line, uint64_t value, uint64_t step)
{
	struct hist *hist = malloc(sizeof(*hist));
	struct error error = {0};

	assert_non_null(hist);
	result_drop_trials(line);
	for (uint64_t k = 0; k < 6; k++) {
		struct result_trial trial = {.messages = 10000, .client = {.messages = 10000}};

		hist_init(hist);
		for (int i = 0; i < 10000; i++)
			hist_add(hist, value + k * step);
		statistic_fill(trial.latency, hist);
		assert_int_equal(result_add_trial(line, &trial, hist, NULL, &error), 0);
	}
	free(hist);
}

/* The samples of six trials, and the figures in the line of the table. */
struct latency_row {
	uint64_t value;
	uint64_t step;
	const char *figures;
};

static void check_rows(const struct latency_row *rows, size_t count, const char *before)
{
	for (size_t i = 0; i < count; i++) {
		char wanted[512];

		fill(&sample.cases[SAMPLE_LATENCY], rows[i].value, rows[i].step);
		snprintf(wanted, sizeof(wanted), "%s%s  0/-\n", before, rows[i].figures);
		check_line(SAMPLE_LATENCY, wanted);
	}
}

/*
 * Three significant digits, but nothing below 1 ns. The median is the last sample of the
 * third trial, at the end of its bin: bins are 8 ns wide above 8192 ns, and 1024 ns above 1 ms.
 */
static void test_digits_of_latencies(void **unused)
{
	static const struct latency_row rows[] = {
		{80,      1,     " 0.082 0.080..0.085  0.085  0.085  0.085"},
		{800,     8,     " 0.816 0.800..0.840  0.840  0.840  0.840"},
		{9000,    100,   "  9.21   9.00..9.50   9.50   9.50   9.50"},
		{50000,   400,   "  50.8   50.0..52.0   52.0   52.0   52.0"},
		{2000000, 20000, "  2041   2000..2100   2100   2100   2100"},
	};

	check_rows(rows, ARRAY_LENGTH(rows), LATENCY "send    64 poll       half       ");
}

#define CALLS_OF(pad, titles)                                                         \
	"\nCALLS us: size 64, poll                               " pad "CPU us/msg\n" \
	"        p50       95% CI    p99  p99.9    max " titles "  client/server\n"

/* Calls also have a rate: means of 820 ns and 2.05 ms. */
static void test_calls(void **unused)
{
	static const struct latency_row rows[] = {
		{800,     8,     "  0.816 0.800..0.840  0.840  0.840  0.840 1219512"},
		{2000000, 20000, "   2041   2000..2100   2100   2100   2100     488"},
	};

	sample.cases[SAMPLE_LATENCY].kind = RESULT_CALL;
	check_rows(&rows[0], 1, CALLS_OF(" ", "calls/s") "send");
	check_rows(&rows[1], 1, CALLS_OF(" ", "calls/s") "send");
}

/* No link rate, so no part of it; no interval with five trials, whose median is 36.4 MB/s. */
static void test_unknown_figures(void **unused)
{
	sample.client.rate_mbps = 0;
	sample.cases[SAMPLE_BANDWIDTH].n_trials = 5;
	check_line(SAMPLE_BANDWIDTH, "\nBANDWIDTH: size 1000, event/poll, t16\n"
				     "                                   CPU us/msg\n"
				     "        Gb/s       95% CI  Mmsg/s  client/server\n"
				     "write  0.291            -  0.0364  0.000/0\n");
}

/* 12500 messages of 1 MB per second are 100 Gb/s. */
static void test_a_fast_link(void **unused)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];

	sample.server.rate_mbps = 200000;
	line->size = 1000000;
	for (size_t i = 0; i < line->n_trials; i++)
		line->trials[i].messages_per_s = 12500;
	check_line(SAMPLE_BANDWIDTH, "\nBANDWIDTH: size 1000000, event/poll, t16\n"
				     "                                         CPU us/msg\n"
				     "        Gb/s       95% CI %line  Mmsg/s  client/server\n"
				     "write    100     100..100   100  0.0125  0.000/0\n");
}

/* Sizes are short where they are exact. */
static void test_sizes(void **unused)
{
	static const struct {
		uint64_t size;
		const char *text;
	} rows[] = {
		{0,          "     0 poll"},
                {1023,       "  1023 poll"},
                {1024,       "    1k poll"},
		{1536,       "  1536 poll"},
                {65536,      "   64k poll"},
                {1 << 20,    "    1M poll"},
		{3 << 29,    " 1536M poll"},
                {1ULL << 40, " 1024G poll"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char text[1024] = "";

		sample.cases[SAMPLE_LATENCY].size = rows[i].size;
		show_line(text, NULL, SAMPLE_LATENCY);
		assert_contains(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_banner, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_needs_of_the_software_device, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_foot, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_latency, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_bandwidth, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_little_bandwidth, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_no_line, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_sizes, open_sample, close_sample),
		cmocka_unit_test(test_many_skipped),
		cmocka_unit_test_setup_teardown(test_units, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_binds, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_flows, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_shares, open_sample, close_sample),
		cmocka_unit_test(test_rejects_unknown_units),
		cmocka_unit_test_setup_teardown(test_cases_without_figures, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_titles, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_digits_of_latencies, open_sample,
						close_sample),
		cmocka_unit_test_setup_teardown(test_unknown_figures, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_a_fast_link, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
