/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/test/unit.d/asked.h"
#include "bench/test/unit.d/no_operation.h"
#include "reports/result/run_settings.h"

#define NO_PIN "must be auto, off, far or CPUs (e.g. 3, 0-3 or 0-6+2)"

static const struct parameter *find(const char *name)
{
	const struct parameter *parameter = parameter_find(name);

	assert_non_null(parameter);
	return parameter;
}

static const char *printed(const struct parameter *parameter, uint64_t value)
{
	static char text[PARAMETER_TEXT];

	if (value == PARAMETER_AUTO)
		return "";
	parameter_print(parameter, value, text, sizeof(text));
	return text;
}

/* People and scripts rely on these. "" is a default that the program chooses. */
static const struct {
	const char *name;
	char letter;
	const char *least;
	const char *most;
	const char *fallback;
} options[] = {
	{"op",	       0,   "send",       "connect",       "send"   },
	{"metric",           0,   "lat",        "load",          "lat"    },
	{"size",             's', "1",          "1g",            "64"     },
	{"cq",	       0,   "poll",       "adaptive",      "poll"   },
	{"server-cq",        0,   "poll",       "adaptive",      ""       },
	{"transport",        'c', "RC",         "UD",            "RC"     },
	{"qps",              'q', "1",          "16384",         "1"      },
	{"threads",          0,   "1",          "256",           "1"      },
	{"pattern",          0,   "one-to-one", "all-to-all",    ""       },
	{"tx-depth",         't', "1",          "16384",         ""       },
	{"rx-depth",         'r', "1",          "16384",         ""       },
	{"inline",           'I', "0",          "64k",           ""       },
	{"cq-mod",           'Q', "1",          "16384",         ""       },
	{"cq-depth",         0,   "1",          "4194304",       ""       },
	{"event-count",      0,   "1",          "65535",         ""       },
	{"event-period",     0,   "1us",        "65535us",       ""       },
	{"doorbell-every",   0,   "1",          "8192",          ""       },
	{"mr-access",        0,   "local",      "atomic",        ""       },
	{"pages",            0,   "touched",    "untouched",     ""       },
	{"registration",     0,   "once",       "each",          ""       },
	{"step",             0,   "whole",      "destroy",       ""       },
	{"post-list",        'l', "1",          "64",            "1"      },
	{"recv-post-list",   0,   "1",          "64",            ""       },
	{"bidirectional",    'b', "0",          "1",             "0"      },
	{"latencies",        0,   "0",          "1",             "0"      },
	{"breakdown",        0,   "0",          "1",             ""       },
	{"rate",             0,   "1",          "1000T",         ""       },
	{"rate-limit",       0,   "1",          "1000T",         ""       },
	{"arrivals",         0,   "fixed",      "poisson",       ""       },
	{"burst",            0,   "1",          "16384",         ""       },
	{"seed",             0,   "0",          "4294967295",    ""       },
	{"outstanding",      'o', "1",          "255",           ""       },
	{"mtu",              'm', "256",        "4096",          ""       },
	{"gid-index",        'x', "0",          "255",           ""       },
	{"server-gid-index", 0,   "0",          "255",           ""       },
	{"sl",	       'S', "0",          "15",            "0"      },
	{"tos",              'T', "0",          "255",           "0"      },
	{"flow-label",       0,   "0",          "1048575",       ""       },
	{"hop-limit",        0,   "1",          "255",           ""       },
	{"pkey-index",       0,   "0",          "65535",         ""       },
	{"path-bits",        0,   "0",          "127",           ""       },
	{"multicast",        0,   "224.0.0.0",  "ffff::1",       ""       },
	{"timeout",          'u', "1",          "31",            "14"     },
	{"retries",          0,   "0",          "7",             "6"      },
	{"connect",          0,   "cm",         "qp",            ""       },
	{"use-srq",          0,   "0",          "1",             "0"      },
	{"mr-per-qp",        0,   "0",          "1",             ""       },
	{"hugepages",        0,   "0",          "1",             "0"      },
	{"memory",           0,   "host",       "nic",           ""       },
	{"server-memory",    0,   "host",       "nic",           ""       },
	{"relaxed-ordering", 0,   "off",        "on",            ""       },
	{"buffer",           0,   "8",          "64g",           ""       },
	{"access",           0,   "same",       "stride=64g",    ""       },
	{"sge",              0,   "1",          "32",            "1"      },
	{"think",            0,   "0ns",        "1s",            "0ns"    },
	{"receives",         0,   "buffers",    "none",          "buffers"},
	{"needs",            0,   "0",          "1",             "0"      },
	{"pin",              0,   "0",          "8191",          ""       },
	{"server-pin",       0,   "0",          "8191",          ""       },
	{"numa",             0,   "0",          "1023",          ""       },
	{"server-numa",      0,   "0",          "1023",          ""       },
	{"verify",           0,   "0",          "1000000000000", "0"      },
	{"iterations",       'n', "1",          "1000000000000", ""       },
	{"duration",         'D', "1ms",        "86400s",        ""       },
	{"warmup",           0,   "0ns",        "86400s",        "2s"     },
	{"trials",           0,   "1",          "1000",          ""       },
	{"budget",           0,   "1ms",        "86400s",        ""       },
	{"precision",        0,   "1",          "100",           ""       },
	{"interleave",       0,   "0",          "1",             ""       },
};

