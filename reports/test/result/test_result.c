/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/result/result.h"
#include "reports/test/lib/failing.h"

#define MS 1000000ULL

static struct result_case line;
static struct hist hist;
static struct rate_windows windows;
static struct error error;

static int reset(void **unused)
{
	result_drop_trials(&line);
	line = (struct result_case){.id = "send/lat/64/poll", .status = RESULT_COMPLETE};
	error = (struct error){0};
	allocations = -1;
	return 0;
}

static int drop(void **unused)
{
	allocations = -1;
	result_drop_trials(&line);
	return 0;
}

static void check_cost(const struct result_cost *found, uint64_t factor)
{
	assert_int_equal(found->messages, 1 * factor);
	assert_int_equal(found->user_ns, 2 * factor);
	assert_int_equal(found->system_ns, 3 * factor);
	assert_int_equal(found->voluntary_switches, 4 * factor);
	assert_int_equal(found->involuntary_switches, 5 * factor);
	assert_int_equal(found->cq_events, 6 * factor);
	assert_int_equal(found->completions, 7 * factor);
}

static struct result_cost cost(uint64_t factor)
{
	return (struct result_cost){.messages = 1 * factor,
				    .user_ns = 2 * factor,
				    .system_ns = 3 * factor,
				    .voluntary_switches = 4 * factor,
				    .involuntary_switches = 5 * factor,
				    .cq_events = 6 * factor,
				    .completions = 7 * factor};
}

static int add_latency(uint64_t first, uint64_t second)
{
	struct result_trial trial = {.messages = 2,
				     .duration_ns = first + second,
				     .client = cost(first),
				     .server = cost(second)};

	hist_init(&hist);
	hist_add(&hist, first);
	hist_add(&hist, second);
	statistic_fill(trial.latency, &hist);
	return result_add_trial(&line, &trial, &hist, NULL, &error);
}

static int add_windows(uint64_t window_ns, uint64_t first, uint64_t second, uint64_t rest)
{
	struct result_trial trial = {.messages = first + second + rest,
				     .duration_ns = 2 * window_ns + 1,
				     .bytes_per_s = (double)first,
				     .client = cost(1),
				     .server = cost(2)};

	rate_windows_init(&windows, window_ns);
	rate_windows_add(&windows, 0, first);
	rate_windows_add(&windows, window_ns, second);
	rate_windows_add(&windows, 2 * window_ns, rest);
	rate_windows_finish(&windows, trial.duration_ns);
	return result_add_trial(&line, &trial, NULL, &windows, &error);
}

static void test_latencies_are_merged(void **unused)
{
	assert_int_equal(add_latency(100, 200), 0);
	assert_int_equal(line.n_trials, 1);
	assert_null(line.windows);
	assert_int_equal(add_latency(50, 7000), 0);
	assert_int_equal(add_latency(300, 1ULL << 37), 0);
	assert_int_equal(line.n_trials, 3);
	assert_int_equal(line.messages, 6);
	assert_int_equal(line.duration_ns, 300 + 7050 + 300 + (1ULL << 37));
	assert_int_equal(line.latency->count, 6);
	assert_int_equal(line.latency->over, 1);
	assert_int_equal(line.latency->min, 50);
	assert_int_equal(line.latency->max, 1ULL << 37);
	assert_int_equal(line.latency->sum, 7650 + (1ULL << 37));
	assert_int_equal(line.latency->bins[200], 1);
	check_cost(&line.client, 100 + 50 + 300);
	check_cost(&line.server, 200 + 7000 + (1ULL << 37));
	/* Each trial stays as it was. */
	assert_int_equal(line.trials[1].duration_ns, 7050);
	assert_near(line.trials[0].latency[0], 100, 0);
	assert_near(line.trials[1].latency[1], 3525, 0);
	check_cost(&line.trials[2].client, 300);
	/* The histogram is the caller's. */
	assert_int_equal(hist.count, 2);
}

