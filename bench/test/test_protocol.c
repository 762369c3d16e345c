/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/protocol.h"
#include "core/test/check.h"

/* A message as the other end writes it. */
static json_t *load(const char *text)
{
	json_t *message = json_loads(text, 0, NULL);

	assert_non_null(message);
	return message;
}

static void check_equal(json_t *message, const char *text)
{
	json_t *wanted = load(text);

	assert_true(json_equal(message, wanted));
	json_decref(wanted);
	json_decref(message);
}

static void test_on_the_wire(void **unused)
{
	const struct plan_case wanted = {
		.op = &op_write, .size = 4096, .cq = RDMA_EVENT, .server_cq = RDMA_ADAPTIVE};
	const struct result_cost cost = {1, 2, 3, 4, 5, 6, 7};

	check_equal(protocol_plain("stop"), "{\"type\":\"stop\"}");
	check_equal(protocol_reason("failed", "why"), "{\"type\":\"failed\",\"reason\":\"why\"}");
	check_equal(protocol_hello(), "{\"type\":\"hello\",\"protocol\":1,\"version\":\"" //
		    VERBMARK_VERSION "\"}");
	check_equal(protocol_case(&wanted, "192.0.2.1"),
		    "{\"type\":\"case\",\"op\":\"write\",\"metric\":\"lat\",\"size\":4096,"
		    "\"cq\":\"event\",\"server_cq\":\"adaptive\",\"address\":\"192.0.2.1\"}");
	check_equal(protocol_done(&cost),
		    "{\"type\":\"done\",\"messages\":1,\"user_ns\":2,\"system_ns\":3,"
		    "\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6,"
		    "\"completions\":7}");
}

static void test_hello(void **unused)
{
	struct error error = {0};
	json_t *own = protocol_hello();
	/* Only the protocol's number must match, and who knows more may say more. */
	json_t *newer = load("{\"type\":\"hello\",\"protocol\":1,\"version\":\"9.9\",\"x\":[]}");

	assert_int_equal(protocol_check_hello(own, &error), 0);
	assert_int_equal(protocol_check_hello(newer, &error), 0);
	assert_int_equal(error.code, 0);
	json_decref(own);
	json_decref(newer);
}

static void test_another_protocol(void **unused)
{
	json_t *message = load("{\"type\":\"hello\",\"protocol\":2,\"version\":\"9.9\"}");
	struct error error = {0};

	assert_int_equal(protocol_check_hello(message, &error), -EPROTONOSUPPORT);
	assert_string_equal(error.text, "the client speaks protocol 2 (verbmark 9.9), the server "
					"speaks 1 (" VERBMARK_VERSION "): upgrade the older one");
	json_decref(message);
}

static void test_no_hellos(void **unused)
{
	static const char *const texts[] = {
		"{}",
		"{\"type\":\"case\",\"protocol\":1,\"version\":\"1\"}",
		"{\"type\":17,\"protocol\":1,\"version\":\"1\"}",
		"{\"type\":\"hello\"}",
		"{\"type\":\"hello\",\"protocol\":1}",
		"{\"type\":\"hello\",\"protocol\":\"1\",\"version\":\"1\"}",
		"{\"type\":\"hello\",\"protocol\":1.0,\"version\":\"1\"}",
		"{\"type\":\"hello\",\"protocol\":1,\"version\":null}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *message = load(texts[i]);
		struct error error = {0};

		assert_int_equal(protocol_check_hello(message, &error), -EPROTO);
		assert_contains(error.text, "this is verbmark, and that was no greeting of it");
		json_decref(message);
	}
}

static void test_case_round_trip(void **unused)
{
	static const uint64_t sizes[] = {1, 64, 4096, 1ULL << 30};

	for (size_t i = 0; i < n_ops * ARRAY_LENGTH(sizes) * 9; i++) {
		const struct plan_case wanted = {
			.op = ops[i / 36],
			.size = sizes[i / 9 % 4],
			.cq = (enum rdma_wait_mode)(i / 3 % 3),
			.server_cq = (enum rdma_wait_mode)(i % 3),
		};
		json_t *message = protocol_case(&wanted, "fe80::1%eth0");
		const char *address = NULL;
		struct error error = {0};
		struct plan_case read;

		assert_int_equal(protocol_read_case(message, &read, &address, &error), 0);
		assert_ptr_equal(read.op, wanted.op);
		assert_int_equal(read.size, wanted.size);
		assert_int_equal(read.cq, wanted.cq);
		assert_int_equal(read.server_cq, wanted.server_cq);
		assert_string_equal(address, "fe80::1%eth0");
		json_decref(message);
	}
}

