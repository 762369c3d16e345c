/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bench/plan.h"
#include "bench/test/words.h"

static int open_plan(struct plan *plan, const char *line, struct error *error)
{
	/* A plan keeps texts of its command line. */
	static struct words words;

	words_init(&words, line);
	*error = (struct error){0};
	return plan_open(plan, words.argc, words.argv, error);
}

static void check_case(const struct plan *plan, size_t index, const char *id)
{
	char found[96];

	assert_true(index < plan->n_cases);
	plan_case_id(&plan->cases[index], found, sizeof(found));
	assert_string_equal(found, id);
}

static void test_defaults(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan, "a.example", &error), 0);
	assert_string_equal(plan.host, "a.example");
	assert_null(plan.device);
	assert_null(plan.server_device);
	assert_null(plan.json);
	assert_int_equal(plan.port, 7471);
	assert_int_equal(plan.wait_ms, 0);
	assert_int_equal(plan.n_cases, 1);
	check_case(&plan, 0, "send/lat/64/poll");
	assert_int_equal(plan.cases[0].size, 64);
	assert_int_equal(plan.cases[0].messages, 5000);
	assert_int_equal(plan.cases[0].cq, RDMA_POLL);
	assert_int_equal(plan.cases[0].server_cq, RDMA_POLL);
	plan_close(&plan);
}

static void test_options(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan,
				   "-p1|-d|mlx5_0|--server-device=mlx5_1|--wait|3s|--json|-|-n|9|"
				   "--metric|lat|a.example",
				   &error),
			 0);
	assert_int_equal(plan.port, 1);
	assert_string_equal(plan.device, "mlx5_0");
	assert_string_equal(plan.server_device, "mlx5_1");
	assert_int_equal(plan.wait_ms, 3000);
	assert_string_equal(plan.json, "-");
	assert_int_equal(plan.cases[0].messages, 9);
	plan_close(&plan);
}

/* Operations, sizes, modes, server's modes: the last list runs fastest. */
static void test_product(void **unused)
{
	static const char *const ids[] = {
		"send/lat/64/poll/server-event",
		"send/lat/64/poll/server-adaptive",
		"send/lat/64/event",
		"send/lat/64/event/server-adaptive",
		"send/lat/4k/poll/server-event",
		"send/lat/4k/poll/server-adaptive",
		"send/lat/4k/event",
		"send/lat/4k/event/server-adaptive",
		"read/lat/64/poll/server-event",
		"read/lat/64/poll/server-adaptive",
		"read/lat/64/event",
		"read/lat/64/event/server-adaptive",
		"read/lat/4k/poll/server-event",
		"read/lat/4k/poll/server-adaptive",
		"read/lat/4k/event",
		"read/lat/4k/event/server-adaptive",
	};
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan,
				   "--op|send,read|-s|64,4k|--cq|poll,event|"
				   "--server-cq|event,adaptive|h",
				   &error),
			 0);
	assert_int_equal(plan.n_cases, ARRAY_LENGTH(ids));
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
		check_case(&plan, i, ids[i]);
	plan_close(&plan);
}

/* Without a mode of its own the server waits as the client does. */
static void test_server_follows(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan, "--cq|adaptive,poll,event|h", &error), 0);
	assert_int_equal(plan.n_cases, 3);
	check_case(&plan, 0, "send/lat/64/adaptive");
	check_case(&plan, 1, "send/lat/64/poll");
	check_case(&plan, 2, "send/lat/64/event");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(plan.cases[i].server_cq, plan.cases[i].cq);
	plan_close(&plan);
}

static void test_sizes_in_ids(void **unused)
{
	static const struct {
		uint64_t size;
		const char *id;
	} rows[] = {
		{1,          "write/lat/1/event"    },
                {1000,       "write/lat/1000/event" },
		{1023,       "write/lat/1023/event" },
                {1024,       "write/lat/1k/event"   },
		{1025,       "write/lat/1025/event" },
                {1536,       "write/lat/1536/event" },
		{65536,      "write/lat/64k/event"  },
                {1048576,    "write/lat/1m/event"   },
		{1049600,    "write/lat/1025k/event"},
                {1073741824, "write/lat/1g/event"   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct plan_case wanted = {.op = &op_write,
						 .size = rows[i].size,
						 .cq = RDMA_EVENT,
						 .server_cq = RDMA_EVENT};
		char id[96];

		plan_case_id(&wanted, id, sizeof(id));
		assert_string_equal(id, rows[i].id);
	}
}

/* An id that has no room is cut, not written beyond. */
static void test_ids_are_bounded(void **unused)
{
	const struct plan_case wanted = {
		.op = &op_send, .size = 64, .cq = RDMA_POLL, .server_cq = RDMA_EVENT};
	static const char whole[] = "send/lat/64/poll/server-event";

	for (size_t size = 1; size <= sizeof(whole); size++) {
		char *id = test_malloc(size);

		plan_case_id(&wanted, id, size);
		assert_int_equal(strlen(id), size - 1);
		assert_memory_equal(id, whole, size - 1);
		test_free(id);
	}
}

/* The last of an option that is given twice is meant. */
static void test_given_twice(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(
		open_plan(&plan, "--op|send,write|-s|1,2,3|h|--op|read|-s|8|-n|5|-n|6", &error), 0);
	assert_int_equal(plan.n_cases, 1);
	check_case(&plan, 0, "read/lat/8/poll");
	assert_int_equal(plan.cases[0].messages, 6);
	plan_close(&plan);
}

static void test_limits(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan, "-s|1,1g|-n|1|h", &error), 0);
	assert_int_equal(plan.cases[0].size, 1);
	assert_int_equal(plan.cases[1].size, 1073741824);
	plan_close(&plan);
	assert_int_equal(open_plan(&plan, "-n|1000000000000|h", &error), 0);
	assert_true(plan.cases[0].messages == 1000000000000ULL);
	plan_close(&plan);
}

