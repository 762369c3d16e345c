/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/control/protocol.h"
#include "bench/plan/defaults.h"
#include "bench/test/unit.d/asked.h"
#include "bench/test/unit.d/message.h"

static void check_equal(json_t *message, const char *text)
{
	json_t *wanted = message_load(text);

	assert_true(json_equal(message, wanted));
	json_decref(wanted);
	json_decref(message);
}

static void test_messages(void **unused)
{
	const struct parameters wanted =
		asked("op=write metric=bw size=4k cq=event server-cq=adaptive duration=1s");
	const struct protocol_done done = {
		{1, 2, 3, 4, 5, 6, 7},
                8, 9, -1, false
        };
	const struct protocol_stop stop = {30, 10, true};
	const struct result_end server = {.device = "mlx5_1", .port = 2, .address = "192.0.2.1"};

	check_equal(protocol_plain("stop"), "{\"type\":\"stop\"}");
	check_equal(protocol_stop(&stop),
		    "{\"type\":\"stop\",\"from_ns\":30,\"until_ns\":10,\"next\":true}");
	check_equal(protocol_reason("failed", "why"), "{\"type\":\"failed\",\"reason\":\"why\"}");
	check_equal(protocol_hello(NULL), "{\"type\":\"hello\",\"protocol\":5,\"version\":\"" //
		    VERBMARK_VERSION "\"}");
	check_equal(protocol_hello("0a1b"),
		    "{\"type\":\"hello\",\"protocol\":5,\"nonce\":\"0a1b\",\"version\":\"" //
		    VERBMARK_VERSION "\"}");
	check_equal(
		protocol_case(&wanted, &server),
		"{\"type\":\"case\",\"address\":\"192.0.2.1\",\"device\":\"mlx5_1\","
		"\"port\":2,\"parameters\":{"
		"\"op\":\"write\",\"metric\":\"bw\",\"size\":4096,\"cq\":\"event\","
		"\"server-cq\":\"adaptive\",\"transport\":\"RC\",\"qps\":1,\"threads\":1,"
		"\"post-list\":1,\"bidirectional\":false,\"latencies\":false,\"sl\":0,"
		"\"tos\":0,\"timeout\":14,\"retries\":6,\"use-srq\":false,"
		"\"hugepages\":false,\"sge\":1,\"think_ns\":0,\"receives\":\"buffers\",\"needs\":false,\"verify\":0,\"duration_ns\":1000000000,\"warmup_ns\":2000000000}}");
	check_equal(protocol_describe(&server),
		    "{\"type\":\"describe\",\"device\":\"mlx5_1\",\"port\":2}");
	check_equal(
		protocol_done(&done),
		"{\"type\":\"done\",\"elapsed_ns\":8,\"messages\":1,\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6,"
		"\"completions\":7,\"arrived\":9}");
}

static void test_hello(void **unused)
{
	static const char newer[] =
		"{\"type\":\"hello\",\"protocol\":5,\"version\":\"9.9\",\"x\":[]}";
	struct error error = {0};
	json_t *own = protocol_hello(NULL);
	/* Only the protocol number must match, and a newer version may send more members. */
	json_t *other = message_load(newer);

	assert_int_equal(protocol_check_hello(own, &error), 0);
	assert_int_equal(protocol_check_hello(other, &error), 0);
	assert_int_equal(error.code, 0);
	json_decref(own);
	json_decref(other);
}

