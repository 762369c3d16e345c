/* SPDX-License-Identifier: MIT */
/* The finding that threads lost the CPU on which they polled. */
#include <string.h>

#include "bench/host/advice/threads.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

struct row {
	const char *kind; /* of the device */
	const char *cq;   /* of that side */
	uint64_t messages;
	uint64_t switches;
	uint64_t cpu_ns;
	const char *found; /* part of the finding; NULL: none */
};

static const struct row rows[] = {
	{"soft",     "poll",     1000, 990,  1000000,
	 "was preempted 99 times per 100 messages, e.g. in send/lat/64"                           },
	{"hardware", "poll",     1000, 50,   1000000,
	 "was preempted 5 times per 100 messages, e.g. in send/lat/64"                            },
	{NULL,       "poll",     1000, 1010, 1000000,
	 "was preempted 101 times per 100 messages, e.g. in send/lat/64"                          },
	{"hardware", "poll",     1000, 49,   1000000,    NULL                                     },
	{"hardware", "poll",     0,    7,    1000000,    NULL                                     },
	{"soft",     "event",    1000, 990,  1000000,    NULL                                     },
	{"soft",     "adaptive", 1000, 990,  1000000,    NULL                                     },
 /* Normal on any machine. */
	{"hardware", "poll",     10,   9,    1000000,    NULL                                     },
	{"hardware", "poll",     100,  50,   1500000000, NULL                                     },
	{"hardware", "poll",     100,  50,   900000000,  "was preempted 50 times per 100 messages"},
	{"rxe",      "poll",     1000, 990,  1000000,    NULL                                     },
};

static void check(const struct row *row, bool is_server)
{
	struct result_case line = {.id = "send/lat/64", .cq = "event", .server_cq = "event"};
	struct result result = {.cases = &line, .n_cases = 1};
	struct result_end *end = is_server ? &result.server : &result.client;
	struct result_cost *cost = is_server ? &line.server : &line.client;
	json_t *findings = json_array();
	const json_t *found;
	const char *what;

	*(is_server ? &line.server_cq : &line.cq) = row->cq;
	end->kind = row->kind;
	strcpy(end->host, "lab1");
	cost->messages = row->messages;
	cost->involuntary_switches = row->switches;
	cost->user_ns = row->cpu_ns / 4;
	cost->system_ns = row->cpu_ns - cost->user_ns;
	advice_threads(&result, findings);
	assert_int_equal(json_array_size(findings), row->found ? 1 : 0);
	if (row->found) {
		found = json_array_get(findings, 0);
		what = json_string_value(json_object_get(found, "what"));
		assert_non_null(strstr(what, row->found));
		assert_non_null(strstr(what, is_server ? "server" : "client"));
		assert_string_equal(json_string_value(json_object_get(found, "code")),
				    "shared-cpu");
		assert_string_equal(json_string_value(json_object_get(found, "host")), "lab1");
	}
	json_decref(findings);
}

static void test_lost_cpu(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		check(&rows[i], false);
		check(&rows[i], true);
	}
}

/* The case with the most switches per message is named. */
static void test_worst_case_is_named(void **unused)
{
	struct result_case lines[] = {
		{.id = "a", .cq = "poll", .client = {.messages = 100, .involuntary_switches = 20}},
		{.id = "b", .cq = "poll", .client = {.messages = 100, .involuntary_switches = 60}},
		{.id = "c", .cq = "poll", .client = {.messages = 100, .involuntary_switches = 40}},
	};
	const struct result result = {.cases = lines, .n_cases = ARRAY_LENGTH(lines)};
	json_t *findings = json_array();

	advice_threads(&result, findings);
	assert_int_equal(json_array_size(findings), 1);
	assert_non_null(
		strstr(json_string_value(json_object_get(json_array_get(findings, 0), "what")),
		       "60 times per 100 messages, e.g. in b"));
	json_decref(findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_cpu),
		cmocka_unit_test(test_worst_case_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
