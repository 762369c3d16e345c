/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/plan/product.h"
#include "bench/test/unit.d/no_operation.h"
#include "core/test/lib/check.h"

static struct product product;
static struct product other;

static void put(struct product *into, const char *name, const char *text)
{
	const struct parameter *parameter = parameter_find(name);

	assert_non_null(parameter);
	assert_null(value_list_parse(product_list(into, parameter), parameter, text));
}

static int reset(void **unused)
{
	memset(&product, 0, sizeof(product));
	memset(&other, 0, sizeof(other));
	return 0;
}

static void check_case(size_t number, const char *wanted)
{
	struct parameters made = product_case(&product, number);
	char id[128];

	parameters_id(&made, id, sizeof(id));
	assert_string_equal(id, wanted);
}

/* Without lists there is a single case with defaults. */
static void test_empty_product(void **unused)
{
	struct parameters wanted = parameters_default();
	struct parameters made = product_case(&product, 0);

	assert_int_equal(product_count(&product), 1);
	assert_memory_equal(&made, &wanted, sizeof(wanted));
}

/* Cases follow the order of the table, not of the options. */
static void test_last_list_varies_fastest(void **unused)
{
	static const char *const ids[] = {
		"write/lat/64/poll/t1",  "write/lat/64/poll/t2",  "write/lat/64/event/t1",
		"write/lat/64/event/t2", "write/lat/8/poll/t1",   "write/lat/8/poll/t2",
		"write/lat/8/event/t1",  "write/lat/8/event/t2",  "write/lat/4k/poll/t1",
		"write/lat/4k/poll/t2",  "write/lat/4k/event/t1", "write/lat/4k/event/t2",
		"send/lat/64/poll/t1",   "send/lat/64/poll/t2",   "send/lat/64/event/t1",
		"send/lat/64/event/t2",  "send/lat/8/poll/t1",    "send/lat/8/poll/t2",
		"send/lat/8/event/t1",   "send/lat/8/event/t2",   "send/lat/4k/poll/t1",
		"send/lat/4k/poll/t2",   "send/lat/4k/event/t1",  "send/lat/4k/event/t2",
	};

	put(&product, "tx-depth", "1,2");
	put(&product, "size", "64,8,4k");
	put(&product, "op", "write,send");
	put(&product, "cq", "poll,event");
	put(&product, "duration", "2s");
	assert_int_equal(product_count(&product), ARRAY_LENGTH(ids));
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++) {
		check_case(i, ids[i]);
		assert_int_equal(product_case(&product, i).duration_ns, 2000000000);
		assert_true(product_case(&product, i).trials == PARAMETER_AUTO);
	}
}

static void test_limit(void **unused)
{
	put(&product, "size", "1:100:+1");
	put(&product, "tx-depth", "1:100:+1");
	put(&product, "rx-depth", "1:100:+1");
	assert_int_equal(product_count(&product), 1000000);
	check_case(999999, "send/lat/100/poll/t100/r100");
	check_case(10203, "send/lat/2/poll/t3/r4");
	put(&product, "op", "send,write");
	assert_int_equal(product_count(&product), 0);
	/* The largest product does not overflow. */
	put(&product, "size", "1:256:+1");
	put(&product, "tx-depth", "1:256:+1");
	put(&product, "rx-depth", "1:256:+1");
	put(&product, "cq-mod", "1:256:+1");
	put(&product, "inline", "1:256:+1");
	assert_int_equal(product_count(&product), 0);
}

/* 2 operations x 3 lists x 2 modes: case, reference case, and the parameter that differs. */
static void test_compared_cases(void **unused)
{
	static const struct {
		size_t number;
		size_t beside;
		const char *by;
	} rows[] = {
		{1,  0, "post-list"},
                {2,  0, "post-list"},
                {3,  0, "cq"       },
                {6,  0, NULL       },
		{7,  6, "post-list"},
                {9,  6, "cq"       },
                {10, 0, NULL       },
	};

	put(&product, "op", "send,write");
	put(&product, "cq", "poll,event");
	put(&product, "post-list", "1,4,16");
	/* Operation and effort are not compared. */
	put(&product, "trials", "7");
	put(&product, "duration", "1s");
	assert_int_equal(product_count(&product), 12);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct parameter *by = NULL;
		size_t beside = 0;

		assert_int_equal(product_beside(&product, rows[i].number, &beside, &by),
				 rows[i].by != NULL);
		if (!rows[i].by)
			continue;
		assert_int_equal(beside, rows[i].beside);
		assert_string_equal(by->option.name, rows[i].by);
	}
}