static void test_option_names_and_defaults(void **unused)
{
	assert_int_equal(ARRAY_LENGTH(options), PARAMETERS);
	for (size_t i = 0; i < ARRAY_LENGTH(options); i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t value;

		assert_string_equal(parameter->option.name, options[i].name);
		assert_int_equal(parameter->option.letter, options[i].letter);
		assert_string_equal(printed(parameter, parameter->fallback), options[i].fallback);
		assert_null(parameter_parse(parameter, options[i].least, &value));
		assert_null(parameter_parse(parameter, options[i].most, &value));
		if (parameter->type == PARAMETER_WORD || parameter->type == PARAMETER_ACCESS ||
		    parameter->type == PARAMETER_MEMORY || parameter->type == PARAMETER_GROUP)
			continue;
		assert_string_equal(printed(parameter, parameter->least), options[i].least);
		assert_string_equal(printed(parameter, parameter->most), options[i].most);
	}
}

/* A word's value is its index; completion modes have the values of cq_notify. */
static void test_words(void **unused)
{
	static const struct {
		const char *name;
		const char *word;
		uint64_t value;
	} rows[] = {
		{"op",               "send",     0               },
		{"op",               "write",    1               },
		{"op",               "read",     2               },
		{"metric",           "lat",      METRIC_LAT      },
		{"metric",           "bw",       METRIC_BW       },
		{"metric",           "load",     METRIC_LOAD     },
		{"cq",               "poll",     CQ_POLL         },
		{"cq",               "event",    CQ_EVENT        },
		{"cq",               "adaptive", CQ_ADAPTIVE     },
		{"server-cq",        "adaptive", CQ_ADAPTIVE     },
		{"cq",               "Event",    CQ_EVENT        },
		{"op",               "READ",     2               },
		{"relaxed-ordering", "off",      ORDERING_STRICT },
		{"relaxed-ordering", "on",       ORDERING_RELAXED},
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
	return parameter->type == PARAMETER_WORD ? parameter->option.values.count - 1
						 : parameter->most;
}

static void test_values_round_trip(void **unused)
{
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *parameter = &parameter_table[i];
		uint64_t most = last(parameter);

		/* These numbers are assigned when a text is parsed. */
		if (parameter->type == PARAMETER_MEMORY) {
			assert_null(parameter_parse(parameter, "nic", &most));
			check_round_trip(parameter, most);
			continue;
		}
		if (parameter->type == PARAMETER_GROUP) {
			assert_null(parameter_parse(parameter, "239.1.2.3", &most));
			check_round_trip(parameter, most);
			continue;
		}
		for (uint64_t n = 0; n <= 64 && parameter->least + n <= most; n++) {
			check_round_trip(parameter, parameter->least + n);
			check_round_trip(parameter, most - n);
		}
		for (uint64_t value = 1; value <= most; value *= 2)
			if (value >= parameter->least)
				check_round_trip(parameter, value);
	}
}

