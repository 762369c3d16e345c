/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <infiniband/verbs.h>

#include "bench/client/failure_hint.h"
#include "core/test/lib/check.h"

#define SILENCE "post: transport retry counter exceeded: no acknowledgment"

/* One case and how it ended. */
struct ended {
	const char *op;
	const char *transport;
	uint64_t size;
	enum result_status status;
};

static void blame(const struct ended *ended, size_t count, const char *why, struct error *fault)
{
	struct result_case cases[4] = {0};
	struct result result = {.cases = cases, .n_cases = count};

	for (size_t i = 0; i < count; i++) {
		cases[i].op = ended[i].op;
		cases[i].transport = ended[i].transport;
		cases[i].size = ended[i].size;
		cases[i].status = ended[i].status;
	}
	*fault = (struct error){0};
	error_set(fault, -EIO, "%s", why);
	failure_hint_size(&result, count - 1, 4096, fault);
}

static void test_larger_messages_are_lost(void **unused)
{
	static const char send[] = "send";
	static const char rc[] = "rc";
	const struct ended ended[] = {
		{send, rc, 64,   RESULT_COMPLETE},
		{send, rc, 1024, RESULT_COMPLETE},
		{send, rc, 2048, RESULT_FAILED  },
		{send, rc, 8192, RESULT_FAILED  },
	};
	struct error fault;

	(void)unused;
	blame(ended, 4, SILENCE, &fault);
	assert_string_equal(fault.text,
			    SILENCE "; sizes up to 1024 passed: does the switch carry MTU 4096?");
	/* Other failures do not indicate a faulty path. */
	blame(ended, 4, "post: remote access error", &fault);
	assert_string_equal(fault.text, "post: remote access error");
}

static void test_no_hint(void **unused)
{
	static const char send[] = "send";
	static const char read[] = "read";
	static const char rc[] = "rc";
	static const char uc[] = "uc";
	const struct ended rows[][2] = {
		{{send, rc, 64, RESULT_FAILED},     {send, rc, 8192, RESULT_FAILED}},
		{{send, rc, 4096, RESULT_COMPLETE}, {send, rc, 8192, RESULT_FAILED}},
		{{send, rc, 1024, RESULT_COMPLETE}, {send, rc, 1024, RESULT_FAILED}},
		{{send, rc, 1024, RESULT_COMPLETE}, {read, rc, 8192, RESULT_FAILED}},
		{{send, uc, 1024, RESULT_COMPLETE}, {send, rc, 8192, RESULT_FAILED}},
		{{send, rc, 0, RESULT_COMPLETE},    {send, rc, 8192, RESULT_FAILED}},
	};
	struct error fault;

	(void)unused;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		blame(rows[i], 2, SILENCE, &fault);
		assert_string_equal(fault.text, SILENCE);
	}
}

/* A case with another MTU neither confirms nor refutes the suspicion. */
static void test_another_mtu(void **unused)
{
	struct result_case cases[3] = {
		{.op = "send", .transport = "RC", .size = 1024, .status = RESULT_COMPLETE},
		{.op = "send", .transport = "RC", .size = 8192, .status = RESULT_COMPLETE},
		{.op = "send", .transport = "RC", .size = 8192, .status = RESULT_FAILED  },
	};
	const struct result result = {.cases = cases, .n_cases = 3};
	struct error fault = {0};

	cases[0].parameters = json_pack("{s:i}", "mtu", 4096);
	cases[1].parameters = json_pack("{s:i}", "mtu", 1024);
	cases[2].parameters = json_pack("{s:i}", "mtu", 4096);
	error_set(&fault, -EIO, "%s", SILENCE);
	failure_hint_size(&result, 2, 4096, &fault);
	assert_string_equal(fault.text,
			    SILENCE "; sizes up to 1024 passed: does the switch carry MTU 4096?");
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		json_decref(cases[i].parameters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_larger_messages_are_lost),
		cmocka_unit_test(test_no_hint),
		cmocka_unit_test(test_another_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