static void test_override(void **unused)
{
	put(&product, "size", "1,2,3");
	put(&product, "cq", "event");
	put(&other, "size", "64");
	put(&other, "op", "read,write");
	product_override(&product, &other);
	assert_int_equal(product_count(&product), 2);
	check_case(0, "read/lat/64/event");
	check_case(1, "write/lat/64/event");
	assert_int_equal(product_count(&other), 2);
	memset(&other, 0, sizeof(other));
	product_override(&product, &other);
	assert_int_equal(product_count(&product), 2);
}

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	return json;
}

static void test_decode(void **unused)
{
	json_t *json = load("{\"op\": [\"read\"], \"size\": [64, \"4k:16k\"], \"cq\": \"event\","
			    " \"hugepages\": [true], \"duration\": [\"1s\"], \"trials\": 3}");
	struct error error = {0};

	/* The previous content is replaced. */
	put(&product, "metric", "bw");
	assert_int_equal(product_decode(&product, json, &error), 0);
	assert_int_equal(product_count(&product), 4);
	check_case(0, "read/lat/64/event/hugepages");
	check_case(3, "read/lat/16k/event/hugepages");
	assert_int_equal(product_case(&product, 3).duration_ns, 1000000000);
	assert_int_equal(product_case(&product, 3).trials, 3);
	json_decref(json);
}

static void test_encode(void **unused)
{
	json_t *wanted = load("{\"op\": [\"read\", \"send\"], \"size\": [64, 65, 4096],"
			      " \"server-cq\": [\"poll\"], \"hugepages\": [false],"
			      " \"iterations\": [7], \"duration_ns\": [1500000000]}");
	struct error error = {0};
	json_t *json;

	put(&product, "op", "read,send");
	put(&product, "size", "64,65,4k");
	put(&product, "server-cq", "poll");
	put(&product, "hugepages", "0");
	put(&product, "iterations", "7");
	put(&product, "duration", "1500ms");
	json = product_encode(&product);
	assert_true(json_equal(json, wanted));
	assert_int_equal(product_decode(&other, json, &error), 0);
	assert_memory_equal(&other, &product, sizeof(product));
	json_decref(json);
	json_decref(wanted);
	memset(&product, 0, sizeof(product));
	json = product_encode(&product);
	assert_int_equal(json_object_size(json), 0);
	json_decref(json);
}

static void test_refusals(void **unused)
{
	static const char *const rows[][2] = {
		{"[]",							    "a plan must be an object of lists, or an array of such objects"},
		{"7",							     "a plan must be an object of lists, or an array of such objects"},
		{"null",							  "a plan must be an object of lists, or an array of such objects"},
		{"{\"colour\": [1]}",					     "unknown plan key \"colour\""                                   },
		{"{\"\\u001b[2J\": 1}",					   "unknown plan key \"?[2J\""                                     },
		{"{\"json\": \"x\"}",					     "unknown plan key \"json\""                                     },
		{"{\"s\": [1]}",						  "unknown plan key \"s\"; did you mean \"size\"?"                },
		{"{\"sizes\": [1]}",					      "unknown plan key \"sizes\"; did you mean \"size\"?"            },
		{"{\"qp\": [1]}",						 "unknown plan key \"qp\"; did you mean \"qps\"?"                },
		{"{\"tx_depht\": [1]}",
		 "unknown plan key \"tx_depht\"; did you mean \"tx-depth\"?"                                                                      },
		{"{\"size\": []}",						"\"size\": [] is an empty list"                                 },
		{"{\"size\": [1, 0]}",					    "\"size\": 0 must be between 1 and 1g"                          },
		{"{\"size\": \"64,128\"}",                                        "\"size\": \"64,128\" is not a size (e.g. 64 or 4k)"            },
		{"{\"size\": [\"\\u001b[2J\"]}",
		 "\"size\": \"\\u001B[2J\" is not a size (e.g. 64 or 4k)"									 },
		{"{\"op\": [\"push\"]}",					  "\"op\": \"push\" " NO_OPERATION                                },
		{"{\"trials\": [1, 2]}",					  "\"trials\": [1,2] has more than one value"                     },
		{"{\"hugepages\": \"0123456789012345678901234567890123456789\"}",
		 "\"hugepages\": \"01234567890123456789012... must be true or false"                                                              },
		{"{\"0123456789012345678901234567890123456789x\": 1}",
		 "unknown plan key \"0123456789012345678901234567890123456789\""                                                                  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *json = load(rows[i][0]);
		struct error error = {0};

		assert_int_equal(product_decode(&product, json, &error), -EINVAL);
		assert_string_equal(error.text, rows[i][1]);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_empty_product, reset),
		cmocka_unit_test_setup(test_last_list_varies_fastest, reset),
		cmocka_unit_test_setup(test_limit, reset),
		cmocka_unit_test_setup(test_compared_cases, reset),
		cmocka_unit_test_setup(test_override, reset),
		cmocka_unit_test_setup(test_decode, reset),
		cmocka_unit_test_setup(test_encode, reset),
		cmocka_unit_test_setup(test_refusals, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