#define CASE(op, metric, size, cq, server_cq)                                                 \
	"{\"type\":\"case\",\"op\":" op ",\"metric\":" metric ",\"size\":" size ",\"cq\":" cq \
	",\"server_cq\":" server_cq ",\"address\":\"\"}"

static void test_cases_that_cannot_be(void **unused)
{
	static const struct {
		const char *message;
		int code;
		const char *text;
	} rows[] = {
		{CASE("\"push\"", "\"lat\"",    "64",                "\"poll\"", "\"poll\""), -EOPNOTSUPP,
		 "this server cannot do push/lat"},
		{CASE("\"send\"",    "\"bw\"",     "64",                   "\"poll\"", "\"poll\""), -EOPNOTSUPP,
		 "this server cannot do send/bw"},
		{CASE("\"send\"", "\"lat\"",  "0",             "\"poll\"", "\"poll\""), -EINVAL,
		 "a size of 0 is not from 1 to 1073741824"},
		{CASE("\"send\"",    "\"lat\"",     "-1",                    "\"poll\"", "\"poll\""), -EINVAL,
		 "a size of -1 is not from 1 to 1073741824"},
		{CASE("\"send\"", "\"lat\"",    "1073741825",                   "\"poll\"", "\"poll\""), -EINVAL,
		 "a size of 1073741825 is not from 1 to 1073741824"},
		{CASE("\"send\"",    "\"lat\"",         "64",          "\"busy\"", "\"poll\""), -EOPNOTSUPP,
		 "this server knows no CQ mode busy or poll"},
		{CASE("\"send\"", "\"lat\"", "64",            "\"poll\"", "\"\""), -EOPNOTSUPP,
		 "this server knows no CQ mode poll or "},
		{CASE("7",    "\"lat\"",         "64",         "\"poll\"", "\"poll\""), -EPROTO, "a malformed case"},
		{CASE("\"send\"", "null",    "64",        "\"poll\"", "\"poll\""), -EPROTO,
		 "a malformed case"},
		{CASE("\"send\"",    "\"lat\"",         "\"64\"", "\"poll\"", "\"poll\""), -EPROTO,
		 "a malformed case"},
		{CASE("\"send\"", "\"lat\"", "64.0",        "\"poll\"", "\"poll\""), -EPROTO,
		 "a malformed case"},
		{CASE("\"send\"",    "\"lat\"",     "64",        "[]", "\"poll\""), -EPROTO, "a malformed case"},
		{"{\"type\":\"case\"}", -EPROTO,    "a malformed case"                  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = load(rows[i].message);
		const char *address = NULL;
		struct error error = {0};
		struct plan_case read;

		assert_int_equal(protocol_read_case(message, &read, &address, &error),
				 rows[i].code);
		assert_contains(error.text, rows[i].text);
		json_decref(message);
	}
}

static void test_done_round_trip(void **unused)
{
	const struct result_cost cost = {.messages = 1,
					 .user_ns = 1ULL << 62,
					 .system_ns = 3,
					 .voluntary_switches = 4,
					 .involuntary_switches = 5,
					 .cq_events = 6,
					 .completions = 7};
	json_t *message = protocol_done(&cost);
	struct result_cost read = {0};
	struct error error = {0};

	assert_int_equal(protocol_read_done(message, &read, &error), 0);
	assert_memory_equal(&read, &cost, sizeof(cost));
	json_decref(message);
}

static void test_no_dones(void **unused)
{
	static const char *const texts[] = {
		"{\"type\":\"done\"}",
		"{\"type\":\"done\",\"messages\":1,\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6}",
		"{\"type\":\"done\",\"messages\":\"1\",\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6,\"completions\":7}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct result_cost read = {.messages = 99};
		struct error error = {0};
		json_t *message = load(texts[i]);

		assert_int_equal(protocol_read_done(message, &read, &error), -EPROTO);
		assert_contains(error.text, "a malformed report of the server");
		assert_int_equal(read.messages, 99);
		json_decref(message);
	}
}

static void test_what_was_expected(void **unused)
{
	static const struct {
		const char *message;
		int code;
		const char *text;
	} rows[] = {
		{"{\"type\":\"ready\"}",							0,          ""                            },
		{"{\"type\":\"ready\",\"reason\":\"none\"}",                                    0,          ""                            },
		{"{\"type\":\"failed\",\"reason\":\"no memory\"}",                              -EREMOTEIO,
		 "the server: no memory"												  },
		{"{\"type\":\"refused\",\"reason\":\"too many\"}",                              -ESHUTDOWN,
		 "the server: too many"												   },
		{"{\"type\":\"failed\"}",						       -EREMOTEIO, "the server: without a reason"},
		{"{\"type\":\"failed\",\"reason\":7}",                                          -EREMOTEIO, "the server: without a reason"},
		{"{\"type\":\"listening\"}",						    -EPROTO,
		 "the other end said something else than 'ready'"									 },
		{"{\"type\":[]}",							       -EPROTO,    "something else than 'ready'" },
		{"{}",									  -EPROTO,    "something else than 'ready'" },
		{"{\"type\":\"failed\",\"reason\":\"\\u001b[31mred\\n\\u009b\\u00e9\\u0007\"}",
		 -EREMOTEIO,										"the server: ?[31mred?????"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = load(rows[i].message);
		struct error error = {0};

		assert_int_equal(protocol_expect(message, "ready", &error), rows[i].code);
		assert_contains(error.text, rows[i].text);
		for (const char *at = error.text; *at; at++)
			assert_true(*at >= ' ' && *at <= '~');
		json_decref(message);
	}
}

/* A reason may be as long as a frame. */
static void test_long_reasons(void **unused)
{
	char reason[5000];
	struct error error = {0};
	json_t *message;

	memset(reason, 'r', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	message = protocol_reason("failed", reason);
	assert_int_equal(protocol_expect(message, "ready", &error), -EREMOTEIO);
	assert_contains(error.text, "the server: rrrr");
	assert_true(strlen(error.text) < sizeof(error.text));
	json_decref(message);
}

/* Only an answered operation has half round trips. */
static void test_kinds(void **unused)
{
	static const struct {
		const char *op;
		enum rdma_wait_mode cq;
		enum rdma_wait_mode server_cq;
		enum result_kind kind;
	} rows[] = {
		{"send",  RDMA_POLL,     RDMA_POLL,     RESULT_HALF      },
		{"send",  RDMA_EVENT,    RDMA_POLL,     RESULT_HALF      },
		{"send",  RDMA_ADAPTIVE, RDMA_ADAPTIVE, RESULT_HALF      },
		{"write", RDMA_POLL,     RDMA_POLL,     RESULT_HALF      },
		{"write", RDMA_EVENT,    RDMA_POLL,     RESULT_COMPLETION},
		{"write", RDMA_POLL,     RDMA_EVENT,    RESULT_COMPLETION},
		{"write", RDMA_ADAPTIVE, RDMA_ADAPTIVE, RESULT_COMPLETION},
		{"read",  RDMA_POLL,     RDMA_POLL,     RESULT_FULL      },
		{"read",  RDMA_EVENT,    RDMA_ADAPTIVE, RESULT_FULL      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct op *op = op_find(rows[i].op);

		assert_non_null(op);
		assert_int_equal(op->kind(rows[i].cq, rows[i].server_cq), rows[i].kind);
		assert_int_equal(op_is_answered(rows[i].kind), rows[i].kind == RESULT_HALF);
	}
	assert_null(op_find("reed"));
	assert_null(op_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_the_wire),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_another_protocol),
		cmocka_unit_test(test_no_hellos),
		cmocka_unit_test(test_case_round_trip),
		cmocka_unit_test(test_cases_that_cannot_be),
		cmocka_unit_test(test_done_round_trip),
		cmocka_unit_test(test_no_dones),
		cmocka_unit_test(test_what_was_expected),
		cmocka_unit_test(test_long_reasons),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
