/* SPDX-License-Identifier: MIT */
#include "reports/document/document.h"
#include "reports/document/parse.h"
#include "reports/finding/paired_trials.h"
#include "reports/table/table.h"
#include "reports/test/lib/sample.h"

#define ROUNDS 6
#define POOLED 300

static struct result result;

static int close_result(void **unused)
{
	result_finish(&result);
	return 0;
}

/* Adds a case whose trials have these medians or rates; NULL: a skipped case. */
static struct result_case *add_case(const char *id, const char *metric, const double *values)
{
	struct result_case *line = &result.cases[result.n_cases++];
	bool is_rate = !strcmp(metric, "bw");

	snprintf(line->id, sizeof(line->id), "%s", id);
	line->op = "send";
	line->metric = metric;
	line->cq = line->server_cq = "poll";
	line->transport = "RC";
	line->size = 64;
	line->parameters = json_object();
	line->status = values ? RESULT_COMPLETE : RESULT_SKIPPED;
	/* The pooled p50. */
	line->has_figures = !is_rate;
	for (size_t i = 0; i < STATISTICS; i++)
		line->figures[i] = i == 3 ? POOLED : (double)NAN;
	line->trials = calloc(ROUNDS, sizeof(*line->trials));
	assert_non_null(line->trials);
	for (size_t i = 0; i < ROUNDS && values; i++, line->n_trials++) {
		struct result_trial *trial = &line->trials[i];

		for (size_t j = 0; j < STATISTICS; j++)
			trial->latency[j] = (double)NAN;
		if (is_rate)
			trial->messages_per_s = values[i];
		else
			trial->latency[3] = values[i];
		trial->client = (struct result_cost){
			.messages = 10,
			.user_ns = isnan(values[i]) ? 0 : (uint64_t)(values[i] * 5),
			.system_ns = isnan(values[i]) ? 0 : (uint64_t)(values[i] * 5)};
	}
	return line;
}

static void add_beside(const char *id, const char *metric, const double *values, const char *beside,
		       const char *by)
{
	struct result_case *line = add_case(id, metric, values);

	snprintf(line->beside, sizeof(line->beside), "%s", beside);
	line->by = by;
}

/* Sets the parameter that the last case differs in, for it and for the case it is paired with. */
static void set_parameter(size_t beside, const char *with, const char *without)
{
	struct result_case *line = &result.cases[result.n_cases - 1];

	json_object_set_new(line->parameters, line->by, json_loads(with, JSON_DECODE_ANY, NULL));
	json_object_set_new(result.cases[beside].parameters, line->by,
			    json_loads(without, JSON_DECODE_ANY, NULL));
}

static void open_result(void)
{
	result = (struct result){.cases = calloc(9, sizeof(struct result_case))};
	assert_non_null(result.cases);
}

static json_t *pair_of(json_t *turns, size_t group, size_t number)
{
	return json_array_get(json_object_get(json_array_get(turns, group), "pairs"), number);
}

static double figure(json_t *pair, const char *which, const char *name)
{
	const json_t *object = json_object_get(pair, which);
	const json_t *number = json_object_get(object, name);

	return json_real_value(number ? number
				      : json_object_get(json_object_get(object, "interval"), name));
}

static const char *text(json_t *object, const char *name)
{
	const char *found = json_string_value(json_object_get(object, name));

	return found ? found : "";
}

/*
 * The machine gets slower by half from trial to trial, for both cases alike: the result is the
 * ratio of paired trials, 2, whatever the medians of all trials are.
 */
