/* SPDX-License-Identifier: MIT */
#include "reports/table/table.h"
#include "reports/test/lib/sample.h"

static struct result sample;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	return 0;
}

/* Shows the table of a single case without the heading. */
static void show_line(char text[static 1024], size_t number)
{
	FILE *out = fmemopen(text, 1024, "w");
	struct table table;
	long head;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out}, NULL, &sample);
	head = ftell(out);
	table_line(&table, &sample.cases[number]);
	fclose(out);
	memmove(text, text + head, strlen(text + head) + 1);
}

/* The name has all parameters that are not at their default, except for size and modes. */
static void test_names(void **unused)
{
	static const struct {
		const char *id;
		const char *cq;
		const char *server_cq;
		const char *words[3];
	} rows[] = {
		{"send/lat/64/poll",                         "poll", "poll",  {"send", "64", "poll"}      },
		{"send/lat/64/poll/t16",                     "poll", "poll",  {"send/t16", "64", "poll"}  },
		{"send/lat/64/poll/server-event",            "poll", "event", {"send", "64", "poll/event"}},
		{"send/lat/64/poll/server-event/t16/I0",
		 "poll",					     "event",
		 {"send/t16/I0", "64", "poll/event"}						      },
		{"send/lat/64/adaptive/server-event",
		 "adaptive",					 "event",
		 {"send", "64", "adaptive/event"}							 },
		{"send/lat/64/poll/t16/I0/connect-qp/m1024",
		 "poll",					     "poll",
		 {"send/t16/I0/connect-qp/m1024", "64", "poll"}                                           },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct result_case *line = &sample.cases[SAMPLE_LATENCY];
		char text[1024] = "";
		char *row;

		snprintf(line->id, sizeof(line->id), "%s", rows[i].id);
		line->cq = rows[i].cq;
		line->server_cq = rows[i].server_cq;
		show_line(text, SAMPLE_LATENCY);
		row = strstr(text, "\nsend");
		assert_non_null(row);
		for (size_t j = 0; j < ARRAY_LENGTH(rows[i].words); j++)
			assert_string_equal(strtok(j ? NULL : row, " \n"), rows[i].words[j]);
	}
}

/* The heading, and not the rows, has what all cases have in common. */
static void test_common(void **unused)
{
	static const size_t others[] = {SAMPLE_FAILED, SAMPLE_NOT_RUN};
	struct result_case *line = &sample.cases[SAMPLE_LATENCY];
	char text[1024] = "";

	snprintf(line->id, sizeof(line->id), "send/lat/64/poll/t16/I0");
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		struct result_case *other = &sample.cases[others[i]];

		snprintf(other->id, sizeof(other->id), "write/lat/64/poll/t16/I0");
		other->size = 64;
		other->cq = other->server_cq = "poll";
		other->kind = RESULT_HALF;
	}
	show_line(text, SAMPLE_LATENCY);
	assert_contains(text, "\nLATENCY us: size 64, poll, half a round trip, t16/I0\n");
	assert_contains(text, "\nsend  ");
}

/* In 80 columns the tail has no room; the foot says so. */
static void test_narrow(void **unused)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table table;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out, .width = 80}, NULL, &sample);
	table_line(&table, &sample.cases[SAMPLE_LATENCY]);
	table_line(&table, &sample.cases[SAMPLE_BANDWIDTH]);
	table_foot(&table);
	fclose(out);
	assert_null(strstr(text, " max "));
	assert_contains(text, "\nnot shown in 80 columns: p99.9, max\n");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}

static void test_colors(void **unused)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table table;

	assert_non_null(out);
	table_open(&table, &(struct terminal){.out = out, .is_colored = true}, NULL, &sample);
	table_line(&table, &sample.cases[SAMPLE_LATENCY]);
	table_line(&table, &sample.cases[SAMPLE_FAILED]);
	fclose(out);
	assert_contains(text, "\033[1;36mLATENCY us\033[m");
	assert_contains(text, " \033[32mhalf\033[m ");
	assert_contains(text, " \033[1m1.24\033[m ");
	assert_contains(text,
			"\n\033[31mwrite/lat/4k/event/server-poll: failed\033[m\n  no completion");
}

/* Warnings about several hosts share a line; what happened during the run comes first. */
static void test_warnings(void **unused)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table table;

	assert_non_null(out);
	sample.warnings = sample_json(
		"[{\"code\": \"governor\", \"spoils\": true, \"host\": \"n01\", \"what\": \"slow\", \"mend\": \"go\"},"
		"{\"code\": \"governor\", \"spoils\": true, \"host\": \"n02\", \"what\": \"slow\", \"mend\": \"go\"},"
		"{\"code\": \"smt\", \"spoils\": false, \"host\": \"n02\", \"what\": \"a note\", \"mend\": \"\"},"
		"{\"code\": \"lost-packets\", \"spoils\": true, \"host\": \"n02\", \"what\": \"lost\", \"mend\": \"\"}]");
	table_open(&table, &(struct terminal){.out = out}, NULL, &sample);
	table_foot(&table);
	fclose(out);
	assert_contains(text, "\nwarning: n02: lost\nwarning: n01, n02: slow; fix: go\n\n");
	assert_null(strstr(text, "a note"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_common, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_narrow, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_colors, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_warnings, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
