/* SPDX-License-Identifier: MIT */
#include "bench/test/unit.d/asked.h"
#include "reports/result/case_id.h"

static void test_ids(void **unused)
{
	static const char *const rows[][2] = {
		{"",						  "send/lat/64/poll"					       },
		{"op=write metric=bw size=64k cq=event",              "write/bw/64k/event"                                             },
		{"size=1",					    "send/lat/1/poll"						},
		{"size=1000",					 "send/lat/1000/poll"                                             },
		{"size=1023",					 "send/lat/1023/poll"                                             },
		{"size=1024",					 "send/lat/1k/poll"                                               },
		{"size=1536",					 "send/lat/1536/poll"                                             },
		{"size=1048576",				      "send/lat/1m/poll"                                               },
		{"size=1049600",				      "send/lat/1025k/poll"                                            },
		{"size=1073741824",                                   "send/lat/1g/poll"                                               },
		{"cq=adaptive server-cq=poll",                        "send/lat/64/adaptive/server-poll"                               },
		{"tx-depth=16",				       "send/lat/64/poll/t16"                                           },
		{"rx-depth=512",				      "send/lat/64/poll/r512"                                          },
		{"inline=0",					  "send/lat/64/poll/I0"                                            },
		{"inline=1k",					 "send/lat/64/poll/I1k"                                           },
		{"cq-mod=1",					  "send/lat/64/poll/Q1"                                            },
		{"cq=event event-count=8 event-period=100us",
		 "send/lat/64/event/events8/period100us"									       },
		{"metric=bw size=64k recv-post-list=1",               "send/bw/64k/poll/recv-l1"                                       },
		{"metric=load size=64 rate=1k burst=16",              "send/load/64/poll/rate1k/burst16"                               },
		{"mr-per-qp=1",				       "send/lat/64/poll/mr-per-qp"                                     },
		{"rate-limit=10Gb/s",                                 "send/lat/64/poll/limit10gbit"                                   },
		{"timeout=14 retries=6 hugepages=0",                  "send/lat/64/poll"                                               },
		{"timeout=10",					"send/lat/64/poll/u10"                                           },
		{"retries=0",					 "send/lat/64/poll/retries0"                                      },
		{"hugepages=1",				       "send/lat/64/poll/hugepages"                                     },
		{"iterations=9 trials=1",                             "send/lat/64/poll"                                               },
		{"pin=auto server-pin=auto",                          "send/lat/64/poll"                                               },
		{"pin=0 server-pin=off",                              "send/lat/64/poll/pin0/server-pinoff"                            },
		{"threads=1",					 "send/lat/64/poll"                                               },
		{"threads=4 qps=2 pin=0-3",                           "send/lat/64/poll/q2/threads4/pin0-3"                            },
		{"threads=4 pin=0-7+2",                               "send/lat/64/poll/threads4/pin0-6+2"                             },
		{"server-numa=1 numa=off",                            "send/lat/64/poll/numaoff/server-numa1"                          },
		{"sge=4 hugepages=1",                                 "send/lat/64/poll/hugepages/sge4"                                },
		{"server-pin=12 hugepages=1",                         "send/lat/64/poll/hugepages/server-pin12"                        },
		{"relaxed-ordering=on sge=4",                         "send/lat/64/poll/relaxed-on/sge4"                               },
		{"gid-index=1 server-gid-index=0 sl=2",               "send/lat/64/poll/x1/server-x0/S2"                               },
		{"flow-label=7 hop-limit=2 pkey-index=1 path-bits=0",
		 "send/lat/64/poll/flow7/hops2/pkey1/path0"									    },
		{"multicast=ff0e::7 qps=2",                           "send/lat/64/poll/q2/multicast-ff0e::7"                          },
		{"duration=1s trials=1000",                           "send/lat/64/poll"                                               },
		{"server-cq=event tx-depth=2 rx-depth=3 inline=4 cq-mod=5 timeout=6 retries=7"
		 " hugepages=1",		     "send/lat/64/poll/server-event/t2/r3/I4/Q5/u6/retries7/hugepages"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters from = asked(rows[i][0]);
		char id[128];

		parameters_id(&from, id, sizeof(id));
		assert_string_equal(id, rows[i][1]);
	}
}

/* An id without room is cut and does not overflow. */
static void test_ids_are_bounded(void **unused)
{
	struct parameters from = asked("server-cq=event hugepages=1");
	static const char whole[] = "send/lat/64/poll/server-event/hugepages";

	for (size_t size = 1; size <= sizeof(whole); size++) {
		char *id = test_malloc(size);

		parameters_id(&from, id, size);
		assert_int_equal(strlen(id), size - 1);
		assert_memory_equal(id, whole, size - 1);
		test_free(id);
	}
}

static void test_ids_of_loads(void **unused)
{
	static const char *const rows[][2] = {
		{"metric=load rate=1500k",                       "send/load/64/poll/rate1500k"},
		{"metric=load rate=10% arrivals=poisson seed=7",
		 "send/load/64/poll/rate10%/poisson/seed7"                                    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters from = asked(rows[i][0]);
		char id[128];

		parameters_id(&from, id, sizeof(id));
		assert_string_equal(id, rows[i][1]);
	}
}

static size_t length_of(const struct parameter *parameter, uint64_t value)
{
	char text[PARAMETER_TEXT];

	if (parameter->type == PARAMETER_FLAG)
		return 0;
	parameter_print(parameter, value, text, sizeof(text));
	return strlen(text);
}

/* Returns the value with the longest text, other than the default, which is not in an id. */
static uint64_t longest_value(const struct parameter *parameter)
{
	static const char long_path[] = "file:/23456789/123456789/123456789/123456789"
					"/123456789/123456789/123456789/1234567890123";
	const char *const texts[] = {"1111-7777+1111",
				     "999999999999999.9",
				     "9999999999999bit",
				     "99.9999999%",
				     "999999999ns",
				     "auto",
				     "far",
				     long_path};
	uint64_t values[64] = {parameter->most, parameter->most - 1, parameter->least};
	uint64_t longest;
	size_t count = 3;

	bool has_words = parameter->type == PARAMETER_WORD || parameter->type == PARAMETER_ACCESS;

	if (has_words) {
		for (count = 0; count < parameter->option.values.count; count++)
			values[count] = count;
		assert_true(count < ARRAY_LENGTH(values));
		if (parameter->type == PARAMETER_ACCESS)
			values[count++] = parameter->most - 1;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(texts) && !has_words; i++)
		if (!parameter_parse(parameter, texts[i], &values[count]))
			count++;
	longest = values[0];
	for (size_t i = 1; i < count; i++)
		if (values[i] != parameter->fallback &&
		    (length_of(parameter, values[i]) > length_of(parameter, longest) ||
		     longest == parameter->fallback))
			longest = values[i];
	return longest;
}

/*
 * All parameters at once, which the rules do not allow, give the longest possible id. It must fit.
 */
static void test_the_longest_id(void **unused)
{
	struct parameters longest;
	size_t length = 0;
	char id[2 * CASE_ID];

	for (size_t i = 0; i < PARAMETERS; i++)
		parameter_set(&longest, &parameter_table[i], longest_value(&parameter_table[i]));
	parameters_id(&longest, id, sizeof(id));
	assert_true(strlen(id) < CASE_ID - 1);
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];

		if (parameter->mark == parameters_effort)
			continue;
		length += 1 + (parameter->mark ? strlen(parameter->mark) : 0) +
			  length_of(parameter, parameter_get(&longest, parameter));
		if (parameter->mark)
			assert_contains(id, parameter->mark);
	}
	assert_int_equal(strlen(id), length - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ids_of_loads),
		cmocka_unit_test(test_ids_are_bounded),
		cmocka_unit_test(test_the_longest_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