static void test_drift(void **unused)
{
	static const double base[ROUNDS] = {100, 150, 225, 337.5, 506.25, 759.375};
	static const double with[ROUNDS] = {200, 300, 450, 675, 1012.5, 1518.75};
	json_t *turns;
	json_t *pair;

	open_result();
	add_case("read/lat/64/poll/registered-once", "lat", base);
	add_beside("read/lat/64/poll/registered-each", "lat", with,
		   "read/lat/64/poll/registered-once", "registration");
	set_parameter(0, "\"each\"", "\"once\"");
	turns = paired_trials_make(&result);
	assert_int_equal(json_array_size(turns), 1);
	pair = pair_of(turns, 0, 0);
	assert_string_equal(text(pair, "figure"), "p50_ns");
	assert_string_equal(text(pair, "verdict"), "worse");
	assert_true(figure(pair, "ratio", "low") == 2);
	assert_true(figure(pair, "ratio", "value") == 2);
	assert_true(figure(pair, "ratio", "high") == 2);
	/* The figure comes from the pooled histogram; the interval spans all six trials. */
	assert_true(figure(pair, "without", "value") == POOLED);
	assert_true(figure(pair, "with", "value") == POOLED);
	assert_true(figure(pair, "with", "low") == 200);
	assert_true(figure(pair, "with", "high") == 1518.75);
	assert_string_equal(
		text(json_array_get(turns, 0), "advice"),
		"Register memory once and reuse it (read/lat/64/poll/registered-"
		"each: 2.00..2.00 times the time of read/lat/64/poll/registered-once).");
	json_decref(turns);
}

/* Rates and latencies have opposite directions; six ratios around 1 decide nothing. */
static void test_verdicts(void **unused)
{
	static const double rates[ROUNDS] = {10, 10, 10, 10, 10, 10};
	static const double more[ROUNDS] = {11, 12, 13, 14, 15, 16};
	static const double about[ROUNDS] = {9, 11, 9, 11, 9, 11};
	json_t *turns;

	open_result();
	add_case("write/bw/64/poll", "bw", rates);
	add_beside("write/bw/64/poll/l4", "bw", more, "write/bw/64/poll", "post-list");
	set_parameter(0, "4", "1");
	add_beside("write/bw/64/poll/l16", "bw", about, "write/bw/64/poll", "post-list");
	set_parameter(0, "16", "1");
	add_case("send/lat/64/poll", "lat", rates);
	add_beside("send/lat/64/event", "lat", more, "send/lat/64/poll", "cq");
	result.cases[4].cq = "event";
	turns = paired_trials_make(&result);
	assert_int_equal(json_array_size(turns), 2);
	assert_string_equal(text(pair_of(turns, 0, 0), "verdict"), "better");
	assert_true(figure(pair_of(turns, 0, 0), "ratio", "low") == 1.1);
	assert_true(figure(pair_of(turns, 0, 0), "ratio", "high") == 1.6);
	assert_string_equal(text(pair_of(turns, 0, 1), "verdict"), "unclear");
	/* The interval is 0.9 to 1.1 around 1; the wider side is 1.05 / 0.9. */
	assert_near(json_number_value(json_object_get(pair_of(turns, 0, 1), "detectable")),
		    1.05 / 0.9 - 1, 1e-9);
	assert_null(json_object_get(pair_of(turns, 0, 0), "detectable"));
	/* Latency and its CPU time: (5 + 5) times the value for 10 messages is the value. */
	assert_string_equal(text(pair_of(turns, 1, 0), "verdict"), "worse");
	assert_string_equal(text(pair_of(turns, 1, 1), "figure"), "client_cpu_ns");
	assert_true(figure(pair_of(turns, 1, 1), "without", "low") == 10);
	assert_string_equal(text(json_array_get(turns, 0), "advice"),
			    "Post several operations with one call (write/bw/64/poll/l4: 1.10.."
			    "1.60 times the rate of write/bw/64/poll).");
	json_decref(turns);
}

/* Below the 5 % threshold a figure is the same, no matter how certain the difference is. */
static void test_threshold(void **unused)
{
	static const double base[ROUNDS] = {1000, 1000, 1000, 1000, 1000, 1000};
	static const double less[ROUNDS] = {960, 960, 960, 960, 960, 960};
	static const double more[ROUNDS] = {1051, 1051, 1051, 1051, 1051, 1051};
	json_t *turns;

	open_result();
	add_case("write/lat/4k/poll/pinoff", "lat", base);
	add_beside("write/lat/4k/poll", "lat", less, "write/lat/4k/poll/pinoff", "pin");
	add_beside("write/lat/4k/poll/pinfar", "lat", more, "write/lat/4k/poll/pinoff", "pin");
	turns = paired_trials_make(&result);
	assert_string_equal(text(pair_of(turns, 0, 0), "verdict"), "same");
	assert_string_equal(text(pair_of(turns, 0, 1), "verdict"), "worse");
	json_decref(turns);
}

