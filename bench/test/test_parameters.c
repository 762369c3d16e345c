/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/test/asked.h"

static const struct parameter *find(const char *name)
{
	const struct parameter *parameter = parameter_find(name);

	assert_non_null(parameter);
	return parameter;
}

static const char *printed(const struct parameter *parameter, uint64_t value)
{
	static char text[64];

	if (value == PARAMETER_AUTO)
		return "";
	parameter_print(parameter, value, text, sizeof(text));
	return text;
}

/* What people and scripts rely on; "" is a default that the program chooses. */
static void test_the_interface(void **unused)
{
	static const struct {
		const char *name;
		char letter;
		const char *least;
		const char *most;
		const char *fallback;
	} rows[] = {
		{"op",            0,   "send",    "read-notify",   "send"   },
		{"metric",        0,   "lat",     "bw",            "lat"    },
		{"size",          's', "1",       "1g",            "64"     },
		{"cq",            0,   "poll",    "adaptive",      "poll"   },
		{"server-cq",     0,   "poll",    "adaptive",      ""       },
		{"transport",     'c', "RC",      "UD",            "RC"     },
		{"qps",           'q', "1",       "1024",          "1"      },
		{"tx-depth",      't', "1",       "16384",         ""       },
		{"rx-depth",      'r', "1",       "16384",         ""       },
		{"inline",        'I', "0",       "64k",           ""       },
		{"cq-mod",        'Q', "1",       "16384",         ""       },
		{"post-list",     'l', "1",       "64",            "1"      },
		{"bidirectional", 'b', "0",       "1",             "0"      },
		{"latencies",     0,   "0",       "1",             "0"      },
		{"outstanding",   'o', "1",       "255",           ""       },
		{"mtu",           'm', "256",     "4096",          ""       },
		{"gid-index",     'x', "0",       "255",           ""       },
		{"sl",            'S', "0",       "15",            "0"      },
		{"tos",           'T', "0",       "255",           "0"      },
		{"timeout",       'u', "1",       "31",            "14"     },
		{"retries",       0,   "0",       "7",             "6"      },
		{"connect",       0,   "cm",      "qp",            ""       },
		{"use-srq",       0,   "0",       "1",             "0"      },
		{"hugepages",     0,   "0",       "1",             "0"      },
		{"think",         0,   "0ns",     "1s",            "0ns"    },
		{"receives",      0,   "buffers", "none",          "buffers"},
		{"needs",         0,   "0",       "1",             "0"      },
		{"pin",           0,   "0",       "8191",          ""       },
		{"server-pin",    0,   "0",       "8191",          ""       },
		{"numa",          0,   "0",       "1023",          ""       },
		{"server-numa",   0,   "0",       "1023",          ""       },
		{"verify",        0,   "0",       "1000000000000", "0"      },
		{"iterations",    'n', "1",       "1000000000000", ""       },
		{"duration",      'D', "1ms",     "86400s",        ""       },
		{"warmup",        0,   "0ns",     "86400s",        "2s"     },
		{"trials",        0,   "1",       "1000",          ""       },
	};

	assert_int_equal(ARRAY_LENGTH(rows), PARAMETERS);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value;

		assert_string_equal(parameter->option.name, rows[i].name);
		assert_int_equal(parameter->option.letter, rows[i].letter);
		assert_string_equal(printed(parameter, parameter->fallback), rows[i].fallback);
		assert_null(parameter_parse(parameter, rows[i].least, &value));
		assert_null(parameter_parse(parameter, rows[i].most, &value));
		if (parameter->type == PARAMETER_WORD)
			continue;
		assert_string_equal(printed(parameter, parameter->least), rows[i].least);
		assert_string_equal(printed(parameter, parameter->most), rows[i].most);
	}
}