static void test_another_protocol(void **unused)
{
	static const struct {
		const char *message;
		const char *text;
	} rows[] = {
		{"{\"type\":\"hello\",\"protocol\":4,\"version\":\"0.1\"}",
		 "the client speaks protocol 4 (verbmark 0.1), the server speaks 5 (" //
		 VERBMARK_VERSION "): upgrade the older one"},
		{"{\"type\":\"hello\",\"protocol\":6,\"version\":\"9.9\"}",
		 "the client speaks protocol 6 (verbmark 9.9), the server speaks 5 (" //
		 VERBMARK_VERSION "): upgrade the older one"},
		{"{\"type\":\"hello\",\"protocol\":-7,\"version\":\"\\u001b[2J\"}",
		 "the client speaks protocol -7 (verbmark ?[2J), the server speaks 5 (" //
		 VERBMARK_VERSION "): upgrade the older one"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = message_load(rows[i].message);
		struct error error = {0};

		assert_int_equal(protocol_check_hello(message, &error), -EPROTONOSUPPORT);
		assert_string_equal(error.text, rows[i].text);
		json_decref(message);
	}
}

static void test_invalid_hellos(void **unused)
{
	static const char *const texts[] = {
		"{}",
		"{\"type\":\"case\",\"protocol\":5,\"version\":\"1\"}",
		"{\"type\":17,\"protocol\":5,\"version\":\"1\"}",
		"{\"type\":\"hello\"}",
		"{\"type\":\"hello\",\"protocol\":5}",
		"{\"type\":\"hello\",\"protocol\":\"5\",\"version\":\"1\"}",
		"{\"type\":\"hello\",\"protocol\":5.0,\"version\":\"1\"}",
		"{\"type\":\"hello\",\"protocol\":5,\"version\":null}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *message = message_load(texts[i]);
		struct error error = {0};

		assert_int_equal(protocol_check_hello(message, &error), -EPROTO);
		assert_contains(error.text, "unexpected greeting: this is a verbmark server");
		json_decref(message);
	}
}

/* The server reads the client's parameters, and chooses the same defaults. */
static void test_cases_over_the_wire(void **unused)
{
	static const char *const texts[] = {
		"",
		"op=write size=1g cq=event",
		"op=read metric=bw cq=adaptive server-cq=poll",
		"tx-depth=16384 rx-depth=1 cq-mod=7 timeout=31 retries=0 hugepages=1 inline=0",
		"metric=bw inline=64k duration=1500ms trials=1000",
		"iterations=1000000000000 trials=1",
		"duration=86400s",
		"metric=bw relaxed-ordering=on gid-index=1 server-gid-index=0",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct parameters wanted = asked(texts[i]);
		const struct result_end server = {
			.device = "rxe0", .port = 255, .address = "fe80::1%eth0"};
		struct protocol_case read;
		struct error error = {0};
		json_t *message;

		defaults_choose(&operations[wanted.op], &wanted);
		message = protocol_case(&wanted, &server);
		assert_int_equal(protocol_read_case(message, &read, &error), 0);
		assert_memory_equal(&read.parameters, &wanted, sizeof(wanted));
		assert_ptr_equal(read.op, &operations[wanted.op]);
		assert_string_equal(read.address, "fe80::1%eth0");
		assert_string_equal(read.device, "rxe0");
		assert_int_equal(read.port, 255);
		json_decref(message);
	}
}

#define CASE_AT(port, parameters)                                                         \
	"{\"type\":\"case\",\"address\":\"192.0.2.1\",\"device\":\"rxe0\",\"port\":" port \
	",\"parameters\":" parameters "}"
#define CASE(parameters) CASE_AT("1", parameters)

/* Parameters that are omitted get the same defaults as at the client. */
static void test_case_with_few_parameters(void **unused)
{
	json_t *message = message_load(CASE("{\"metric\":\"bw\",\"tx-depth\":40}"));
	struct protocol_case read;
	struct error error = {0};

	assert_int_equal(protocol_read_case(message, &read, &error), 0);
	assert_int_equal(read.parameters.size, 64);
	assert_int_equal(read.parameters.server_cq, CQ_POLL);
	assert_int_equal(read.parameters.tx_depth, 40);
	assert_int_equal(read.parameters.cq_mod, 10);
	assert_int_equal(read.parameters.rx_depth, 512);
	json_decref(message);
}

/* Checks the beginning of the error. */
static void check_case_fails(const char *text, int code, const char *why)
{
	json_t *message = message_load(text);
	struct error error = {0};
	struct protocol_case read;

	assert_int_equal(protocol_read_case(message, &read, &error), code);
	if (strncmp(error.text, why, strlen(why)) != 0)
		fail_msg("%s: %s", text, error.text);
	json_decref(message);
}

static void test_invalid_parameters(void **unused)
{
	static const struct {
		const char *parameters;
		const char *why;
	} rows[] = {
		{"{\"op\":\"push\"}",                   "op is not one of send, write, read"           },
		{"{\"op\":7}",                          "op is not one of send, write, read"           },
		{"{\"op\":[\"send\"]}",                 "op is not one of send, write, read"           },
		{"{\"op\":\"all\"}",                    "op is not one of send, write, read"           },
		{"{\"metric\":\"rate\"}",               "metric is not one of lat, bw, load"           },
		{"{\"cq\":\"busy\"}",                   "cq is not one of poll, event, adaptive"       },
		{"{\"server-cq\":\"\"}",                "server-cq is not one of poll, event, adaptive"},
		{"{\"size\":0}",                        "size must be between 1 and 1g"                },
		{"{\"size\":-1}",                       "size is not a number"                         },
		{"{\"size\":1073741825}",               "size must be between 1 and 1g"                },
		{"{\"size\":9223372036854775807}",      "size must be between 1 and 1g"                },
		{"{\"size\":-9223372036854775808}",     "size is not a number"                         },
		{"{\"size\":\"18446744073709551615\"}", "size must be between 1 and 1g"                },
		{"{\"size\":64.0}",                     "size is not a number"                         },
		{"{\"size\":[64]}",                     "size is not a number"                         },
		{"{\"size\":\"1:64\"}",                 "size is not a size (e.g. 64 or 4k)"           },
		{"{\"tx-depth\":16385}",                "tx-depth must be between 1 and 16384"         },
		{"{\"rx-depth\":0}",                    "rx-depth must be between 1 and 16384"         },
		{"{\"cq-mod\":0}",                      "cq-mod must be between 1 and 16384"           },
		{"{\"timeout\":32}",                    "timeout must be between 1 and 31"             },
		{"{\"retries\":8}",                     "retries must be between 0 and 7"              },
		{"{\"hugepages\":1}",                   "hugepages must be true or false"              },
		{"{\"duration_ns\":1}",                 "duration must be between 1ms and 86400s"      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char message[512];
		char why[256];

		snprintf(message, sizeof(message), CASE("%s"), rows[i].parameters);
		snprintf(why, sizeof(why), "this server cannot run the case: %s", rows[i].why);
		check_case_fails(message, -EINVAL, why);
	}
}

/* Combinations that no plan has are rejected: the device could not run them. */
static void test_unsupported_combinations(void **unused)
{
	static const char *const rows[][2] = {
		{"{\"op\":\"write\",\"metric\":\"bw\",\"transport\":\"UD\",\"bidirectional\":true}",
		 "UD supports only sends"										   },
		{"{\"op\":\"fetch-add\",\"transport\":\"UC\"}",                                      "UC supports only send"},
		{"{\"metric\":\"bw\",\"post-list\":2,\"latencies\":true}",
		 "--latencies applies only to bw without --post-list"                                                       },
		{"{\"metric\":\"bw\",\"tx-depth\":4,\"post-list\":8}",
		 "--post-list exceeds --tx-depth"									   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char message[512];

		snprintf(message, sizeof(message), CASE("%s"), rows[i][0]);
		check_case_fails(message, -EOPNOTSUPP, rows[i][1]);
	}
}

/* A newer client may have parameters that this server does not know. */
static void test_unknown_parameters(void **unused)
{
	check_case_fails(CASE("{\"colours\":16}"), -EOPNOTSUPP,
			 "this server cannot run the case: unknown parameter 'colours'");
	check_case_fails(CASE("{\"server_cq\":\"poll\"}"), -EOPNOTSUPP,
			 "this server cannot run the case: unknown parameter 'server_cq'");
}

static void test_malformed_cases(void **unused)
{
	static const char malformed[] = "malformed case: ";
	static const char not_object[] = "malformed case: its parameters are not an object";

	check_case_fails(CASE("[]"), -EPROTO, not_object);
	check_case_fails(CASE("null"), -EPROTO, not_object);
	check_case_fails(CASE("\"send\""), -EPROTO, not_object);
	check_case_fails("{\"type\":\"case\",\"address\":\"\"}", -EPROTO, malformed);
	check_case_fails("{\"type\":\"case\",\"parameters\":{}}", -EPROTO, malformed);
	check_case_fails("{\"type\":\"case\",\"address\":7,\"parameters\":{}}", -EPROTO, malformed);
	check_case_fails("{\"type\":\"case\",\"address\":null,\"parameters\":{}}", -EPROTO,
			 malformed);
	check_case_fails(
		"{\"type\":\"case\",\"op\":\"send\",\"metric\":\"lat\",\"size\":64,\"address\":\"\"}",
		-EPROTO, malformed);
	check_case_fails("{\"type\":\"case\"}", -EPROTO, malformed);
	check_case_fails(CASE_AT("0", "{}"), -EPROTO, "malformed case: invalid device port 0");
	check_case_fails(CASE_AT("256", "{}"), -EPROTO, "malformed case: invalid device port 256");
}

/* Names become part of a path, and have less than 64 bytes, like the kernel's. */
static void test_names_of_devices(void **unused)
{
	static const struct {
		const char *device;
		bool is_name;
	} rows[] = {
		{"mlx5_0",							   true },
		{"a23456789012345678901234567890123456789012345678901234567890123",  true },
		{"a234567890123456789012345678901234567890123456789012345678901234", false},
		{"../../../dev/ptmx",						false},
		{"mlx5_0/..",							false},
		{"/dev/ptmx",							false},
		{"..",							       false},
		{".",								false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = message_load(CASE("{}"));
		struct error error = {0};
		struct protocol_describe asked;
		struct protocol_case read;

		json_object_set_new(message, "device", json_string(rows[i].device));
		assert_int_equal(protocol_read_case(message, &read, &error),
				 rows[i].is_name ? 0 : -EPROTO);
		assert_string_equal(error.text,
				    rows[i].is_name ? "" : "malformed case: invalid device name");
		assert_int_equal(protocol_read_describe(message, &asked, &(struct error){0}),
				 rows[i].is_name ? 0 : -EPROTO);
		json_decref(message);
	}
}

/* A description may be of the host alone, but a case needs a device. */
static void test_missing_device_name(void **unused)
{
	json_t *message = message_load(CASE("{}"));
	struct protocol_describe asked;
	struct protocol_case read;

	json_object_set_new(message, "device", json_string(""));
	assert_int_equal(protocol_read_describe(message, &asked, &(struct error){0}), 0);
	assert_int_equal(protocol_read_case(message, &read, &(struct error){0}), -EPROTO);
	json_decref(message);
}

static void test_expected_messages(void **unused)
{
	static const struct {
		const char *message;
		int code;
		const char *text;
	} rows[] = {
		{"{\"type\":\"ready\"}",							     0,          ""                          },
		{"{\"type\":\"ready\",\"reason\":\"none\"}",                                         0,          ""                          },
		{"{\"type\":\"failed\",\"reason\":\"no memory\"}",                                   -EREMOTEIO, "n02: no memory"            },
		{"{\"type\":\"refused\",\"reason\":\"too many\"}",                                   -ESHUTDOWN, "n02: too many"             },
		{"{\"type\":\"refused\",\"reason\":\"no\",\"protocol\":1,\"version\":\"0.0.9\"}",
		 -ESHUTDOWN,
		 "n02 speaks protocol 1 (verbmark 0.0.9), this host speaks 5 (" VERBMARK_VERSION
		 "): upgrade n02"													    },
		{"{\"type\":\"refused\",\"reason\":\"no\",\"protocol\":6,\"version\":\"9\\u0007\"}",
		 -ESHUTDOWN,
		 "n02 speaks protocol 6 (verbmark 9?), this host speaks 5 (" VERBMARK_VERSION
		 "): upgrade this host"												      },
		{"{\"type\":\"refused\",\"reason\":\"no\",\"protocol\":5,\"version\":\"0.0.9\"}",
		 -ESHUTDOWN,										     "n02: no"                   },
		{"{\"type\":\"refused\",\"reason\":\"no\",\"protocol\":\"1\",\"version\":1}",
		 -ESHUTDOWN,										     "n02: no"                   },
		{"{\"type\":\"failed\"}",							    -EREMOTEIO, "n02: no reason given"      },
		{"{\"type\":\"failed\",\"reason\":7}",                                               -EREMOTEIO, "n02: no reason given"      },
		{"{\"type\":\"listening\"}",							 -EPROTO,
		 "n02 sent an unexpected message instead of 'ready'"									 },
		{"{\"type\":\"Ready\"}",							     -EPROTO,    "message instead of 'ready'"},
		{"{\"type\":[]}",								    -EPROTO,    "message instead of 'ready'"},
		{"{}",									       -EPROTO,    "message instead of 'ready'"},
		{"{\"type\":\"failed\",\"reason\":\"\\u001b[31mred\\n\\u009b\\u00e9\\u0007\"}",
		 -EREMOTEIO,										     "n02: ?[31mred?????"        },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = message_load(rows[i].message);
		struct error error = {0};

		assert_int_equal(protocol_expect(message, "ready", "n02", &error), rows[i].code);
		assert_contains(error.text, rows[i].text);
		for (const char *at = error.text; *at; at++)
			assert_true(*at >= ' ' && *at <= '~');
		json_decref(message);
	}
}

/* A reason may be as long as a frame, but the error is bounded. */
static void test_long_reasons(void **unused)
{
	char reason[5000];
	struct error error = {0};
	json_t *message;

	memset(reason, 'r', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	message = protocol_reason("failed", reason);
	assert_int_equal(protocol_expect(message, "ready", "n02", &error), -EREMOTEIO);
	assert_contains(error.text, "n02: rrrr");
	assert_true(strlen(error.text) < sizeof(error.text));
	json_decref(message);
}

/* Only operations with a reply have half round trips. */
static void test_kinds(void **unused)
{
	static const struct {
		const char *op;
		enum cq cq;
		enum cq server_cq;
		enum result_kind kind;
	} rows[] = {
		{"op=send",  CQ_POLL,     CQ_POLL,     RESULT_HALF      },
		{"op=send",  CQ_EVENT,    CQ_POLL,     RESULT_HALF      },
		{"op=send",  CQ_ADAPTIVE, CQ_ADAPTIVE, RESULT_HALF      },
		{"op=write", CQ_POLL,     CQ_POLL,     RESULT_HALF      },
		{"op=write", CQ_EVENT,    CQ_POLL,     RESULT_COMPLETION},
		{"op=write", CQ_POLL,     CQ_EVENT,    RESULT_COMPLETION},
		{"op=write", CQ_ADAPTIVE, CQ_ADAPTIVE, RESULT_COMPLETION},
		{"op=read",  CQ_POLL,     CQ_POLL,     RESULT_FULL      },
		{"op=read",  CQ_EVENT,    CQ_ADAPTIVE, RESULT_FULL      },
		{"op=alloc", CQ_POLL,     CQ_EVENT,    RESULT_FULL      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct parameters parameters = asked(rows[i].op);
		const struct operation *op = &operations[parameters.op];

		parameters.cq = rows[i].cq;
		parameters.server_cq = rows[i].server_cq;
		assert_int_equal(operation_kind(op, &parameters), rows[i].kind);
		assert_int_equal(operation_is_answered(op, rows[i].kind),
				 rows[i].kind == RESULT_HALF || op == &operations[OPERATION_ALLOC]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_another_protocol),
		cmocka_unit_test(test_invalid_hellos),
		cmocka_unit_test(test_cases_over_the_wire),
		cmocka_unit_test(test_case_with_few_parameters),
		cmocka_unit_test(test_invalid_parameters),
		cmocka_unit_test(test_unsupported_combinations),
		cmocka_unit_test(test_unknown_parameters),
		cmocka_unit_test(test_malformed_cases),
		cmocka_unit_test(test_missing_device_name),
		cmocka_unit_test(test_expected_messages),
		cmocka_unit_test(test_long_reasons),
		cmocka_unit_test(test_names_of_devices),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