/* If a trial lacks a median, because of too few messages, all are compared by their means. */
static void test_few_messages(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double with[ROUNDS] = {300, 300, 300, (double)NAN, 300, 300};
	json_t *missing;
	json_t *turns;

	open_result();
	add_case("write/lat/64/poll/I0", "lat", base);
	add_beside("write/lat/64/poll/I256", "lat", with, "write/lat/64/poll/I0", "inline");
	for (size_t i = 0; i < ROUNDS; i++) {
		result.cases[0].trials[i].latency[1] = 100;
		result.cases[1].trials[i].latency[1] = 400;
	}
	turns = paired_trials_make(&result);
	assert_string_equal(text(pair_of(turns, 0, 0), "figure"), "mean_ns");
	assert_true(figure(pair_of(turns, 0, 0), "ratio", "low") == 4);
	json_decref(turns);
	/* Trials without a partner are not compared. */
	result.cases[1].n_trials = ROUNDS - 1;
	turns = paired_trials_make(&result);
	assert_null(pair_of(turns, 0, 0));
	missing = json_object_get(json_array_get(turns, 0), "missing");
	assert_int_equal(json_array_size(missing), 1);
	assert_string_equal(json_string_value(json_array_get(missing, 0)),
			    "write/lat/64/poll/I256: too few messages, or a different number of "
			    "trials");
	json_decref(turns);
}

/* Five trials give a 93.75 % interval, 1 - 2 / 2^5, which is too little for advice. */
static void test_few_rounds(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double twice[ROUNDS] = {200, 200, 200, 200, 200, 200};

	for (size_t n = 1; n <= ROUNDS; n++) {
		json_t *turns;

		open_result();
		add_case("read/lat/64/poll", "lat", base);
		add_beside("read/lat/64/poll/each", "lat", twice, "read/lat/64/poll",
			   "registration");
		set_parameter(0, "\"each\"", "\"once\"");
		result.cases[0].n_trials = result.cases[1].n_trials = n;
		turns = paired_trials_make(&result);
		assert_string_equal(text(pair_of(turns, 0, 0), "verdict"),
				    n < ROUNDS ? "unclear" : "worse");
		assert_int_equal(text(json_array_get(turns, 0), "advice")[0] != 0, n == ROUNDS);
		json_decref(turns);
		result_finish(&result);
	}
}

/* Advice requires the tip's base value as the base of the comparison. */
static void test_other_bases(void **unused)
{
	static const double base[ROUNDS] = {200, 200, 200, 200, 200, 200};
	static const double half[ROUNDS] = {100, 100, 100, 100, 100, 100};
	json_t *turns;

	open_result();
	add_case("read/lat/64/poll/registered-each", "lat", base);
	add_beside("read/lat/64/poll/registered-once", "lat", half,
		   "read/lat/64/poll/registered-each", "registration");
	set_parameter(0, "\"once\"", "\"each\"");
	turns = paired_trials_make(&result);
	assert_string_equal(text(pair_of(turns, 0, 0), "verdict"), "better");
	assert_string_equal(text(json_array_get(turns, 0), "advice"), "");
	json_decref(turns);
	/* Half a round trip is not compared with a full one. */
	result.cases[1].kind = RESULT_FULL;
	turns = paired_trials_make(&result);
	assert_null(pair_of(turns, 0, 0));
	json_decref(turns);
}

static void check_advice(const char *advice)
{
	json_t *turns = paired_trials_make(&result);

	assert_int_equal(json_array_size(turns), 1);
	assert_string_equal(text(json_array_get(turns, 0), "advice"), advice);
	json_decref(turns);
	close_result(NULL);
}

