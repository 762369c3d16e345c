/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"
#include "reports/table/memory_matrix.h"
#include "reports/table/table.h"
#include "reports/test/lib/sample.h"

/* Made-up cases: the median latency, or messages of 1250 bytes per second. */
static const struct row {
	const char *id;
	const char *client; /* NULL: the default */
	const char *server;
	enum result_kind kind;
	uint64_t ns;
	double rate;
	enum result_status status;
} rows[] = {
	{"send/lat/64/poll",					     NULL,                 NULL,  RESULT_HALF,       1100, 0,   RESULT_COMPLETE},
	{"send/lat/64/poll/server-memory-nic",                           NULL,                 "nic", RESULT_HALF,       1200, 0,   RESULT_COMPLETE},
	{"send/lat/64/poll/memory-file:/a/memory-nic",                   "file:/a/memory-nic", NULL,  RESULT_HALF,
	 1300,														 0,   RESULT_COMPLETE},
	{"send/lat/64/poll/memory-file:/a/memory-nic/server-memory-nic", "file:/a/memory-nic",
	 "nic",										       RESULT_HALF,       0,    0,   RESULT_FAILED  },
	{"write/lat/64/poll",					    NULL,                 NULL,  RESULT_HALF,       1400, 0,   RESULT_COMPLETE},
	{"write/lat/64/poll/memory-nic",                                 "nic",                NULL,  RESULT_COMPLETION, 1500, 0,   RESULT_COMPLETE},
	{"write/bw/1250/poll/t16",				       NULL,                 NULL,  RESULT_COMPLETION, 0,    2e6, RESULT_COMPLETE},
	{"write/bw/1250/poll/t16/memory-nic",                            "nic",                NULL,  RESULT_COMPLETION, 0,    1e6,
	 RESULT_COMPLETE															   },
	{"register/lat/64/poll",					 NULL,                 NULL,  RESULT_CALL,       1600, 0,   RESULT_COMPLETE},
	{"register/lat/64/poll/memory-nic",                              "nic",                NULL,  RESULT_CALL,       1700, 0,   RESULT_COMPLETE},
};

static struct result made;

static void add_latency(struct result_case *line, uint64_t ns)
{
	struct result_trial trial = {.messages = 20};
	struct hist *hist = malloc(sizeof(*hist));
	struct error error = {0};

	assert_non_null(hist);
	sample_fill(hist, ns, false);
	statistic_fill(trial.latency, hist);
	assert_int_equal(result_add_trial(line, &trial, hist, NULL, &error), 0);
	free(hist);
}

static void add_rate(struct result_case *line, double rate)
{
	struct result_trial trial = {.messages = 1,
				     .duration_ns = 10 * SAMPLE_MS,
				     .messages_per_s = rate,
				     .bytes_per_s = 1250 * rate};
	struct rate_windows *windows = malloc(sizeof(*windows));
	struct error error = {0};

	assert_non_null(windows);
	rate_windows_init(windows, 10 * SAMPLE_MS);
	rate_windows_add(windows, 0, (uint64_t)(rate / 100));
	rate_windows_finish(windows, 10 * SAMPLE_MS);
	assert_int_equal(result_add_trial(line, &trial, NULL, windows, &error), 0);
	free(windows);
}

static void fill_case(struct result_case *line, const struct row *row)
{
	snprintf(line->id, sizeof(line->id), "%s", row->id);
	line->op = line->metric = line->cq = line->server_cq = line->transport = "";
	line->parameters =
		json_pack("{s:s*, s:s*}", "memory", row->client, "server-memory", row->server);
	line->kind = row->kind;
	line->status = row->status;
	line->size = 1250;
	if (row->ns)
		add_latency(line, row->ns);
	if (row->rate > 0)
		add_rate(line, row->rate);
}

static int open_cases(void **unused)
{
	sample_init_empty(&made, ARRAY_LENGTH(rows));
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		fill_case(&made.cases[i], &rows[i]);
	return 0;
}

/* Six matrices, each of the first two rows. */
static int open_many(void **unused)
{
	sample_init_empty(&made, 12);
	for (size_t i = 0; i < made.n_cases; i++) {
		struct result_case *line = &made.cases[i];

		fill_case(line, &rows[i % 2]);
		snprintf(line->id, sizeof(line->id), "send/lat/%zu/poll%s", i / 2,
			 i % 2 ? "/server-memory-nic" : "");
	}
	return 0;
}

#define N_KINDS 28

