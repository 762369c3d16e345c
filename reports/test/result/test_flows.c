/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/test/lib/check.h"
#include "reports/result/flows.h"
#include "reports/test/lib/failing.h"

static struct flows flows;
static struct flows other;
static struct error error;

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	allocations = -1;
	flows_close(&flows);
	flows_close(&other);
	return 0;
}

/* Makes flows from threads a, b, c, ... to a single one. */
static void fill(struct flows *into, size_t count, const uint64_t *messages, uint64_t seconds)
{
	assert_int_equal(flows_open(into, count, &error), 0);
	for (size_t i = 0; i < count; i++) {
		into->flow[i].from[0] = (char)('a' + i);
		strcpy(into->flow[i].to, "one");
		into->flow[i].messages = messages[i];
		into->flow[i].duration_ns = seconds * 1000000000;
	}
}

/* The index was computed in Python: sum(x)**2 / (len(x) * sum(y * y for y in x)). */
static void test_rates(void **unused)
{
	fill(&flows, 4, (const uint64_t[]){100, 200, 300, 400}, 2);
	assert_true(flows_rate(&flows.flow[2]) == 150);
	assert_true(flows_slowest(&flows) == 50);
	assert_true(flows_fastest(&flows) == 200);
	assert_true(fabs(flows_fairness(&flows) - 0.8333333333333334) < 1e-12);
	fill(&flows, 3, (const uint64_t[]){5, 0, 0}, 1);
	assert_true(fabs(flows_fairness(&flows) - 1.0 / 3) < 1e-12);
	fill(&flows, 2, (const uint64_t[]){0, 0}, 1);
	assert_true(isnan(flows_fairness(&flows)));
	flows.flow[0].duration_ns = 0;
	assert_true(flows_rate(&flows.flow[0]) == 0);
}

static void test_add(void **unused)
{
	fill(&other, 2, (const uint64_t[]){10, 20}, 1);
	assert_int_equal(flows_add(&flows, &other, &error), 0);
	assert_int_equal(flows_add(&flows, &other, &error), 0);
	assert_int_equal(flows_add(&flows, &other, &error), 0);
	assert_int_equal(flows.flow[1].messages, 60);
	assert_int_equal(flows.flow[1].duration_ns, 3000000000);
	strcpy(other.flow[1].from, "z");
	assert_int_equal(flows_add(&flows, &other, &error), -EINVAL);
	assert_string_equal(error.text, "its flows are between different threads");
	fill(&other, 3, (const uint64_t[]){1, 2, 3}, 1);
	assert_int_equal(flows_add(&flows, &other, &error), -EINVAL);
	assert_int_equal(flows.flow[1].messages, 60);
}

static void test_json_round_trip(void **unused)
{
	json_t *json;
	json_t *list;

	fill(&flows, 3, (const uint64_t[]){100, 200, 300}, 2);
	json = flows_encode(&flows, 64);
	assert_int_equal(flows_decode(&other, json, &error), 0);
	assert_int_equal(other.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(&flows.flow[i], &other.flow[i], sizeof(flows.flow[i]));
	list = json_object_get(json, "flows");
	assert_true(json_real_value(json_object_get(json_array_get(list, 1), "messages_per_s")) ==
		    100);
	assert_true(json_real_value(json_object_get(json_array_get(list, 1), "bytes_per_s")) ==
		    6400);
	json_decref(json);
}

static void check_refusal(const char *text, const char *sentence)
{
	json_t *json = json_loads(text, 0, NULL);

	error = (struct error){0};
	assert_non_null(json);
	assert_int_equal(flows_decode(&other, json, &error), -EINVAL);
	assert_string_equal(error.text, sentence);
	flows_close(&other);
	json_decref(json);
}

#define FLOW "{\"from\": \"a\", \"to\": \"b\", \"messages\": 1, \"duration_ns\": 1}"

static void test_rejects_invalid_json(void **unused)
{
	check_refusal("{}", "\"flows\" is missing");
	check_refusal("{\"flows\": []}", "invalid number of flows");
	check_refusal("{\"flows\": [" FLOW ", {}]}", "\"from\" is missing");
	check_refusal("{\"flows\": [{\"from\": \"a\", \"to\": \"b\", \"messages\": 1}]}",
		      "\"duration_ns\" is missing");
}

static void test_no_memory(void **unused)
{
	fill(&other, 2, (const uint64_t[]){10, 20}, 1);
	allocations = 0;
	assert_int_equal(flows_add(&flows, &other, &error), -ENOMEM);
	assert_int_equal(flows.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rates, reset, drop),
		cmocka_unit_test_setup_teardown(test_add, reset, drop),
		cmocka_unit_test_setup_teardown(test_json_round_trip, reset, drop),
		cmocka_unit_test_setup_teardown(test_rejects_invalid_json, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_memory, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
