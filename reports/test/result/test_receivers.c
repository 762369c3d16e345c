/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/result/receivers.h"
#include "reports/test/lib/failing.h"

static struct receivers receivers;
static struct receivers other;
static struct error error;

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	allocations = -1;
	receivers_close(&receivers);
	receivers_close(&other);
	return 0;
}

/* Fills in receivers of which number i lost i times `lost` messages of 1000. */
static void fill(struct receivers *into, size_t count, uint64_t lost)
{
	assert_int_equal(receivers_open(into, count, &error), 0);
	for (size_t i = 0; i < count; i++)
		into->receiver[i] = (struct receiver){1000 - i * lost, i * lost};
}

static void test_add(void **unused)
{
	fill(&other, 3, 7);
	assert_int_equal(receivers_add(&receivers, &other, &error), 0);
	assert_int_equal(receivers_add(&receivers, &other, &error), 0);
	assert_int_equal(receivers.receiver[2].arrived, 1972);
	assert_int_equal(receivers.receiver[2].lost, 28);
	fill(&other, 2, 7);
	assert_int_equal(receivers_add(&receivers, &other, &error), -EINVAL);
	assert_string_equal(error.text, "it has 2 receivers instead of 3");
}

static void check_printed(size_t count, const char *wanted)
{
	char text[RECEIVERS_TEXT];

	fill(&receivers, count, 5);
	receivers_print(&receivers, text);
	assert_string_equal(text, wanted);
}

static void test_print(void **unused)
{
	check_printed(1, "1 receiver lost 0 messages");
	check_printed(3, "3 receivers lost 0, 5, 10 messages");
	check_printed(6, "6 receivers lost 0, 5, 10, 15, 20, 25 messages");
	check_printed(7, "7 receivers lost 0..30 messages");
	/* The longest numbers fit, too. */
	fill(&receivers, 6, 5);
	for (size_t i = 0; i < 6; i++)
		receivers.receiver[i].lost = UINT64_MAX;
	receivers_print(&receivers, (char[RECEIVERS_TEXT]){0});
}

static void test_overflow(void **unused)
{
	fill(&receivers, 2, 1);
	fill(&other, 2, 1);
	assert_false(receivers_are_beyond(&receivers, &other));
	other.receiver[1].lost = INT64_MAX;
	assert_true(receivers_are_beyond(&receivers, &other));
	other.receiver[1].lost = 0;
	other.receiver[0].arrived = INT64_MAX;
	assert_true(receivers_are_beyond(&receivers, &other));
}

static void test_json_round_trip(void **unused)
{
	json_t *json;

	fill(&receivers, 3, 4);
	json = receivers_encode(&receivers);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(json, 2), "lost")), 8);
	assert_int_equal(receivers_decode(&other, json, &error), 0);
	assert_int_equal(other.count, 3);
	assert_memory_equal(receivers.receiver, other.receiver, 3 * sizeof(*other.receiver));
	json_decref(json);
}

static void check_refusal(const char *text, const char *sentence)
{
	json_t *json = json_loads(text, 0, NULL);

	error = (struct error){0};
	assert_non_null(json);
	assert_int_equal(receivers_decode(&other, json, &error), -EINVAL);
	assert_string_equal(error.text, sentence);
	receivers_close(&other);
	json_decref(json);
}

static void test_rejects_invalid_json(void **unused)
{
	check_refusal("[]", "invalid number of receivers");
	check_refusal("[{\"arrived\": 1, \"lost\": 1}, {}]", "\"arrived\" is missing");
	check_refusal("[{\"arrived\": 1}]", "\"lost\" is missing");
}

static void test_no_memory(void **unused)
{
	fill(&other, 2, 1);
	allocations = 0;
	assert_int_equal(receivers_add(&receivers, &other, &error), -ENOMEM);
	assert_int_equal(receivers.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_add, reset, drop),
		cmocka_unit_test_setup_teardown(test_print, reset, drop),
		cmocka_unit_test_setup_teardown(test_overflow, reset, drop),
		cmocka_unit_test_setup_teardown(test_json_round_trip, reset, drop),
		cmocka_unit_test_setup_teardown(test_rejects_invalid_json, reset, drop),
		cmocka_unit_test_setup_teardown(test_no_memory, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