/* Words are numbers of their table, and those of a mode are what cq_notify takes. */
static void test_words(void **unused)
{
	static const struct {
		const char *name;
		const char *word;
		uint64_t value;
	} rows[] = {
		{"op",        "send",     0            },
		{"op",        "write",    1            },
		{"op",        "read",     2            },
		{"metric",    "lat",      METRIC_LAT   },
		{"metric",    "bw",       METRIC_BW    },
		{"cq",        "poll",     RDMA_POLL    },
		{"cq",        "event",    RDMA_EVENT   },
		{"cq",        "adaptive", RDMA_ADAPTIVE},
		{"server-cq", "adaptive", RDMA_ADAPTIVE},
		{"cq",        "Event",    RDMA_EVENT   },
		{"op",        "READ",     2            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t value = UINT64_MAX;

		assert_null(parameter_parse(find(rows[i].name), rows[i].word, &value));
		assert_int_equal(value, rows[i].value);
		assert_int_equal(
			strcasecmp(parameter_word(rows[i].name, rows[i].value), rows[i].word), 0);
	}
}

static void check_round_trip(const struct parameter *parameter, uint64_t value)
{
	struct parameters set = parameters_default();
	uint64_t parsed = ~value;
	uint64_t decoded = ~value;
	char text[64];
	json_t *json;

	parameter_print(parameter, value, text, sizeof(text));
	assert_null(parameter_parse(parameter, text, &parsed));
	assert_int_equal(parsed, value);
	json = parameter_encode(parameter, value);
	assert_non_null(json);
	assert_null(parameter_decode(parameter, json, &decoded));
	assert_int_equal(decoded, value);
	json_decref(json);
	parameter_set(&set, parameter, value);
	assert_int_equal(parameter_get(&set, parameter), value);
}

static uint64_t last(const struct parameter *parameter)
{
	uint64_t count = 0;

	if (parameter->type != PARAMETER_WORD)
		return parameter->most;
	while (parameter->words[count])
		count++;
	return count - 1;
}

static void test_each_row_there_and_back(void **unused)
{
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t most = last(parameter);

		for (uint64_t n = 0; n <= 64 && parameter->least + n <= most; n++) {
			check_round_trip(parameter, parameter->least + n);
			check_round_trip(parameter, most - n);
		}
		for (uint64_t value = 1; value <= most; value *= 2)
			if (value >= parameter->least)
				check_round_trip(parameter, value);
	}
}

/* Each has a place of its own. */
static void test_places(void **unused)
{
	struct parameters set = parameters_default();

	assert_int_equal(sizeof(set), PARAMETERS * sizeof(uint64_t));
	for (size_t i = 0; i < PARAMETERS; i++)
		parameter_set(&set, &parameter_table[i], 1000 + i);
	for (size_t i = 0; i < PARAMETERS; i++)
		assert_int_equal(parameter_get(&set, &parameter_table[i]), 1000 + i);
	assert_int_equal(set.op, 1000);
	assert_int_equal(set.trials, 1000 + PARAMETERS - 1);
}

