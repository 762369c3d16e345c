/* SPDX-License-Identifier: MIT */
#include "bench/plan/value_list.h"
#include "bench/test/unit.d/no_operation.h"
#include "core/test/lib/check.h"

#define ITEMS 32

static struct value_list list;
static const json_t *culprit;

static const struct parameter *find(const char *name)
{
	const struct parameter *parameter = parameter_find(name);

	assert_non_null(parameter);
	return parameter;
}

struct row {
	const char *name;
	const char *text;
	size_t count;
	uint64_t items[ITEMS];
};

/* An expected list. A 0 is only a member where the count says so. */
#define ROW(name, text, ...)                                                            \
	{                                                                               \
		name, text, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
		{                                                                       \
			__VA_ARGS__                                                     \
		}                                                                       \
	}

static void check_items(const struct row *row, const char *wrong)
{
	if (wrong)
		fail_msg("%s %s: %s", row->name, row->text, wrong);
	if (list.count != row->count)
		fail_msg("%s %s: %zu members, not %zu", row->name, row->text, list.count,
			 row->count);
	for (size_t i = 0; i < row->count; i++)
		if (list.item[i] != row->items[i])
			fail_msg("%s %s: member %zu is %ju, not %ju", row->name, row->text, i,
				 (uintmax_t)list.item[i], (uintmax_t)row->items[i]);
}

/* The encoding of rate.h. */
#define BITS(amount)     (1ULL << 60 | (amount))
#define PER_CENT(amount) (2ULL << 60 | (amount))

static const struct row good[] = {
	ROW("size", "64", 64),
	ROW("size", "64,4k,1m", 64, 4096, 1048576),
	ROW("size", "4k,64", 4096, 64),
	ROW("size", "1g", 1073741824),
	/* Each value appears once, at its first position. */
	ROW("size", "64,64", 64),
	ROW("size", "4k,64,4096,1,64", 4096, 64, 1),
	ROW("size", "4,1:8", 4, 1, 2, 8),
	/* Ranges double by default. */
	ROW("size", "1:8", 1, 2, 4, 8),
	ROW("size", "3:20", 3, 6, 12),
	ROW("size", "64:64", 64),
	ROW("size", "64:127", 64),
	ROW("size", "64,4k,1m:8m", 64, 4096, 1048576, 2097152, 4194304, 8388608),
	ROW("size", "512m:1g", 536870912, 1073741824),
	/* Ranges that multiply or add. */
	ROW("size", "1:100:10", 1, 10, 100),
	ROW("size", "2:2:2", 2),
	ROW("size", "1:8m:8", 1, 8, 64, 512, 4096, 32768, 262144, 2097152),
	ROW("size", "1:1g:999999999", 1, 999999999),
	ROW("size", "100:400:+100", 100, 200, 300, 400),
	ROW("size", "4k:16k:+4k", 4096, 8192, 12288, 16384),
	ROW("size", "1:10:+4", 1, 5, 9),
	ROW("size", "1g:1g:+1g", 1073741824),
	ROW("tx-depth", "1:16", 1, 2, 4, 8, 16),
	ROW("tx-depth", "16:64:+16", 16, 32, 48, 64),
	ROW("tx-depth", "16384", 16384),
	ROW("retries", "0", 0),
	ROW("retries", "0:3:+1", 0, 1, 2, 3),
	ROW("retries", "0:7:+7", 0, 7),
	ROW("retries", "0:0", 0),
	ROW("inline", "0,64:256", 0, 64, 128, 256),
	/* Neighbors, except values that are not allowed. */
	ROW("size", "64+-1", 63, 64, 65),
	ROW("size",
	    "64\xc2\xb1"
	    "1",
	    63, 64, 65),
	ROW("size", "1k,4k+-1", 1024, 4095, 4096, 4097),
	ROW("size", "4:8+-1", 3, 4, 5, 7, 8, 9),
	ROW("size", "1:4+-1", 1, 2, 3, 4, 5),
	ROW("size", "10:20:+10+-1", 9, 10, 11, 19, 20, 21),
	ROW("size", "1+-1", 1, 2),
	ROW("size", "1g+-1", 1073741823, 1073741824),
	ROW("retries", "0+-1", 0, 1),
	ROW("retries", "7+-1", 6, 7),
	ROW("timeout", "1:31:+15+-1", 1, 2, 15, 16, 17, 30, 31),
	/* Rates of one unit; percentages go in steps of 10 by default. */
	ROW("rate", "100k,1M", 100000, 1000000),
	ROW("rate", "1k:8k", 1000, 2000, 4000, 8000),
	ROW("rate", "1M:3M:+1M", 1000000, 2000000, 3000000),
	ROW("rate", "1gbit:100gbit:10", BITS(1000000000), BITS(10000000000), BITS(100000000000)),
	ROW("rate", "10%:50%", PER_CENT(10), PER_CENT(20), PER_CENT(30), PER_CENT(40),
	    PER_CENT(50)),
	ROW("rate", "5%:20%:+5%", PER_CENT(5), PER_CENT(10), PER_CENT(15), PER_CENT(20)),
	ROW("rate", "10%:80%:2", PER_CENT(10), PER_CENT(20), PER_CENT(40), PER_CENT(80)),
	ROW("rate", "80%,1k,1gbit", PER_CENT(80), 1000, BITS(1000000000)),
	/* Words. */
	ROW("op", "send", 0),
	ROW("op", "read,send", 2, 0),
	ROW("op", "read,READ,read", 2),
	ROW("op", "all", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
	    21, 22, 23, 24, 25),
	ROW("op", "read,all", 2, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	    20, 21, 22, 23, 24, 25),
	ROW("metric", "all", METRIC_LAT, METRIC_BW, METRIC_LOAD),
	ROW("cq", "all", CQ_POLL, CQ_EVENT, CQ_ADAPTIVE),
	ROW("server-cq", "event", CQ_EVENT),
	ROW("hugepages", "1", 1),
	ROW("hugepages", "0,1", 0, 1),
	/* An effort has a single value, because it is not part of an id. */
	ROW("iterations", "5", 5),
	ROW("iterations", "5,5", 5),
	ROW("duration", "100ms", 100000000),
	ROW("trials", "1000", 1000),
};

