/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "core/test/lib/check.h"
#include "reports/finding/summary.h"
#include "reports/result/statistic.h"

#define TRIALS 6

#define SOFT "SUMMARY of a software device; hardware behaves differently\n"

/* A case of which the trials are 1 % above and below a value: ns, or messages per second. */
struct row {
	const char *id;
	const char *op;
	const char *metric;
	const char *cq;
	uint64_t size;
	enum result_kind kind;
	double value;
	uint64_t cpu_ns; /* per message */
};

static struct result_case cases[8];
static struct result_trial trials[ARRAY_LENGTH(cases)][TRIALS];
static struct result result;
static char text[2048];
static json_t *budget; /* trials of such cases are run in turn */

static void fill_case(struct result_case *line, struct result_trial *of, const struct row *row)
{
	*line = (struct result_case){
		.op = row->op,
		.metric = row->metric,
		.cq = row->cq,
		.server_cq = row->cq,
		.size = row->size,
		.kind = row->kind,
		.status = RESULT_COMPLETE,
		.has_figures = strcmp(row->metric, "lat") == 0,
		.trials = of,
		.parameters = budget,
		.client = {.messages = 1, .user_ns = row->cpu_ns},
		.n_trials = TRIALS,
	};
	snprintf(line->id, sizeof(line->id), "%s", row->id);
	for (size_t i = 0; i < STATISTICS; i++)
		line->figures[i] = row->value;
	for (size_t i = 0; i < TRIALS; i++) {
		double value = row->value * (i % 2 ? 1.01 : 0.99);

		of[i] = (struct result_trial){
			.messages_per_s = value,
			.client = {.messages = 1, .user_ns = row->cpu_ns},
		};
		for (size_t j = 0; j < STATISTICS; j++)
			of[i].latency[j] = value;
	}
}

static void fill(const struct row *rows, size_t count)
{
	memset(&result, 0, sizeof(result));
	for (size_t i = 0; i < count; i++)
		fill_case(&cases[i], trials[i], &rows[i]);
	result.cases = cases;
	result.n_cases = count;
	result.client.kind = result.server.kind = "hardware";
	result.client.rate_mbps = result.server.rate_mbps = 100000;
}

static void check(const char *wanted)
{
	FILE *out;

	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	summary_print(out, &result);
	fclose(out);
	assert_string_equal(text, wanted);
}

/* Until completion is another kind of latency, and another setting is another group. */
static void test_fastest(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",     "send",  "lat", "poll", 64, RESULT_HALF,       1400, 0},
		{"write/lat/64/poll",    "write", "lat", "poll", 64, RESULT_HALF,       1000, 0},
		{"read/lat/64/poll",     "read",  "lat", "poll", 64, RESULT_COMPLETION, 500,  0},
		{"write/lat/64/poll/I0", "write", "lat", "poll", 64, RESULT_HALF,       600,  0},
	};

	fill(rows, ARRAY_LENGTH(rows));
	check("SUMMARY\n  Lowest latency at size 64: write, 1.00 us, half a round trip; next is send, "
	      "x1.40\n");
	/* Alone, or with too few trials for an interval, there is nothing to say. */
	result.n_cases = 1;
	check("");
	result.n_cases = 2;
	cases[1].n_trials = TRIALS - 1;
	check("");
	cases[1].n_trials = TRIALS;
	cases[1].status = RESULT_FAILED;
	check("");
}

static void test_no_difference(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",      "send",      "lat", "poll", 64, RESULT_HALF, 1020, 0},
		{"write/lat/64/poll",     "write",     "lat", "poll", 64, RESULT_HALF, 1000, 0},
		{"write-imm/lat/64/poll", "write-imm", "lat", "poll", 64, RESULT_HALF, 1010, 0},
	};

	fill(rows, 2);
	check("SUMMARY\n  Latency at size 64: no difference shown between write (1.00 us) and send "
	      "(1.02 us)\n");
	fill(rows, ARRAY_LENGTH(rows));
	check("SUMMARY\n  Latency at size 64: no difference shown between write (1.00 us) and 2 other "
	      "operations\n");
	/* A trial twice as slow as the others leaves a large difference unclear. */
	for (size_t i = 0; i < STATISTICS; i++) {
		cases[0].figures[i] = 1300;
		trials[0][0].latency[i] = 3000;
	}
	result.n_cases = 2;
	check("SUMMARY\n  Latency at size 64: no difference shown between write (1.00 us) and send "
	      "(1.30 us)\n");
}

/* Sets the CPU time of the second case. */
static void set_cpu(uint64_t ns)
{
	cases[1].client.user_ns = ns;
	for (size_t i = 0; i < TRIALS; i++)
		trials[1][i].client.user_ns = ns;
}

/* 11.6 / 0.4 = 29; 600 / 1000 = 0.6. */
static void test_events(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",  "send", "lat", "poll",  64, RESULT_HALF, 400,   1000},
		{"send/lat/64/event", "send", "lat", "event", 64, RESULT_HALF, 11600, 600 },
	};

	fill(rows, ARRAY_LENGTH(rows));
	check("SUMMARY\n  Events cost 11.2 us of latency at size 64 (send, x29.0) and save 40 % of "
	      "the client's CPU time\n");
	set_cpu(1500);
	check("SUMMARY\n  Events cost 11.2 us of latency at size 64 (send, x29.0) and multiply the "
	      "client\'s CPU time by 1.50\n");
	set_cpu(1000);
	check("SUMMARY\n  Events cost 11.2 us of latency at size 64 (send, x29.0)\n");
	cases[1].server_cq = "poll";
	check("");
}