static void test_find(void **unused)
{
	static const char *const none[] = {"", "sizes", "siz", "Size", "--size", "s", "server_cq"};

	for (size_t i = 0; i < PARAMETERS; i++)
		assert_ptr_equal(parameter_find(parameter_table[i].option.name),
				 &parameter_table[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(none); i++)
		assert_null(parameter_find(none[i]));
}

static void test_refused_texts(void **unused)
{
	static const char *const rows[][3] = {
		{"op",          "push",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",          "",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",          "0",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",          "all",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"metric",      "speed",                "is none of lat, bw"                                  },
		{"cq",          "busy",                 "is none of poll, event, adaptive"                    },
		{"server-cq",   "polling",              "is none of poll, event, adaptive"                    },
		{"size",        "4q",                   "is not a size, such as 64 or 4k"                     },
		{"size",        "",                     "is not a size, such as 64 or 4k"                     },
		{"size",        "-1",                   "is not a size, such as 64 or 4k"                     },
		{"size",        "18446744073709551616", "is not a size, such as 64 or 4k"                     },
		{"size",        "0",                    "is not from 1 to 1g"                                 },
		{"size",        "1073741825",           "is not from 1 to 1g"                                 },
		{"size",        "18446744073709551615", "is not from 1 to 1g"                                 },
		{"inline",      "65537",                "is not from 0 to 64k"                                },
		{"inline",      "off",                  "is not a size, such as 64 or 4k"                     },
		{"tx-depth",    "0",                    "is not from 1 to 16384"                              },
		{"tx-depth",    "16385",                "is not from 1 to 16384"                              },
		{"tx-depth",    "4k",                   "is not a number"                                     },
		{"rx-depth",    "0",                    "is not from 1 to 16384"                              },
		{"cq-mod",      "16385",                "is not from 1 to 16384"                              },
		{"timeout",     "0",                    "is not from 1 to 31"                                 },
		{"timeout",     "32",                   "is not from 1 to 31"                                 },
		{"retries",     "8",                    "is not from 0 to 7"                                  },
		{"iterations",  "0",                    "is not from 1 to 1000000000000"                      },
		{"iterations",  "1000000000001",        "is not from 1 to 1000000000000"                      },
		{"iterations",  "18446744073709551615", "is not from 1 to 1000000000000"                      },
		{"iterations",  "1.5",                  "is not a number"                                     },
		{"duration",    "soon",                 "is not a time, such as 10s, 100ms or 10us"           },
		{"duration",    "999us",                "is not from 1ms to 86400s"                           },
		{"duration",    "86401s",               "is not from 1ms to 86400s"                           },
		{"trials",      "0",                    "is not from 1 to 1000"                               },
		{"trials",      "1001",                 "is not from 1 to 1000"                               },
		{"hugepages",   "yes",                  "is neither 0 nor 1"                                  },
		{"hugepages",   "2",                    "is neither 0 nor 1"                                  },
		{"hugepages",   "11",                   "is neither 0 nor 1"                                  },
		{"hugepages",   "",                     "is neither 0 nor 1"                                  },
		{"pin",         "8192",                 "is not from 0 to 8191"                               },
		{"pin",         "18446744073709551615", "is not from 0 to 8191"                               },
		{"pin",         "18446744073709551614", "is not from 0 to 8191"                               },
		{"pin",         "-1",                   "is neither auto nor off nor a number"                },
		{"pin",         "0-3",                  "is neither auto nor off nor a number"                },
		{"pin",         "",                     "is neither auto nor off nor a number"                },
		{"server-pin",  "on",                   "is neither auto nor off nor a number"                },
		{"numa",        "1024",                 "is not from 0 to 1023"                               },
		{"server-numa", "all",                  "is neither auto nor off nor a number"                },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t value;
		const char *wrong = parameter_parse(find(rows[i][0]), rows[i][1], &value);

		assert_non_null(wrong);
		assert_string_equal(wrong, rows[i][2]);
	}
}

static json_t *load(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(json);
	return json;
}

static void test_json_values(void **unused)
{
	static const struct {
		const char *name;
		const char *json;
		uint64_t value;
	} rows[] = {
		{"op",        "\"write\"", 1             },
		{"size",      "4096",      4096          },
		{"size",      "\"4k\"",    4096          },
		{"tx-depth",  "16384",     16384         },
		{"tx-depth",  "\"16\"",    16            },
		{"retries",   "0",         0             },
		{"duration",  "\"100ms\"", 100000000     },
		{"duration",  "\"2\"",     2000000000    },
		{"hugepages", "true",      1             },
		{"hugepages", "false",     0             },
		{"pin",       "0",         0             },
		{"pin",       "\"3\"",     3             },
		{"pin",       "\"off\"",   PARAMETER_OFF },
		{"pin",       "\"auto\"",  PARAMETER_AUTO},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *json = load(rows[i].json);
		uint64_t value = UINT64_MAX;

		assert_null(parameter_decode(find(rows[i].name), json, &value));
		assert_int_equal(value, rows[i].value);
		json_decref(json);
	}
}

static void test_refused_json(void **unused)
{
	static const char *const rows[][3] = {
		{"op",        "0",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",        "null",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",        "[\"send\"]",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"op",        "\"\"",
		 "is none of send, write, read, write-imm, fetch-add, compare-swap, write-notify, read-notify"},
		{"size",      "64.0",                 "is not a number"                                       },
		{"size",      "-1",                   "is not a number"                                       },
		{"size",      "-9223372036854775808", "is not a number"                                       },
		{"size",      "9223372036854775807",  "is not from 1 to 1g"                                   },
		{"size",      "0",                    "is not from 1 to 1g"                                   },
		{"size",      "null",                 "is not a number"                                       },
		{"size",      "true",                 "is not a number"                                       },
		{"size",      "[64]",                 "is not a number"                                       },
		{"size",      "{\"a\": 64}",          "is not a number"                                       },
		{"size",      "\"4q\"",               "is not a size, such as 64 or 4k"                       },
		{"trials",    "1e3",                  "is not a number"                                       },
		{"duration",  "1",                    "is not a time, such as \"10s\""                        },
		{"duration",  "true",                 "is not a time, such as \"10s\""                        },
		{"duration",  "\"0s\"",               "is not from 1ms to 86400s"                             },
		{"hugepages", "1",                    "is neither true nor false"                             },
		{"hugepages", "\"true\"",             "is neither true nor false"                             },
		{"hugepages", "null",                 "is neither true nor false"                             },
		{"pin",       "8192",                 "is not from 0 to 8191"                                 },
		{"pin",       "-1",                   "is neither auto nor off nor a number"                  },
		{"pin",       "true",                 "is neither auto nor off nor a number"                  },
		{"pin",       "\"on\"",               "is neither auto nor off nor a number"                  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *json = load(rows[i][1]);
		uint64_t value;
		const char *wrong = parameter_decode(find(rows[i][0]), json, &value);

		assert_non_null(wrong);
		assert_string_equal(wrong, rows[i][2]);
		json_decref(json);
	}
}

static void check_encoded(const char *text, const char *wanted)
{
	struct parameters from = asked(text);
	json_t *object = json_object();
	json_t *golden = load(wanted);

	assert_int_equal(parameters_encode(&from, object), 0);
	assert_true(json_equal(object, golden));
	json_decref(object);
	json_decref(golden);
}

/* What nobody has asked for, nor chosen, is not said. */
static void test_objects(void **unused)
{
	check_encoded(
		"",
		"{\"op\": \"send\", \"metric\": \"lat\", \"size\": 64, \"cq\": \"poll\","
		" \"transport\": \"RC\", \"qps\": 1, \"post-list\": 1, \"bidirectional\": false,"
		" \"latencies\": false, \"sl\": 0, \"tos\": 0, \"timeout\": 14,"
		" \"retries\": 6, \"use-srq\": false, \"hugepages\": false, \"think\": \"0ns\","
		" \"receives\": \"buffers\", \"needs\": false, \"verify\": 0, \"warmup\": \"2s\"}");
	check_encoded(
		"op=read metric=bw size=1m cq=event server-cq=poll tx-depth=1 rx-depth=2"
		" inline=0 cq-mod=3 timeout=4 retries=5 hugepages=1 iterations=6 duration=7s"
		" trials=8 transport=UC qps=2 post-list=3 bidirectional=1 latencies=1"
		" outstanding=4 mtu=1024 gid-index=5 sl=6 tos=7 connect=qp use-srq=1 verify=8"
		" think=9us receives=bare needs=1 warmup=3s",
		"{\"transport\": \"UC\", \"qps\": 2, \"post-list\": 3, \"bidirectional\": true,"
		" \"latencies\": true, \"outstanding\": 4, \"mtu\": 1024, \"gid-index\": 5,"
		" \"sl\": 6, \"tos\": 7, \"connect\": \"qp\", \"use-srq\": true, \"verify\": 8,"
		" \"think\": \"9us\", \"receives\": \"bare\", \"needs\": true, \"warmup\": \"3s\","
		" \"op\": \"read\", \"metric\": \"bw\", \"size\": 1048576, \"cq\": \"event\","
		" \"server-cq\": \"poll\", \"tx-depth\": 1, \"rx-depth\": 2, \"inline\": 0,"
		" \"cq-mod\": 3, \"timeout\": 4, \"retries\": 5, \"hugepages\": true,"
		" \"iterations\": 6, \"duration\": \"7s\", \"trials\": 8}");
}

static void test_objects_there_and_back(void **unused)
{
	static const char *const texts[] = {
		"",
		"op=write metric=bw size=1g cq=adaptive",
		"server-cq=event inline=0 retries=0 hugepages=1",
		"tx-depth=16384 rx-depth=1 cq-mod=77 timeout=31 duration=1500ms trials=1000",
		"iterations=1000000000000",
		"pin=0 server-pin=off",
		"pin=off server-pin=8191",
		"numa=1 server-numa=off",
		"pin=auto",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct parameters from = asked(texts[i]);
		struct parameters into = parameters_default();
		json_t *object = json_object();
		struct error error = {0};

		assert_int_equal(parameters_encode(&from, object), 0);
		assert_int_equal(parameters_decode(&into, object, &error), 0);
		assert_memory_equal(&into, &from, sizeof(from));
		json_decref(object);
	}
}

static void test_refused_objects(void **unused)
{
	static const struct {
		const char *json;
		int code;
		const char *text;
	} rows[] = {
		{"{\"colour\": 1}",				    -EOPNOTSUPP, "there is no parameter colour"       },
		{"{\"server_cq\": \"poll\"}",                          -EOPNOTSUPP, "there is no parameter server_cq"    },
		{"{\"\": 1}",					  -EOPNOTSUPP, "there is no parameter "             },
		{"{\"size\": 0}",				      -EINVAL,     "size is not from 1 to 1g"           },
		{"{\"size\": []}",				     -EINVAL,     "size is not a number"               },
		{"{\"cq\": \"busy\"}",                                 -EINVAL,     "cq is none of poll, event, adaptive"},
		{"{\"0123456789012345678901234567890123456789x\": 1}", -EOPNOTSUPP,
		 "there is no parameter 0123456789012345678901234567890123456789"                                        },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters into = parameters_default();
		json_t *object = load(rows[i].json);
		struct error error = {0};

		assert_int_equal(parameters_decode(&into, object, &error), rows[i].code);
		assert_string_equal(error.text, rows[i].text);
		json_decref(object);
	}
}

static void test_ids(void **unused)
{
	static const char *const rows[][2] = {
		{"",				     "send/lat/64/poll"					       },
		{"op=write metric=bw size=64k cq=event", "write/bw/64k/event"                                             },
		{"size=1",			       "send/lat/1/poll"						},
		{"size=1000",                            "send/lat/1000/poll"                                             },
		{"size=1023",                            "send/lat/1023/poll"                                             },
		{"size=1024",                            "send/lat/1k/poll"                                               },
		{"size=1536",                            "send/lat/1536/poll"                                             },
		{"size=1048576",                         "send/lat/1m/poll"                                               },
		{"size=1049600",                         "send/lat/1025k/poll"                                            },
		{"size=1073741824",                      "send/lat/1g/poll"                                               },
		{"cq=adaptive server-cq=poll",           "send/lat/64/adaptive/server-poll"                               },
		{"tx-depth=16",                          "send/lat/64/poll/t16"                                           },
		{"rx-depth=512",                         "send/lat/64/poll/r512"                                          },
		{"inline=0",			     "send/lat/64/poll/I0"                                            },
		{"inline=1k",                            "send/lat/64/poll/I1k"                                           },
		{"cq-mod=1",			     "send/lat/64/poll/Q1"                                            },
		{"timeout=14 retries=6 hugepages=0",     "send/lat/64/poll"                                               },
		{"timeout=10",                           "send/lat/64/poll/u10"                                           },
		{"retries=0",                            "send/lat/64/poll/retries0"                                      },
		{"hugepages=1",                          "send/lat/64/poll/hugepages"                                     },
		{"iterations=9 trials=1",                "send/lat/64/poll"                                               },
		{"pin=auto server-pin=auto",             "send/lat/64/poll"                                               },
		{"pin=0 server-pin=off",                 "send/lat/64/poll/pin0/server-pinoff"                            },
		{"server-numa=1 numa=off",               "send/lat/64/poll/numaoff/server-numa1"                          },
		{"server-pin=12 hugepages=1",            "send/lat/64/poll/hugepages/server-pin12"                        },
		{"duration=1s trials=1000",              "send/lat/64/poll"                                               },
		{"server-cq=event tx-depth=2 rx-depth=3 inline=4 cq-mod=5 timeout=6 retries=7"
		 " hugepages=1",        "send/lat/64/poll/server-event/t2/r3/I4/Q5/u6/retries7/hugepages"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters from = asked(rows[i][0]);
		char id[128];

		parameters_id(&from, id, sizeof(id));
		assert_string_equal(id, rows[i][1]);
	}
}

/* An id that has no room is cut, not written beyond. */
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

/* The longest that there is fits where ids are kept. */
static void test_the_longest_id(void **unused)
{
	struct parameters from = asked("op=write metric=bw size=1073741823 cq=adaptive"
				       " server-cq=poll tx-depth=16383 rx-depth=16383 inline=65535"
				       " cq-mod=16383 timeout=31 retries=7 hugepages=1");
	char id[256];

	parameters_id(&from, id, sizeof(id));
	assert_true(strlen(id) < 128);
	assert_contains(id, "/hugepages");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_interface),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_each_row_there_and_back),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_refused_texts),
		cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_refused_json),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_objects_there_and_back),
		cmocka_unit_test(test_refused_objects),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ids_are_bounded),
		cmocka_unit_test(test_the_longest_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