/* Each parameter has its own member. */
static void test_members_are_distinct(void **unused)
{
	struct parameters set = parameters_default();

	assert_int_equal(sizeof(set), PARAMETERS * sizeof(uint64_t));
	for (size_t i = 0; i < PARAMETERS; i++)
		parameter_set(&set, &parameter_table[i], 1000 + i);
	for (size_t i = 0; i < PARAMETERS; i++)
		assert_int_equal(parameter_get(&set, &parameter_table[i]), 1000 + i);
	assert_int_equal(set.op, 1000);
	assert_int_equal(set.interleave, 1000 + PARAMETERS - 1);
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

/* Values are words, or strides. */
static void test_access(void **unused)
{
	static const struct {
		const char *text;
		const char *id;
		uint64_t value;
	} good[] = {
		{"same",       "send/lat/64/poll/access-same",       ACCESS_SAME         },
		{"Sequential", "send/lat/64/poll/access-sequential", ACCESS_SEQUENTIAL   },
		{"random",     "send/lat/64/poll/access-random",     ACCESS_RANDOM       },
		{"stride=4k",  "send/lat/64/poll/access-stride=4k",  ACCESS_STRIDE + 4096},
		{"stride=8",   "send/lat/64/poll/access-stride=8",   ACCESS_STRIDE + 8   },
	};
	static const char *const bad[][2] = {
		{"there",                      "is not one of same, sequential, random, stride=SIZE"},
		{"stride",                     "is not one of same, sequential, random, stride=SIZE"},
		{"all",			"is not one of same, sequential, random, stride=SIZE"},
		{"stride=",                    "is not a stride (e.g. stride=4k)"                   },
		{"stride=4q",                  "is not a stride (e.g. stride=4k)"                   },
		{"stride=7",                   "must be between stride=8 and stride=64g"            },
		{"stride=65g",                 "must be between stride=8 and stride=64g"            },
		{"stride=9223372036854775807", "must be between stride=8 and stride=64g"            },
	};
	uint64_t value;

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		struct parameters p = parameters_default();
		char id[128];

		assert_null(parameter_parse(find("access"), good[i].text, &p.access));
		assert_true(p.access == good[i].value);
		parameters_id(&p, id, sizeof(id));
		assert_string_equal(id, good[i].id);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		assert_string_equal(parameter_parse(find("access"), bad[i][0], &value), bad[i][1]);
}

static void test_refused_texts(void **unused)
{
	static const char *const rows[][3] = {
		{"op",               "push",                 NO_OPERATION                             },
		{"op",               "",                     NO_OPERATION                             },
		{"op",               "0",                    NO_OPERATION                             },
		{"op",               "all",                  NO_OPERATION                             },
		{"metric",           "speed",                "is not one of lat, bw, load"            },
		{"cq",               "busy",                 "is not one of poll, event, adaptive"    },
		{"server-cq",        "polling",              "is not one of poll, event, adaptive"    },
		{"size",             "4q",                   "is not a size (e.g. 64 or 4k)"          },
		{"size",             "",                     "is not a size (e.g. 64 or 4k)"          },
		{"size",             "-1",                   "is not a size (e.g. 64 or 4k)"          },
		{"size",             "18446744073709551616", "is not a size (e.g. 64 or 4k)"          },
		{"size",             "0",                    "must be between 1 and 1g"               },
		{"size",             "1073741825",           "must be between 1 and 1g"               },
		{"size",             "18446744073709551615", "must be between 1 and 1g"               },
		{"inline",           "65537",                "must be between 0 and 64k"              },
		{"inline",           "off",                  "is not a size (e.g. 64 or 4k)"          },
		{"tx-depth",         "0",                    "must be between 1 and 16384"            },
		{"tx-depth",         "16385",                "must be between 1 and 16384"            },
		{"tx-depth",         "4k",                   "is not a number"                        },
		{"rx-depth",         "0",                    "must be between 1 and 16384"            },
		{"cq-mod",           "16385",                "must be between 1 and 16384"            },
		{"timeout",          "0",                    "must be between 1 and 31"               },
		{"timeout",          "32",                   "must be between 1 and 31"               },
		{"retries",          "8",                    "must be between 0 and 7"                },
		{"iterations",       "0",                    "must be between 1 and 1000000000000"    },
		{"iterations",       "1000000000001",        "must be between 1 and 1000000000000"    },
		{"iterations",       "18446744073709551615", "must be between 1 and 1000000000000"    },
		{"iterations",       "1.5",                  "is not a number"                        },
		{"duration",         "soon",                 "is not a time (e.g. 10s, 100ms or 10us)"},
		{"duration",         "999us",                "must be between 1ms and 86400s"         },
		{"duration",         "86401s",               "must be between 1ms and 86400s"         },
		{"buffer",           "65g",                  "must be between 8 and 64g"              },
		{"sge",              "0",                    "must be between 1 and 32"               },
		{"sge",              "33",                   "must be between 1 and 32"               },
		{"trials",           "0",                    "must be between 1 and 1000"             },
		{"trials",           "1001",                 "must be between 1 and 1000"             },
		{"hugepages",        "yes",                  "must be 0 or 1"                         },
		{"hugepages",        "2",                    "must be 0 or 1"                         },
		{"hugepages",        "11",                   "must be 0 or 1"                         },
		{"hugepages",        "",                     "must be 0 or 1"                         },
		{"pin",              "8192",                 "must be between 0 and 8191"             },
		{"pin",              "18446744073709551615", "must be between 0 and 8191"             },
		{"pin",              "18446744073709551614", "must be between 0 and 8191"             },
		{"pin",              "-1",                   NO_PIN                                   },
		{"pin",              "3-3",                  NO_PIN                                   },
		{"pin",              "3-0",                  NO_PIN                                   },
		{"pin",              "0-8192",               NO_PIN                                   },
		{"pin",              "0-3+0",                NO_PIN                                   },
		{"pin",              "0-3+4",                NO_PIN                                   },
		{"pin",              "0-3+",                 NO_PIN                                   },
		{"pin",              "0-3-5",                NO_PIN                                   },
		{"pin",              "0+3",                  NO_PIN                                   },
		{"pin",              "",                     NO_PIN				   },
		{"server-pin",       "on",                   NO_PIN                                   },
		{"numa",             "0-1",                  "must be auto, off or a number"          },
		{"threads",          "0",                    "must be between 1 and 256"              },
		{"threads",          "257",                  "must be between 1 and 256"              },
		{"numa",             "1024",                 "must be between 0 and 1023"             },
		{"relaxed-ordering", "1",                    "is not one of off, on"                  },
		{"server-gid-index", "256",                  "must be between 0 and 255"              },
		{"server-numa",      "all",                  "must be auto, off or a number"          },
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
		{"duration",  "100000000", 100000000     },
		{"duration",  "\"2\"",     2000000000    },
		{"hugepages", "true",      1             },
		{"hugepages", "false",     0             },
		{"buffer",    "\"64g\"",   68719476736   },
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
		{"op",        "0",                    NO_OPERATION                    },
		{"op",        "null",                 NO_OPERATION                    },
		{"op",        "[\"send\"]",           NO_OPERATION                    },
		{"op",        "\"\"",                 NO_OPERATION                    },
		{"size",      "64.0",                 "is not a number"               },
		{"size",      "-1",                   "is not a number"               },
		{"size",      "-9223372036854775808", "is not a number"               },
		{"size",      "9223372036854775807",  "must be between 1 and 1g"      },
		{"size",      "0",                    "must be between 1 and 1g"      },
		{"size",      "null",                 "is not a number"               },
		{"size",      "true",                 "is not a number"               },
		{"size",      "[64]",                 "is not a number"               },
		{"size",      "{\"a\": 64}",          "is not a number"               },
		{"size",      "\"4q\"",               "is not a size (e.g. 64 or 4k)" },
		{"trials",    "1e3",                  "is not a number"               },
		{"duration",  "1",                    "must be between 1ms and 86400s"},
		{"duration",  "true",                 "is not a time (e.g. \"10s\")"  },
		{"duration",  "\"0s\"",               "must be between 1ms and 86400s"},
		{"hugepages", "1",                    "must be true or false"         },
		{"hugepages", "\"true\"",             "must be true or false"         },
		{"hugepages", "null",                 "must be true or false"         },
		{"pin",       "8192",                 "must be between 0 and 8191"    },
		{"pin",       "-1",                   NO_PIN                          },
		{"pin",       "true",                 NO_PIN                          },
		{"pin",       "\"on\"",               NO_PIN                          },
		{"pin",       "4611686018695758849",  "must be between 0 and 8191"    },
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

/* Parameters neither given nor chosen are omitted. */
static void test_objects(void **unused)
{
	check_encoded(
		"",
		"{\"op\": \"send\", \"metric\": \"lat\", \"size\": 64, \"cq\": \"poll\","
		" \"transport\": \"RC\", \"qps\": 1, \"threads\": 1, \"post-list\": 1, \"bidirectional\": false,"
		" \"latencies\": false, \"sl\": 0, \"tos\": 0, \"timeout\": 14,"
		" \"retries\": 6, \"use-srq\": false, \"hugepages\": false, \"sge\": 1, \"think_ns\": 0,"
		" \"receives\": \"buffers\", \"needs\": false, \"verify\": 0, \"warmup_ns\": 2000000000}");
	check_encoded(
		"op=read metric=bw size=1m cq=event server-cq=poll tx-depth=1 rx-depth=2"
		" inline=0 cq-mod=3 timeout=4 retries=5 hugepages=1 iterations=6 duration=7s"
		" trials=8 transport=UC qps=2 post-list=3 bidirectional=1 latencies=1"
		" outstanding=4 mtu=1024 gid-index=5 server-gid-index=0 relaxed-ordering=on sl=6 tos=7 connect=qp use-srq=1 verify=8"
		" think=9us receives=bare needs=1 warmup=3s sge=9 buffer=1g"
		" access=stride=4k seed=5 threads=4 pin=3 server-pin=0-6+2",
		"{\"transport\": \"UC\", \"qps\": 2, \"threads\": 4, \"pin\": 3, \"server-pin\": \"0-6+2\", \"post-list\": 3, \"bidirectional\": true,"
		" \"latencies\": true, \"outstanding\": 4, \"mtu\": 1024, \"gid-index\": 5,"
		" \"server-gid-index\": 0, \"relaxed-ordering\": \"on\","
		" \"sl\": 6, \"tos\": 7, \"connect\": \"qp\", \"use-srq\": true, \"verify\": 8,"
		" \"think_ns\": 9000, \"receives\": \"bare\", \"needs\": true, \"warmup_ns\": 3000000000, \"sge\": 9,"
		" \"buffer\": 1073741824, \"access\": \"stride=4k\", \"seed\": 5,"
		" \"op\": \"read\", \"metric\": \"bw\", \"size\": 1048576, \"cq\": \"event\","
		" \"server-cq\": \"poll\", \"tx-depth\": 1, \"rx-depth\": 2, \"inline\": 0,"
		" \"cq-mod\": 3, \"timeout\": 4, \"retries\": 5, \"hugepages\": true,"
		" \"iterations\": 6, \"duration_ns\": 7000000000, \"trials\": 8}");
}

static void test_objects_round_trip(void **unused)
{
	static const char *const texts[] = {
		"",
		"op=write metric=bw size=1g cq=adaptive",
		"server-cq=event inline=0 retries=0 hugepages=1",
		"tx-depth=16384 rx-depth=1 cq-mod=77 timeout=31 duration=1500ms trials=1000",
		"iterations=1000000000000",
		"pin=0 server-pin=off",
		"pin=far server-pin=far",
		"cq-depth=9 registration=each interleave=1",
		"budget=90s precision=2",
		"pin=off server-pin=8191",
		"numa=1 server-numa=off",
		"gid-index=0 server-gid-index=255",
		"relaxed-ordering=off",
		"pin=auto",
		"metric=load rate=10gbit arrivals=poisson seed=7",
		"metric=load rate=10%",
		"pin=0-3 server-pin=1-7+2 threads=4",
		"pin=0-8191",
		"pin=8190-8191 server-pin=0-8191+8191",
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
		{"{\"colour\": 1}",				    -EOPNOTSUPP, "unknown parameter 'colour'"            },
		{"{\"server_cq\": \"poll\"}",                          -EOPNOTSUPP, "unknown parameter 'server_cq'"         },
		{"{\"\\u001b[2J\": 1}",                                -EOPNOTSUPP, "unknown parameter '?[2J'"              },
		{"{\"\": 1}",					  -EOPNOTSUPP, "unknown parameter ''"                  },
		{"{\"size\": 0}",				      -EINVAL,     "size must be between 1 and 1g"         },
		{"{\"size\": []}",				     -EINVAL,     "size is not a number"                  },
		{"{\"cq\": \"busy\"}",                                 -EINVAL,     "cq is not one of poll, event, adaptive"},
		{"{\"0123456789012345678901234567890123456789x\": 1}", -EOPNOTSUPP,
		 "unknown parameter '0123456789012345678901234567890123456789'"                                             },
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

/* For the history: how a case was run, without effort and without what its id contains in full. */
static void test_variants(void **unused)
{
	static const char *const told[] = {"op", "metric", "size", "cq", "server-cq", "transport"};

	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *row = &parameter_table[i];
		bool is_told = row->mark == parameters_effort;
		char key[PARAMETER_KEY];
		const char *before;
		char *text;
		json_t *value;

		parameter_key(key, row);
		before = run_settings_before(key);
		assert_int_equal(run_settings_is_effort(key), is_told);
		for (size_t j = 0; j < ARRAY_LENGTH(told); j++)
			is_told = is_told || !strcmp(told[j], row->option.name);
		if (is_told) {
			assert_null(before);
			continue;
		}
		assert_non_null(before);
		if (row->fallback == PARAMETER_AUTO) {
			assert_string_equal(before, "");
			continue;
		}
		value = parameter_encode(row, row->fallback);
		text = json_is_string(value) ? strdup(json_string_value(value))
					     : json_dumps(value, JSON_ENCODE_ANY);
		assert_string_equal(before, text);
		free(text);
		json_decref(value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_option_names_and_defaults),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_values_round_trip),
		cmocka_unit_test(test_members_are_distinct),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_access),
		cmocka_unit_test(test_refused_texts),
		cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_refused_json),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_objects_round_trip),
		cmocka_unit_test(test_refused_objects),
		cmocka_unit_test(test_variants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
