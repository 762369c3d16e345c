/* SPDX-License-Identifier: MIT */
/* The finding that a bandwidth lost most of its messages. */
#include <string.h>

#include "bench/host/advice/loss.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

struct row {
	const char *metric;
	uint64_t sent;
	uint64_t lost;
	const char *found; /* part of the finding; NULL: none */
};

static const struct row rows[] = {
	{"bw",  1000,       950,            "95.0 % of the messages were lost, e.g. in send/bw/64"},
	{"bw",  1049600,    1048405,        "99.8 % of the messages were lost"                    },
	{"bw",  1000,       500,            "50.0 % of the messages were lost"                    },
	{"bw",  UINT64_MAX, UINT64_MAX - 1, "99.9 % of the messages were lost"                    },
	{"bw",  1000,       499,            NULL						  },
	{"bw",  1000,       0,              NULL						  },
 /* Losses are impossible or unknown. */
	{"bw",  0,          0,              NULL						  },
	{"lat", 1000,       950,            NULL						  },
};

static const char *text(const json_t *finding, const char *key)
{
	return json_string_value(json_object_get(finding, key));
}

static void check(const struct row *row)
{
	struct result_case line = {.id = "send/bw/64/poll/UD",
				   .metric = row->metric,
				   .transport = "UD",
				   .sent = row->sent,
				   .lost = row->lost};
	const struct result result = {.cases = &line, .n_cases = 1, .server = {.host = "lab2"}};
	json_t *findings = json_array();

	advice_loss(&result, findings);
	assert_int_equal(json_array_size(findings), row->found ? 1 : 0);
	if (row->found) {
		const json_t *found = json_array_get(findings, 0);

		assert_non_null(strstr(text(found, "what"), row->found));
		assert_non_null(strstr(text(found, "why"), "UD drops"));
		assert_non_null(strstr(text(found, "mend"), "--rx-depth"));
		assert_string_equal(text(found, "code"), "lost-messages");
		assert_string_equal(text(found, "host"), "lab2");
		assert_true(json_is_true(json_object_get(found, "spoils")));
	}
	json_decref(findings);
}

static void test_most_messages_are_lost(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(&rows[i]);
}

/* RC has no multicast, so it is no advice. A single receiver cannot become fewer. */
static void test_multicast(void **unused)
{
	struct receiver receivers[2] = {
		{.arrived = 1, .lost = 99},
                {.arrived = 1, .lost = 99}
        };
	struct result_case line = {.id = "a",
				   .metric = "bw",
				   .transport = "UD",
				   .sent = 100,
				   .lost = 99,
				   .receivers = {.receiver = receivers}};
	const struct result result = {.cases = &line, .n_cases = 1};

	for (line.receivers.count = 1; line.receivers.count <= 2; line.receivers.count++) {
		json_t *findings = json_array();
		const char *mend;

		advice_loss(&result, findings);
		mend = text(json_array_get(findings, 0), "mend");
		assert_null(strstr(mend, "RC"));
		assert_int_equal(strstr(mend, "fewer receivers (-q)") != NULL,
				 line.receivers.count > 1);
		json_decref(findings);
	}
}

/* The case with the largest share of losses is named, whatever the numbers. */
static void test_worst_case_is_named(void **unused)
{
	struct result_case lines[] = {
		{.id = "a", .metric = "bw", .transport = "UD", .sent = 100000, .lost = 60000},
		{.id = "b", .metric = "bw", .transport = "UC", .sent = 100,    .lost = 90   },
		{.id = "c", .metric = "bw", .transport = "UD", .sent = 1000,   .lost = 700  },
	};
	const struct result result = {.cases = lines, .n_cases = ARRAY_LENGTH(lines)};
	json_t *findings = json_array();

	advice_loss(&result, findings);
	assert_int_equal(json_array_size(findings), 1);
	assert_non_null(strstr(text(json_array_get(findings, 0), "what"),
			       "90.0 % of the messages were lost, e.g. in b:"));
	assert_non_null(strstr(text(json_array_get(findings, 0), "why"), "UC drops"));
	json_decref(findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_messages_are_lost),
		cmocka_unit_test(test_multicast),
		cmocka_unit_test(test_worst_case_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
