/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/result/shares.h"
#include "reports/test/lib/failing.h"

static struct shares shares;
static struct shares other;
static struct error error;

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	allocations = -1;
	shares_close(&shares);
	shares_close(&other);
	return 0;
}

static void fill(struct shares *into, unsigned int threads, unsigned int qps,
		 const uint64_t *messages, const uint64_t *seconds)
{
	assert_int_equal(shares_open(into, threads, qps, &error), 0);
	for (unsigned int i = 0; i < threads * qps; i++)
		into->messages[i] = messages[i];
	for (unsigned int i = 0; i < threads; i++)
		into->duration_ns[i] = seconds[i] * 1000000000;
}

#define FILL(into, threads, qps, seconds, ...) \
	fill(into, threads, qps, (const uint64_t[]){__VA_ARGS__}, (const uint64_t[])seconds)
#define OF(...)             \
	{                   \
		__VA_ARGS__ \
	}

/* The indices were computed in Python: sum(x)**2 / (len(x) * sum(y * y for y in x)). */
static void test_fairness(void **unused)
{
	FILL(&shares, 1, 4, OF(1), 100, 200, 300, 400);
	assert_true(fabs(shares_qp_fairness(&shares) - 0.8333333333333334) < 1e-12);
	assert_true(shares_thread_fairness(&shares) == 1);
	assert_true(shares_thread_rate(&shares, 0) == 1000);
	assert_true(shares_qp_rate(&shares, 0, 3) == 400);
	/* Rates, not counts. */
	FILL(&shares, 2, 2, OF(2, 4), 3, 1, 5, 7);
	assert_true(fabs(shares_qp_fairness(&shares) - 0.8771929824561403) < 1e-12);
	assert_true(fabs(shares_thread_fairness(&shares) - 0.9615384615384616) < 1e-12);
	assert_int_equal(shares_of_thread(&shares, 0), 4);
	assert_int_equal(shares_of_thread(&shares, 1), 12);
	FILL(&shares, 2, 1, OF(1, 1), 17, 0);
	assert_true(shares_thread_fairness(&shares) == 0.5);
	FILL(&shares, 3, 1, OF(1, 2, 3), 1, 2, 3);
	assert_true(shares_thread_fairness(&shares) == 1);
}

static void test_nothing_done(void **unused)
{
	json_t *json;

	FILL(&shares, 2, 2, OF(0, 0), 0, 0, 0, 0);
	assert_true(isnan(shares_qp_fairness(&shares)));
	assert_true(isnan(shares_thread_fairness(&shares)));
	json = shares_encode(&shares, 64);
	assert_int_equal(json_object_size(json_object_get(json, "fairness")), 0);
	json_decref(json);
}

static void test_trials_add_up(void **unused)
{
	FILL(&other, 2, 2, OF(1, 2), 1, 2, 3, 4);
	assert_int_equal(shares_add(&shares, &other, &error), 0);
	assert_int_equal(shares_add(&shares, &other, &error), 0);
	assert_int_equal(shares.messages[0], 2);
	assert_int_equal(shares.messages[3], 8);
	assert_int_equal(shares.duration_ns[1], 4000000000);
	FILL(&other, 2, 1, OF(1, 2), 1, 2);
	assert_int_equal(shares_add(&shares, &other, &error), -EINVAL);
	assert_string_equal(error.text, "2 threads with 1 queue pairs each, but 2 with 2 before");
}

static void test_several(void **unused)
{
	assert_false(shares_are_several(&shares));
	FILL(&shares, 1, 1, OF(1), 1);
	assert_false(shares_are_several(&shares));
	FILL(&shares, 1, 2, OF(1), 1, 1);
	assert_true(shares_are_several(&shares));
	FILL(&shares, 2, 1, OF(1, 1), 1, 1);
	assert_true(shares_are_several(&shares));
}