static void test_accepted_texts(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
		check_items(&good[i], value_list_parse(&list, find(good[i].name), good[i].text));
}

/* The previous content is replaced. */
static void test_a_list_is_replaced(void **unused)
{
	static const struct row row = ROW("size", "8", 8);

	assert_null(value_list_parse(&list, find("size"), "1,2,3"));
	check_items(&row, value_list_parse(&list, find("size"), "8"));
}

/* Hand-written plans may contain ranges as text. */
static void test_texts_in_json(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		const struct parameter *parameter = find(good[i].name);
		json_t *json = json_string(good[i].text);

		/* JSON separates members itself, and flags are JSON booleans. */
		if (!strchr(good[i].text, ',') && parameter->type != PARAMETER_FLAG)
			check_items(&good[i], value_list_decode(&list, parameter, json, &culprit));
		json_decref(json);
	}
}

static const struct row good_json[] = {
	ROW("size", "64", 64),
	ROW("size", "[64]", 64),
	ROW("size", "[64, 4096, 64]", 64, 4096),
	ROW("size", "[\"4k\", 1, \"1:4\"]", 4096, 1, 2, 4),
	ROW("size", "[\"64+-1\"]", 63, 64, 65),
	ROW("op", "\"read\"", 2),
	ROW("op", "[\"read\", \"send\"]", 2, 0),
	ROW("op", "[\"all\"]", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	    20, 21, 22, 23, 24, 25),
	ROW("op", "\"all\"", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	    20, 21, 22, 23, 24, 25),
	ROW("hugepages", "true", 1),
	ROW("hugepages", "[false, true, false]", 0, 1),
	ROW("rate", "[1000, \"10%\"]", 1000, PER_CENT(10)),
	ROW("duration", "\"10s\"", 10000000000),
	ROW("duration", "[\"10s\", \"10000ms\"]", 10000000000),
	ROW("iterations", "[7]", 7),
};

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	return json;
}

static void test_json(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(good_json); i++) {
		json_t *json = load(good_json[i].text);

		check_items(&good_json[i],
			    value_list_decode(&list, find(good_json[i].name), json, &culprit));
		json_decref(json);
	}
}

/* Encoding and decoding preserves every list. */
static void test_json_round_trip(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		const struct parameter *parameter = find(good[i].name);
		json_t *json;

		assert_null(value_list_parse(&list, parameter, good[i].text));
		json = value_list_encode(&list, parameter);
		assert_int_equal(json_array_size(json), good[i].count);
		memset(&list, 0, sizeof(list));
		check_items(&good[i], value_list_decode(&list, parameter, json, &culprit));
		json_decref(json);
	}
}

static void check_refusal(const char *name, const char *text, const char *found, const char *wanted)
{
	if (!found || strcmp(found, wanted) != 0)
		fail_msg("%s %s: '%s', not '%s'", name, text, found ? found : "(taken)", wanted);
}

#define NO_SIZE   "is not a size (e.g. 64 or 4k)"
#define NO_OP     NO_OPERATION
#define NO_FACTOR "has a range whose factor is not a number"
#define LOW_STEP  "has a range whose factor is below 2"