static void test_losses_add_up(void **unused)
{
	static const struct result_trial trials[] = {
		{.messages = 90, .duration_ns = 5, .sent = 100, .lost = 10},
		{.messages = 7,  .duration_ns = 5, .sent = 12,  .lost = 5 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(trials); i++)
		assert_int_equal(result_add_trial(&line, &trials[i], NULL, NULL, &error), 0);
	assert_int_equal(line.messages, 97);
	assert_int_equal(line.sent, 112);
	assert_int_equal(line.lost, 15);
}

static void test_windows_are_appended(void **unused)
{
	static const uint64_t wanted[] = {5, 6, 8, 9};

	assert_int_equal(add_windows(10 * MS, 5, 6, 7), 0);
	assert_null(line.latency);
	assert_int_equal(add_windows(10 * MS, 8, 9, 1), 0);
	assert_int_equal(line.n_trials, 2);
	assert_int_equal(line.messages, 18 + 18);
	assert_int_equal(line.windows->window_ns, 10 * MS);
	assert_int_equal(line.windows->count, ARRAY_LENGTH(wanted));
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
		assert_int_equal(line.windows->messages[i], wanted[i]);
	assert_int_equal(line.windows->rest, 8);
	assert_near(line.trials[1].bytes_per_s, 8, 0);
	check_cost(&line.server, 4);
	/* Longer windows of a slow trial make all windows longer. */
	assert_int_equal(add_windows(20 * MS, 1, 2, 0), 0);
	assert_int_equal(line.windows->window_ns, 20 * MS);
	assert_int_equal(line.windows->count, 4);
	assert_int_equal(line.windows->messages[0], 11);
	assert_int_equal(line.windows->messages[3], 2);
}

/* Windows that cannot be merged are an error, and the case is unchanged. */
static void test_windows_that_do_not_fit(void **unused)
{
	assert_int_equal(add_windows(10 * MS, 5, 6, 7), 0);
	assert_int_equal(add_windows(15 * MS, 5, 6, 7), -EINVAL);
	assert_contains(error.text, "cannot be merged");
	assert_int_equal(line.n_trials, 1);
	assert_int_equal(line.messages, 18);
	check_cost(&line.client, 1);
}

static void test_dropped(void **unused)
{
	assert_int_equal(add_latency(100, 200), 0);
	result_drop_trials(&line);
	assert_int_equal(line.n_trials, 0);
	assert_null(line.trials);
	assert_null(line.latency);
	assert_int_equal(line.messages, 0);
	assert_int_equal(line.duration_ns, 0);
	check_cost(&line.client, 0);
	check_cost(&line.server, 0);
	/* Id and status stay, and new trials can be added. */
	assert_string_equal(line.id, "send/lat/64/poll");
	assert_int_equal(line.status, RESULT_COMPLETE);
	result_drop_trials(&line);
	assert_int_equal(add_windows(10 * MS, 1, 2, 3), 0);
	assert_int_equal(line.windows->count, 2);
	assert_int_equal(line.n_trials, 1);
}

static int add_warmup(uint64_t first, uint64_t second)
{
	hist_init(&hist);
	hist_add(&hist, first);
	hist_add(&hist, second);
	return result_add_warmup(&line, &hist, &error);
}

/* Warm-up latencies are kept separately and dropped with the trials. */
static void test_warmups(void **unused)
{
	hist_init(&hist);
	assert_int_equal(result_add_warmup(&line, NULL, &error), 0);
	assert_int_equal(result_add_warmup(&line, &hist, &error), 0);
	assert_null(line.warmup);
	allocations = 0;
	assert_int_equal(add_warmup(900, 800), -ENOMEM);
	assert_contains(error.text, "cannot keep the results");
	assert_null(line.warmup);
	assert_int_equal(add_latency(100, 200), 0);
	assert_int_equal(add_warmup(900, 800), 0);
	assert_int_equal(add_warmup(800, 1ULL << 37), 0);
	assert_int_equal(line.warmup->count, 4);
	assert_int_equal(line.warmup->over, 1);
	assert_int_equal(line.warmup->bins[800], 2);
	assert_int_equal(line.latency->count, 2);
	assert_int_equal(line.latency->max, 200);
	result_drop_trials(&line);
	assert_null(line.warmup);
}

/* If an allocation fails, the trial is not added, and the next one can be. */
static void test_no_memory(void **unused)
{
	for (int n = 0; n < 2; n++) {
		reset(NULL);
		allocations = n;
		assert_int_equal(add_latency(100, 200), -ENOMEM);
		assert_contains(error.text, "cannot keep the results");
		assert_int_equal(line.n_trials, 0);
		assert_int_equal(line.messages, 0);
		assert_int_equal(add_latency(100, 200), 0);
		assert_int_equal(line.n_trials, 1);
		assert_int_equal(line.latency->count, 2);
	}
	for (int n = 0; n < 2; n++) {
		reset(NULL);
		allocations = n;
		assert_int_equal(add_windows(10 * MS, 1, 2, 3), -ENOMEM);
		assert_int_equal(line.n_trials, 0);
		assert_int_equal(add_windows(10 * MS, 1, 2, 3), 0);
		assert_int_equal(line.windows->count, 2);
	}
	/* One more trial needs one allocation. */
	allocations = 0;
	assert_int_equal(add_windows(10 * MS, 4, 5, 6), -ENOMEM);
	assert_int_equal(line.windows->count, 2);
	assert_int_equal(line.messages, 6);
}

static void test_a_result_is_finished(void **unused)
{
	struct result result = {.cases = calloc(2, sizeof(line)),
				.n_cases = 2,
				.command = json_array(),
				.plan = json_array()};

	assert_non_null(result.cases);
	assert_int_equal(add_latency(1, 2), 0);
	result.cases[0] = line;
	result.cases[0].parameters = json_object();
	line = (struct result_case){0};
	result_finish(&result);
	assert_null(result.cases);
	assert_int_equal(result.n_cases, 0);
	result_finish(&result);
}

/* The names are part of documents. */
static void test_names(void **unused)
{
	assert_string_equal(result_status_name(RESULT_INTERRUPTED), "interrupted");
	assert_string_equal(result_status_name(RESULT_COMPLETE), "complete");
	assert_string_equal(result_status_name(RESULT_FAILED), "failed");
	assert_string_equal(result_status_name(RESULT_SKIPPED), "skipped");
	assert_string_equal(result_kind_name(RESULT_HALF), "half");
	assert_string_equal(result_kind_name(RESULT_FULL), "full");
	assert_string_equal(result_kind_name(RESULT_COMPLETION), "completion");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_latencies_are_merged, reset, drop),
		cmocka_unit_test_setup_teardown(test_losses_add_up, reset, drop),
		cmocka_unit_test_setup_teardown(test_windows_are_appended, reset, drop),
		cmocka_unit_test_setup_teardown(test_windows_that_do_not_fit, reset, drop),
		cmocka_unit_test_setup_teardown(test_dropped, reset, drop),
		cmocka_unit_test_setup_teardown(test_warmups, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_memory, reset, drop),
		cmocka_unit_test_setup_teardown(test_a_result_is_finished, reset, drop),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