static void test_in_tables(void **unused)
{
	char text[96];

	FILL(&shares, 2, 1, OF(1, 1), 17, 0);
	shares_print(&shares, text);
	assert_string_equal(text, "fairness 0.500 of 2 threads");
	FILL(&shares, 1, 4, OF(1), 100, 200, 300, 400);
	shares_print(&shares, text);
	assert_string_equal(text, "fairness 0.833 of 4 queue pairs");
	FILL(&shares, 2, 2, OF(2, 4), 3, 1, 5, 7);
	shares_print(&shares, text);
	assert_string_equal(text, "fairness 0.962 of 2 threads, 0.877 of 4 queue pairs");
}

static void test_in_documents(void **unused)
{
	json_t *json;
	json_t *again;

	FILL(&shares, 2, 3, OF(2, 4), 3, 1, 5, 7, 2, 9);
	json = shares_encode(&shares, 100);
	assert_int_equal(shares_decode(&other, json, &error), 0);
	again = shares_encode(&other, 100);
	assert_true(json_equal(json, again));
	assert_int_equal(other.threads, 2);
	assert_int_equal(other.qps, 3);
	assert_memory_equal(other.messages, shares.messages, 6 * sizeof(*shares.messages));
	assert_memory_equal(other.duration_ns, shares.duration_ns, 2 * sizeof(uint64_t));
	json_decref(json);
	json_decref(again);
}

static void test_rejects_invalid_json(void **unused)
{
#define THREAD(pairs) "{\"duration_ns\":1,\"queue_pairs\":[" pairs "]}"
#define PAIR          "{\"messages\":1}"
	static const char *const rows[][2] = {
		{"{}",							 "\"threads\" is missing"       },
		{"{\"threads\":1}",					    "\"threads\" is not an array"  },
		{"{\"threads\":[]}",					   "\"queue_pairs\" is missing"   },
		{"{\"threads\":[" THREAD("") "]}",                             "invalid number of queue pairs"},
		{"{\"threads\":[" THREAD(PAIR) "," THREAD(PAIR "," PAIR) "]}",
		 "threads have different numbers of queue pairs"                                              },
		{"{\"threads\":[" THREAD("{\"messages\":-1}") "]}",            "\"messages\" is not a count"  },
		{"{\"threads\":[{\"queue_pairs\":[" PAIR "]}]}",               "\"duration_ns\" is missing"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *json = json_loads(rows[i][0], 0, NULL);

		assert_non_null(json);
		error = (struct error){0};
		assert_int_equal(shares_decode(&shares, json, &error), -EINVAL);
		assert_string_equal(error.text, rows[i][1]);
		shares_close(&shares);
		json_decref(json);
	}
}

/* A document may have up to SHARES_MOST queue pairs. */
static void test_too_many(void **unused)
{
	json_t *pairs = json_array();
	json_t *json =
		json_pack("{s:[{s:i, s:O}]}", "threads", "duration_ns", 1, "queue_pairs", pairs);

	while (json_array_size(pairs) < SHARES_MOST)
		json_array_append_new(pairs, json_pack("{s:i}", "messages", 1));
	assert_int_equal(shares_decode(&shares, json, &error), 0);
	json_array_append_new(pairs, json_pack("{s:i}", "messages", 1));
	assert_int_equal(shares_decode(&shares, json, &error), -EINVAL);
	json_decref(pairs);
	json_decref(json);
}

static void test_no_memory(void **unused)
{
	for (int i = 0; i < 2; i++) {
		error = (struct error){0};
		allocations = i;
		assert_int_equal(shares_open(&shares, 2, 2, &error), -ENOMEM);
		assert_null(shares.messages);
		assert_int_equal(shares.threads, 0);
	}
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, reset, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fairness), TEST(test_nothing_done), TEST(test_trials_add_up),
		TEST(test_several),  TEST(test_in_tables),    TEST(test_in_documents),
		TEST(test_too_many), TEST(test_no_memory),    TEST(test_rejects_invalid_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