static void check_refusal(const char *line, const char *text)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan, line, &error), -EINVAL);
	assert_string_equal(error.text, text);
	plan_close(&plan);
}

static void test_refusals(void **unused)
{
	static const char *const rows[][2] = {
		{"",									"HOST is missing: the machine where 'verbmark serve' runs"},
		{"-n|5",								    "HOST is missing: the machine where 'verbmark serve' runs"},
		{"-s|4q|h",								 "--size: '4q' is not a size, such as 64 or 4k"            },
		{"-s|64,4q|h",							      "--size: '64,4q' is not a size, such as 64 or 4k"         },
		{"-s|64,|h",								"--size: '64,' is not a size, such as 64 or 4k"           },
		{"-s|,64|h",								"--size: ',64' is not a size, such as 64 or 4k"           },
		{"-s|0|h",								  "--size: '0' is not from 1 to 1g"                         },
		{"-s|1073741825|h",							 "--size: '1073741825' is not from 1 to 1g"                },
		{"-s|2g|h",								 "--size: '2g' is not from 1 to 1g"                        },
		{"-n|0|h",								  "--iterations: '0' is not a number from 1 to 10^12"       },
		{"-n|1000000000001|h",
		 "--iterations: '1000000000001' is not a number from 1 to 10^12"                                                                      },
		{"-n|4k|h",								 "--iterations: '4k' is not a number from 1 to 10^12"      },
		{"--op|push|h",							     "--op: 'push' is none of send, write, read"               },
		{"--op|SEND|h",							     "--op: 'SEND' is none of send, write, read"               },
		{"--op||h",								 "--op: '' is none of send, write, read"                   },
		{"--cq|busy|h",							     "--cq: 'busy' is none of poll, event, adaptive"           },
		{"--server-cq|poll,,event|h",
		 "--server-cq: 'poll,,event' is none of poll, event, adaptive"                                                                        },
		{"--metric|bw|h",							   "--metric: 'bw' is none of lat"                           },
		{"-p|70000|h",							      "--port: '70000' is not a port: 0 to 65535"               },
		{"--wait|soon|h",							   "--wait: 'soon' is not a time, such as 10s or 500ms"      },
		{"--json||h",							       "--json: '' is empty"                                     },
		{"h|g",								     "'g' is one word too many: HOST is 'h'"                   },
		{"--op|0123456789012345678901234567890123456789012345678901234567890123|h",
		 "--op: '0123456789012345678901234567890123456789012345678901234567890123' "
		 "has a member that is too long"												      },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_refusal(rows[i][0], rows[i][1]);
}

/* A list takes 64 members. */
static void test_long_lists(void **unused)
{
	struct error error;
	struct plan plan;
	char line[1024] = "h|-s|";
	size_t end = strlen(line) + 63 * strlen("8,");

	for (size_t at = strlen(line); at < end; at += 2) {
		line[at] = '8';
		line[at + 1] = ',';
	}
	snprintf(line + end, sizeof(line) - end, "9");
	assert_int_equal(open_plan(&plan, line, &error), 0);
	assert_int_equal(plan.n_cases, 64);
	assert_int_equal(plan.cases[63].size, 9);
	plan_close(&plan);
	snprintf(line + end, sizeof(line) - end, "9,10");
	assert_int_equal(open_plan(&plan, line, &error), -EINVAL);
	assert_contains(error.text, "has too many members");
	plan_close(&plan);
}

static void test_help(void **unused)
{
	struct error error;
	struct plan plan;

	assert_int_equal(open_plan(&plan, "--help", &error), 1);
	assert_null(plan.cases);
	plan_close(&plan);
}

static void test_modes_by_name(void **unused)
{
	static const char *const names[] = {"poll", "event", "adaptive"};
	enum rdma_wait_mode mode;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		assert_true(plan_find_mode(names[i], &mode));
		/* The values of cq_notify in the specification. */
		assert_int_equal(mode, i);
		assert_string_equal(plan_mode_name(mode), names[i]);
	}
	assert_false(plan_find_mode("polling", &mode));
	assert_false(plan_find_mode("", &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),     cmocka_unit_test(test_options),
		cmocka_unit_test(test_product),      cmocka_unit_test(test_server_follows),
		cmocka_unit_test(test_sizes_in_ids), cmocka_unit_test(test_ids_are_bounded),
		cmocka_unit_test(test_given_twice),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_refusals),     cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_help),         cmocka_unit_test(test_modes_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