/* Four sizes: latencies with inline data are given, those without are 100. */
static void check_inline(const double *const with[4], const char *advice)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const int sizes[] = {8, 32, 64, 128};

	open_result();
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		char ids[2][64];

		snprintf(ids[0], sizeof(ids[0]), "write/lat/%d/poll/I0", sizes[i]);
		snprintf(ids[1], sizeof(ids[1]), "write/lat/%d/poll/I256", sizes[i]);
		add_case(ids[0], "lat", base);
		add_beside(ids[1], "lat", with[i], ids[0], "inline");
		set_parameter(2 * i, "256", "0");
		result.cases[result.n_cases - 1].size = (uint64_t)sizes[i];
	}
	check_advice(advice);
}

/* Finds the size from which inline data does not help; gains above it are luck. */
static void test_break_even(void **unused)
{
	static const double same[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double half[ROUNDS] = {50, 50, 50, 50, 50, 50};
	static const double wide[ROUNDS] = {50, 150, 50, 150, 50, 150};
	static const double more[ROUNDS] = {150, 150, 150, 150, 150, 150};
	static const struct {
		const double *with[4];
		const char *advice;
	} rows[] = {
		{{half, half, same, half},
		 "Post messages of up to 32 bytes inline: at 64 the verdict is same."   },
		{{half, half, wide, half},
		 "Post messages of up to 32 bytes inline: at 64 the verdict is unclear."},
		{{same, wide, same, same},
		 "Unclear (write/lat/32/poll/I256 compared with write/lat/32/poll/I0): the "
		 "smallest difference that the data could have shown is "
		 "110 %. Use more --trials."					    },
		{{half, half, half, half},
		 "Post messages inline: it still helps at 128 bytes, the largest size." },
		{{same, same, same, same},
		 "Inline data does not help at any of the 4 sizes: post without it."    },
		{{more, more, same, more},
		 "Do not post data inline: slower at 3 of the 4 sizes, faster at none." },
		{{same, half, more, half},
		 "Inline data helps at 2 of the 4 sizes, but at 8 bytes, the smallest, the verdict is "
		 "same: no size limit can be recommended."                              },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_inline(rows[i].with, rows[i].advice);
}

/* Advice for each verdict. */
static void test_pinning(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double half[ROUNDS] = {50, 50, 50, 50, 50, 50};
	static const double more[ROUNDS] = {150, 150, 150, 150, 150, 150};
	static const struct {
		const double *with;
		const char *advice;
	} rows[] = {
		{half, "Pin the thread as near does: better (0.500..0.500 times) than off."     },
		{more,
		 "Leave the thread to the scheduler: near is worse (1.50..1.50 times) than off."},
		{base, "Pinning does not help while nothing else uses the CPUs."                },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		open_result();
		add_case("off", "lat", base);
		add_beside("near", "lat", rows[i].with, "off", "pin");
		set_parameter(0, "\"auto\"", "\"off\"");
		check_advice(rows[i].advice);
	}
}

/* The advice quotes latency and CPU time of both other completion modes. */
static void test_completion_modes(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double half[ROUNDS] = {50, 50, 50, 50, 50, 50};
	static const double more[ROUNDS] = {150, 150, 150, 150, 150, 150};

	open_result();
	add_case("poll", "lat", base);
	add_beside("event", "lat", more, "poll", "cq");
	result.cases[1].cq = "event";
	set_parameter(0, "\"event\"", "\"poll\"");
	add_beside("adaptive", "lat", half, "poll", "cq");
	result.cases[2].cq = "adaptive";
	set_parameter(0, "\"adaptive\"", "\"poll\"");
	check_advice(
		"Events compared with polling: latency worse (1.50..1.50 times), CPU time per "
		"message worse (1.50..1.50 times); adaptive mode: latency better (0.500..0.500 "
		"times), CPU time better (0.500..0.500 times): poll; use events on CPUs that wait "
		"long for each message.");
}

/* Sets the CPU time of each trial of the case. */
static void spend(struct result_case *line, double ns)
{
	for (size_t i = 0; i < line->n_trials; i++)
		line->trials[i].client = (struct result_cost){
			.messages = 1,
			.user_ns = (uint64_t)ns,
		};
}

/* With client and server on one CPU, events can win twice: a polling peer delays the other. */
static void test_event_advice(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	static const double half[ROUNDS] = {50, 50, 50, 50, 50, 50};
	static const double more[ROUNDS] = {150, 150, 150, 150, 150, 150};
	static const double wide[ROUNDS] = {50, 150, 50, 150, 50, 150};
	static const struct {
		const double *latency;
		double work;
		const char *advice;
	} rows[] = {
		{half, 10,
		 "better (0.500..0.500 times), CPU time per message better (0.100..0.100 "
		 "times): wait for events."						       },
		{base, 10,
		 "same (1.00..1.00 times), CPU time per message better (0.100..0.100 "
		 "times): wait for events."						       },
		{half, 100,
		 "better (0.500..0.500 times), CPU time per message same (1.00..1.00 "
		 "times): wait for events."						       },
		{half, 200,
		 "better (0.500..0.500 times), CPU time per message worse (2.00..2.00 "
		 "times): wait for events if latency matters, and poll if the CPU has other work."},
		{more, 10,
		 "worse (1.50..1.50 times), CPU time per message better (0.100..0.100 "
		 "times): poll if latency matters, and wait for events if the CPU has other work."},
		{base, 100,
		 "same (1.00..1.00 times), CPU time per message same (1.00..1.00 "
		 "times): poll; use events on CPUs that wait long for each message."              },
		{wide, 10,
		 "unclear, CPU time per message better (0.100..0.100 times): use more "
		 "--trials to decide."							    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char advice[512];

		open_result();
		spend(add_case("poll", "lat", base), 100);
		add_beside("event", "lat", rows[i].latency, "poll", "cq");
		spend(&result.cases[1], rows[i].work);
		result.cases[1].cq = "event";
		set_parameter(0, "\"event\"", "\"poll\"");
		snprintf(advice, sizeof(advice), "Events compared with polling: latency %s",
			 rows[i].advice);
		check_advice(advice);
	}
}

static char *printed(void)
{
	char *found = NULL;
	size_t length;
	FILE *out = open_memstream(&found, &length);

	assert_non_null(out);
	paired_trials_print(out, &result);
	fclose(out);
	return found;
}

/* A pair that could not be measured is listed with the reason; without pairs nothing is printed. */
static void test_missing_pairs(void **unused)
{
	static const double base[ROUNDS] = {100, 100, 100, 100, 100, 100};
	char *found;

	open_result();
	add_case("write/lat/4k/poll/pinoff", "lat", base);
	found = printed();
	assert_string_equal(found, "");
	free(found);
	assert_null(paired_trials_make(&result));
	add_beside("write/lat/4k/poll/pinfar", "lat", NULL, "write/lat/4k/poll/pinoff", "pin");
	snprintf(result.cases[1].error, sizeof(result.cases[1].error), "only one NUMA node");
	found = printed();
	assert_non_null(strstr(found, "\npin: affinity\n"));
	assert_non_null(
		strstr(found, "\n  not shown: write/lat/4k/poll/pinfar: only one NUMA node\n"));
	assert_null(strstr(found, "->"));
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_drift, close_result),
		cmocka_unit_test_teardown(test_verdicts, close_result),
		cmocka_unit_test_teardown(test_threshold, close_result),
		cmocka_unit_test_teardown(test_few_messages, close_result),
		cmocka_unit_test_teardown(test_few_rounds, close_result),
		cmocka_unit_test_teardown(test_other_bases, close_result),
		cmocka_unit_test(test_break_even),
		cmocka_unit_test(test_pinning),
		cmocka_unit_test(test_completion_modes),
		cmocka_unit_test(test_event_advice),
		cmocka_unit_test_teardown(test_missing_pairs, close_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