/* Two matrices with more kinds of one end than a table has columns. */
static int open_more_kinds(void **unused)
{
	static char names[N_KINDS][16];

	sample_init_empty(&made, (size_t)4 * N_KINDS);
	for (size_t i = 0; i < N_KINDS; i++)
		snprintf(names[i], sizeof(names[i]), "file:/%02zu", i);
	for (size_t i = 0; i < made.n_cases; i++) {
		bool is_wide = i < made.n_cases / 2;
		const char *many = names[i % N_KINDS];
		const char *few = names[i / N_KINDS % 2];
		char id[CASE_ID];
		struct row row = {
			id, is_wide ? few : many, is_wide ? many : few, RESULT_HALF, 1000 + i,
			0,  RESULT_COMPLETE};

		snprintf(id, sizeof(id), "send/lat/%d/poll/memory-%s/server-memory-%s",
			 is_wide ? 64 : 128, row.client, row.server);
		fill_case(&made.cases[i], &row);
	}
	return 0;
}

static int close_cases(void **unused)
{
	result_finish(&made);
	return 0;
}

/* Returns the text or the page; the caller frees it. */
static char *show(bool is_page)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct table table = {.terminal = {.out = out}, .result = &made};

	assert_non_null(out);
	if (is_page)
		page_add(out, &(struct charts){&made, NULL}, "made");
	else
		table_foot(&table);
	fclose(out);
	return text;
}

static void test_text(void **unused)
{
	static const char wanted[] =
		"\n"
		"MEMORY, client by server: send/lat/64/poll, p50 (half) in us\n"
		"client                host     nic\n"
		"host                  1.10    1.20\n"
		"file:/a/memory-nic    1.30       -\n"
		"\n"
		"MEMORY, client by server: write/bw/1250/poll/t16, Gb/s\n"
		"client    host\n"
		"host      20.0\n"
		"nic       10.0\n";
	char *text = show(false);

	assert_contains(text, wanted);
	assert_null(strstr(text, "server: write/lat"));
	assert_null(strstr(text, "server: register"));
	free(text);
}

static void test_page_has_the_same(void **unused)
{
	char *text = show(true);

	assert_contains(text, "<summary>Memory of the client (rows) and the server (columns)</sum");
	assert_contains(text, "<p>send/lat/64/poll, p50 (half) in us</p>");
	assert_contains(text, "<th scope=\"row\" align=\"left\">nic</th><td>10.0</td>");
	free(text);
}

static void test_many(void **unused)
{
	char *text = show(false);

	assert_contains(text, "MEMORY, client by server: send/lat/3/poll");
	assert_null(strstr(text, "MEMORY, client by server: send/lat/4/poll"));
	assert_contains(text, "\nMEMORY: 2 more in the page of");
	free(text);
	text = show(true);
	assert_contains(text, "<p>send/lat/5/poll, p50 (half) in us</p>");
	free(text);
}

/* All kinds of the client have a row; a note counts the server's that have no column. */
static void test_more_kinds_than_columns(void **unused)
{
	for (unsigned int i = 0; i < 2; i++) {
		char *text = show(i);

		assert_contains(text, "3 more kinds of the server have no column");
		assert_contains(text, i ? ">file:/27</th>" : "\nfile:/27 ");
		free(text);
	}
}

/* A matrix of which most is missing says little. */
static void test_gaps(void **unused)
{
	json_t *groups;

	made.cases[1].status = RESULT_SKIPPED;
	made.cases[2].status = RESULT_SKIPPED;
	groups = memory_matrix_groups(&made, NULL);
	assert_int_equal(json_object_size(groups), 1);
	json_decref(groups);
}

/* With "needs" on the software device, tables show no times. */
static void test_needs_of_the_software_device(void **unused)
{
	for (unsigned int i = 0; i < 2; i++) {
		char *text;

		made.client.kind = "soft";
		json_object_set_new(made.cases[0].parameters, "needs", json_true());
		text = show(i);
		assert_null(strstr(text, "p50 (half)"));
		free(text);
	}
}

static void test_one_kind(void **unused)
{
	made.n_cases = 1;
	assert_null(memory_matrix_groups(&made, NULL));
	made.n_cases = ARRAY_LENGTH(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, open_cases, close_cases),
		cmocka_unit_test_setup_teardown(test_page_has_the_same, open_cases, close_cases),
		cmocka_unit_test_setup_teardown(test_many, open_many, close_cases),
		cmocka_unit_test_setup_teardown(test_more_kinds_than_columns, open_more_kinds,
						close_cases),
		cmocka_unit_test_setup_teardown(test_gaps, open_cases, close_cases),
		cmocka_unit_test_setup_teardown(test_needs_of_the_software_device, open_cases,
						close_cases),
		cmocka_unit_test_setup_teardown(test_one_kind, open_cases, close_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
