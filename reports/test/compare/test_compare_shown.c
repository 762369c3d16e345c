/* SPDX-License-Identifier: MIT */
#include "reports/compare/csv.h"
#include "reports/compare/json.h"
#include "reports/compare/markdown.h"
#include "reports/compare/sentences.h"
#include "reports/compare/table.h"
#include "reports/test/lib/sample.h"

#define GAPS 200

static struct comparison comparison;
static struct result_case cases[GAPS];
static char *shown;
static size_t length;

static struct result_case make_case(int number)
{
	struct result_case line = {.op = "send",
				   .metric = "lat",
				   .cq = "poll",
				   .server_cq = "poll",
				   .transport = "RC",
				   .size = 64};

	snprintf(line.id, sizeof(line.id), "send/lat/64/poll/q%d", number);
	return line;
}

/* Opens a comparison with a run on each side and many missing cases, each with its own reason. */
static int open_comparison(void **unused)
{
	struct error error = {0};

	comparison = (struct comparison){.n_gaps = GAPS};
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		struct result result;

		sample_init(&result);
		assert_int_equal(compare_add(&comparison, side, &result, "a\xff,b.json", &error),
				 0);
	}
	comparison.gaps = calloc(GAPS, sizeof(*comparison.gaps));
	assert_non_null(comparison.gaps);
	for (int i = 0; i < GAPS; i++) {
		cases[i] = make_case(i);
		comparison.gaps[i].line = &cases[i];
		snprintf(comparison.gaps[i].why, sizeof(comparison.gaps[i].why),
			 "failed, \"%d\" times <b>\xc3", i);
	}
	return 0;
}

static int close_comparison(void **unused)
{
	free(shown);
	shown = NULL;
	compare_close(&comparison);
	return 0;
}

static FILE *open_memory(void)
{
	FILE *out = open_memstream(&shown, &length);

	assert_non_null(out);
	return out;
}

/* Omitted lines are counted; the sum and the forced difference are never omitted. */
static void test_markdown_room(void **unused)
{
	FILE *out = open_memory();

	snprintf(comparison.difference, sizeof(comparison.difference), "the server: *x*");
	compare_markdown(out, NULL, &comparison, 8000);
	fclose(out);
	assert_in_range(length, 4000, 8000);
	assert_contains(shown, "- send/lat/64/poll/q7: failed, \"7\" times &#60;b\\>");
	assert_null(strstr(shown, "poll/q199"));
	assert_contains(shown, "**FORCED: the setups differ, and so may the figures: the "
			       "server: \\*x\\***");
	assert_contains(shown,
			"\ninvalid: 0 figures of 0 cases: nothing; 200 cases not compared\n");
	assert_contains(shown, "lines omitted here; `verbmark compare` shows all of them\n");
}

static void test_csv_quotes(void **unused)
{
	FILE *out = open_memory();

	compare_csv(out, &comparison);
	fclose(out);
	assert_contains(shown,
			"\nsend/lat/64/poll/q0,send,lat,64,poll,poll,RC,,,,,,,,,,,,,,,\"failed, "
			"\"\"0\"\" times <b>\xc3\",,\n");
}

/* Invalid UTF-8 does not get into the document. */
static void test_json_bytes(void **unused)
{
	json_t *made;
	json_t *run;

	snprintf(comparison.difference, sizeof(comparison.difference), "half a letter \xc3");
	made = compare_make(&comparison, "1.2.3");
	assert_non_null(made);
	assert_string_equal(json_string_value(json_object_get(made, "schema")),
			    "verbmark.comparison/1");
	run = json_array_get(json_object_get(json_object_get(made, "new"), "runs"), 0);
	assert_string_equal(json_string_value(json_object_get(run, "file")), "a?,b.json");
	assert_int_equal(json_array_size(json_object_get(made, "missing")), GAPS);
	assert_contains(json_string_value(json_object_get(made, "forced")), "half a letter ?");
	json_decref(made);
}

/* A comparison without runs can be printed. */
static void test_empty(void **unused)
{
	struct comparison empty = {0};
	FILE *out = open_memory();
	json_t *made = compare_make(&empty, "1.2.3");

	assert_non_null(made);
	json_decref(made);
	compare_table(&(struct terminal){.out = out}, NULL, &empty);
	fclose(out);
	assert_contains(shown, "0 figures of 0 cases");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_comparison, close_comparison)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_markdown_room),
		TEST(test_csv_quotes),
		TEST(test_json_bytes),
		TEST(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