static void test_refused_texts(void **unused)
{
	static const char *const rows[][3] = {
		{"size",       "",								NO_SIZE                                   },
		{"size",       ",",							       NO_SIZE                                   },
		{"size",       "64,",							     NO_SIZE                                   },
		{"size",       ",64",							     NO_SIZE                                   },
		{"size",       "64,,128",							 NO_SIZE                                   },
		{"size",       "4q",							      NO_SIZE                                   },
		{"size",       "64, 128",							 NO_SIZE                                   },
		{"size",       "all",							     NO_SIZE                                   },
		{"size",       ":",							       NO_SIZE                                   },
		{"size",       ":8",							      NO_SIZE                                   },
		{"size",       "1:",							      NO_SIZE                                   },
		{"size",       "1:x",							     NO_SIZE                                   },
		{"size",       "x:8",							     NO_SIZE                                   },
		{"size",       "1-8",							     NO_SIZE                                   },
		{"size",       "1..8",							    NO_SIZE                                   },
		{"size",       "0",							       "must be between 1 and 1g"                },
		{"size",       "0:8",							     "must be between 1 and 1g"                },
		{"size",       "1:2g",							    "must be between 1 and 1g"                },
		{"size",       "8:1",							     "has a range whose end is below its start"},
		{"size",       "8:7:+1",							  "has a range whose end is below its start"},
		{"size",       "1:8:",							    LOW_STEP                                  },
		{"size",       "1:8:0",							   LOW_STEP                                  },
		{"size",       "1:8:1",							   LOW_STEP                                  },
		{"size",       "1:8:x",							   NO_FACTOR                                 },
		{"size",       "1:8:2:2",							 NO_FACTOR                                 },
		{"size",       "1:8:-2",							  NO_FACTOR                                 },
		{"size",       "1:8:2k",							  NO_FACTOR                                 },
		{"size",       "1:8:1.5",							 NO_FACTOR                                 },
		{"size",       "1:8:1000000000",						  NO_FACTOR                                 },
		{"size",       "1:8:18446744073709551618",                                        NO_FACTOR                                 },
		{"size",       "1:8:+",							   NO_SIZE                                   },
		{"size",       "1:8:+0",							  "must be between 1 and 1g"                },
		{"size",       "1:8:+2g",							 "must be between 1 and 1g"                },
		{"size",       "1:8:++1",							 NO_SIZE                                   },
		{"size",       "+-1",							     NO_SIZE                                   },
		{"size",       "64+-2",							   NO_SIZE                                   },
		{"size",       "64+-1+-1",							NO_SIZE                                   },
		{"size",       "64-+1",							   NO_SIZE                                   },
		{"size",
		 "\xc2\xb1"
		 "1",									     NO_SIZE				   },
		{"size",
		 "64\xb1"
		 "1",									     NO_SIZE				   },
		{"tx-depth",   "1:4k",							    "is not a number"                         },
		{"tx-depth",   "1:16385",							 "must be between 1 and 16384"             },
		{"retries",    "0:3:+0",							  "must be between 1 and 7"                 },
		{"retries",    "0:7",							     "has a range that would never leave 0"    },
		{"inline",     "0:256:4",							 "has a range that would never leave 0"    },
		{"op",         "",								NO_OP				     },
		{"op",         "send,",							   NO_OP				     },
		{"op",         "send,push",						       NO_OP                                     },
		{"op",         "send:read",						       NO_OP                                     },
		{"op",         "send+-1",							 NO_OP                                     },
		{"op",         "ALL",							     NO_OP				     },
		{"hugepages",  "yes",							     "must be 0 or 1"                          },
		{"hugepages",  "0:1",							     "must be 0 or 1"                          },
		{"iterations", "5,6",							     "has more than one value"                 },
		{"iterations", "5+-1",							    "has more than one value"                 },
		{"duration",   "1s:2s",							   "has more than one value"                 },
		{"trials",     "1,2",							     "has more than one value"                 },
 /* 63 characters are allowed, 64 are too many. */
		{"op",         "012345678901234567890123456789012345678901234567890123456789012", NO_OP                                     },
		{"op",
		 "0123456789012345678901234567890123456789012345678901234567890123"
		 "01234567890123456789012345678901",					      "has a value that is too long"            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_refusal(rows[i][0], rows[i][1],
			      value_list_parse(&list, find(rows[i][0]), rows[i][1]), rows[i][2]);
}

static void test_refused_json(void **unused)
{
	static const char *const rows[][3] = {
		{"size",       "[]",                   "is an empty list"                    },
		{"size",       "null",                 "is not a number"                     },
		{"size",       "{}",                   "is not a number"                     },
		{"size",       "[[64]]",               "is not a number"                     },
		{"size",       "[64, null]",           "is not a number"                     },
		{"size",       "64.5",                 "is not a number"                     },
		{"size",       "-64",                  "is not a number"                     },
		{"size",       "0",                    "must be between 1 and 1g"            },
		{"size",       "9223372036854775807",  "must be between 1 and 1g"            },
		{"size",       "\"64,128\"",           NO_SIZE                               },
		{"size",       "\"\"",                 NO_SIZE                               },
		{"inline",     "\"0:64\"",             "has a range that would never leave 0"},
		{"size",       "[\"1:x\"]",            NO_SIZE                               },
		{"op",         "[0]",                  NO_OP                                 },
		{"op",         "[\"send,read\"]",      NO_OP                                 },
		{"op",         "[\"\"]",               NO_OP                                 },
		{"op",         "{\"send\": 1}",        NO_OP                                 },
		{"op",
		 "\"0123456789012345678901234567890123456789012345678901234567890123"
		 "01234567890123456789012345678901\"", NO_OP				 },
		{"duration",   "[1]",                  "must be between 1ms and 86400s"      },
		{"hugepages",  "\"1\"",                "must be true or false"               },
		{"hugepages",  "[\"no\"]",             "must be true or false"               },
		{"hugepages",  "1",                    "must be true or false"               },
		{"iterations", "[1, 2]",               "has more than one value"             },
		{"iterations", "\"1:4\"",              "has more than one value"             },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *json = load(rows[i][1]);

		check_refusal(rows[i][0], rows[i][1],
			      value_list_decode(&list, find(rows[i][0]), json, &culprit),
			      rows[i][2]);
		json_decref(json);
	}
}

/* 256 values as ranges, with commas and in JSON; 257 are too many. */
static void test_limits(void **unused)
{
	json_t *json = json_array();
	char text[4096];
	size_t used = 0;

	assert_null(value_list_parse(&list, find("size"), "1:256:+1"));
	assert_int_equal(list.count, 256);
	assert_int_equal(list.item[255], 256);
	assert_string_equal(value_list_parse(&list, find("size"), "1:257:+1"),
			    "has too many values");
	/* Does not enumerate a billion values first. */
	assert_string_equal(value_list_parse(&list, find("size"), "1:1g:+1"),
			    "has too many values");
	assert_string_equal(value_list_parse(&list, find("size"), "1:1g:+1+-1"),
			    "has too many values");
	for (int i = 1; i <= 256; i++) {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%d,", i);
		json_array_append_new(json, json_integer(i));
	}
	snprintf(text + used, sizeof(text) - used, "1");
	assert_null(value_list_parse(&list, find("size"), text));
	assert_int_equal(list.count, 256);
	assert_null(value_list_decode(&list, find("size"), json, &culprit));
	assert_int_equal(list.count, 256);
	snprintf(text + used, sizeof(text) - used, "257");
	json_array_append_new(json, json_integer(257));
	assert_string_equal(value_list_parse(&list, find("size"), text), "has too many values");
	assert_string_equal(value_list_decode(&list, find("size"), json, &culprit),
			    "has too many values");
	assert_ptr_equal(culprit, json_array_get(json, 256));
	json_decref(json);
}

/* A step that overflows ends the range. */
static void test_overflow(void **unused)
{
	const struct parameter wide = {
		.option = {.name = "wide"},
		.type = PARAMETER_COUNT,
		.least = 0,
		.most = UINT64_MAX - 1,
		.mark = "w",
	};

	assert_null(value_list_parse(&list, &wide, "9223372036854775808:18446744073709551614"));
	assert_int_equal(list.count, 1);
	assert_null(value_list_parse(&list, &wide, "1:18446744073709551614:999999999"));
	assert_int_equal(list.count, 3);
	assert_int_equal(list.item[2], 999999998000000001);
	assert_null(value_list_parse(&list, &wide, "1:18446744073709551614:+9223372036854775807"));
	assert_int_equal(list.count, 2);
	assert_null(value_list_parse(&list, &wide, "18446744073709551614+-1"));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.item[0], UINT64_MAX - 2);
}

/* Random text is either accepted or rejected. */
static void test_random_texts(void **unused)
{
	static const char letters[] = "0123456789:,+-1kmgalsendpoll\xc2\xb1 .x\t";
	uint64_t random = 88172645463325252ULL;
	char text[200];

	for (int round = 0; round < 20000; round++) {
		size_t length;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		length = random % sizeof(text);
		for (size_t i = 0; i < length; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			text[i] = letters[(random >> 33) % (sizeof(letters) - 1)];
		}
		text[length] = '\0';
		for (size_t i = 0; i < PARAMETERS; i++) {
			const char *wrong = value_list_parse(&list, &parameter_table[i], text);

			assert_true(wrong ? *wrong != '\0' : list.count > 0);
			assert_true(list.count <= VALUE_LIST_MOST);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted_texts),  cmocka_unit_test(test_a_list_is_replaced),
		cmocka_unit_test(test_texts_in_json),   cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_round_trip), cmocka_unit_test(test_refused_texts),
		cmocka_unit_test(test_refused_json),    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_overflow),        cmocka_unit_test(test_random_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