/* Relative to its median, send has the longer tail: 30000 / 1500 = 20. */
static void test_tail(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/8/poll",   "send",  "lat", "poll", 8,  RESULT_HALF, 100,  0},
		{"write/lat/8/poll",  "write", "lat", "poll", 8,  RESULT_HALF, 900,  0},
		{"send/lat/64/poll",  "send",  "lat", "poll", 64, RESULT_HALF, 1500, 0},
		{"write/lat/64/poll", "write", "lat", "poll", 64, RESULT_HALF, 1000, 0},
	};
	size_t far = 0;

	while (strcmp(statistics[far].key, "p99_9") != 0)
		far++;
	fill(rows, ARRAY_LENGTH(rows));
	cases[2].figures[far] = 30000;
	cases[3].figures[far] = 15000;
	/* 64 bytes are preferred to the smallest size. */
	check("SUMMARY\n  Lowest latency at size 64: write, 1.00 us, half a round trip; next is send, "
	      "x1.50\n  Longest tail at size 64: send, p99.9 30.0 us, x20.0 the median\n");
	cases[2].figures[far] = cases[3].figures[far] = (double)NAN;
	check("SUMMARY\n  Lowest latency at size 64: write, 1.00 us, half a round trip; next is send, "
	      "x1.50\n");
}

/* Latencies that are the same leave only the CPU time, and without that nothing. */
static void test_events_cost_nothing(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",  "send", "lat", "poll",  64, RESULT_HALF, 400, 1000},
		{"send/lat/64/event", "send", "lat", "event", 64, RESULT_HALF, 404, 600 },
	};

	fill(rows, ARRAY_LENGTH(rows));
	check("SUMMARY\n  Events save 40 % of the client's CPU time at size 64 (send); no difference "
	      "in latency shown\n");
	set_cpu(1000);
	check("");
}

static void test_sides(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",      "send",      "lat", "poll", 64, RESULT_HALF, 1400, 0},
		{"write/lat/64/poll",     "write",     "lat", "poll", 64, RESULT_HALF, 1000, 0},
		{"write-imm/lat/64/poll", "write-imm", "lat", "poll", 64, RESULT_HALF, 1200, 0},
	};

	fill(rows, ARRAY_LENGTH(rows));
	check("SUMMARY\n  Lowest latency at size 64: write, 1.00 us, half a round trip; next is "
	      "write-imm, x1.20\n"
	      "  At size 64, two-sided send has 1.40 times the latency of one-sided write\n");
}

/* 11625 messages of 1 MiB are 97.5 Gb/s, of 100 Gb/s; the rate of other sizes is lower. */
static void test_bandwidth(void **unused)
{
	static const struct row rows[] = {
		{"write/bw/64/poll", "write", "bw", "poll", 64,      RESULT_HALF, 1000000, 0},
		{"send/bw/64/poll",  "send",  "bw", "poll", 64,      RESULT_HALF, 2000000, 0},
		{"write/bw/4k/poll", "write", "bw", "poll", 4096,    RESULT_HALF, 1000000, 0},
		{"send/bw/4k/poll",  "send",  "bw", "poll", 4096,    RESULT_HALF, 1000000, 0},
		{"write/bw/8k/poll", "write", "bw", "poll", 8192,    RESULT_HALF, 1000000, 0},
		{"send/bw/8k/poll",  "send",  "bw", "poll", 8192,    RESULT_HALF, 500000,  0},
		{"write/bw/1m/poll", "write", "bw", "poll", 1048576, RESULT_HALF, 11625,   0},
		{"send/bw/1m/poll",  "send",  "bw", "poll", 1048576, RESULT_HALF, 5812.5,  0},
	};
	static const char races[] =
		"  Highest bandwidth at size 1M: write, 97.5 Gb/s; next is send, x0.500\n"
		"  Bandwidth at size 4k: no difference shown between write (32.8 Gb/s) and send "
		"(32.8 Gb/s)\n"
		"  Highest bandwidth at size 64: send, 1.02 Gb/s; next is write, x0.500\n";
	char wanted[1024];

	fill(rows, ARRAY_LENGTH(rows));
	snprintf(
		wanted, sizeof(wanted), "%s%s",
		"SUMMARY\n  Highest bandwidth measured: write at size 1M, 97.5 % of the line rate\n",
		races);
	check(wanted);
	result.client.kind = "soft";
	snprintf(wanted, sizeof(wanted), "%s%s", SOFT, races);
	check(wanted);
	/* A software device that probed what operations need has no times. */
	cases[0].needs = json_true();
	check("");
}

/* Trials that were not run in turn. */
static void test_drift(void **unused)
{
	static const struct row rows[] = {
		{"send/lat/64/poll",  "send",  "lat", "poll", 64, RESULT_HALF, 1400, 0},
		{"write/lat/64/poll", "write", "lat", "poll", 64, RESULT_HALF, 1000, 0},
	};

	fill(rows, ARRAY_LENGTH(rows));
	cases[1].parameters = NULL;
	check("SUMMARY\n  Lowest latency at size 64: write, 1.00 us, half a round trip; next is send, "
	      "x1.40\n  Cases ran one after another: drift of the hosts counts as a difference; "
	      "see --budget\n");
}

static int open_budget(void **unused)
{
	budget = json_pack("{s:i}", "precision", 5);
	return !budget;
}

static int close_budget(void **unused)
{
	json_decref(budget);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fastest), cmocka_unit_test(test_no_difference),
		cmocka_unit_test(test_events),  cmocka_unit_test(test_events_cost_nothing),
		cmocka_unit_test(test_sides),   cmocka_unit_test(test_bandwidth),
		cmocka_unit_test(test_tail),    cmocka_unit_test(test_drift),
	};

	return cmocka_run_group_tests(tests, open_budget, close_budget);
}
