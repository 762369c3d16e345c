/* SPDX-License-Identifier: MIT */
#include "reports/table/markdown.h"
#include "reports/test/lib/qp_sweeps.h"

static struct result sample;
static char *text;

static int open_sample(void **unused)
{
	sample_init(&sample);
	return 0;
}

static int close_sample(void **unused)
{
	result_finish(&sample);
	free(text);
	text = NULL;
	return 0;
}

static size_t make(size_t room)
{
	size_t length = 0;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &length);
	assert_non_null(out);
	markdown_add(out, NULL, &sample, "a_b|c.json", room);
	assert_int_equal(fclose(out), 0);
	return length;
}

/* The same figures as in the table for terminals, see test_table.c. */
static void test_figures(void **unused)
{
	make(MARKDOWN_MOST);
	assert_contains(
		text,
		"### n01 mlx5\\_0/1 -\\> n02 mlx5\\_1/2  Ethernet 2.5 Gb/s MTU 1024 RC\n\n"
		"a\\_b\\|c.json: interrupted, 2001-02-03T04&#58;05&#58;06Z, verbmark 1.2.3\n\n| LATENCY us |");
	assert_contains(text, "\n| :-- | --: | :-- | :-- | --: |");
	assert_contains(text, "\n| send | 64 | poll | half | 1.24 | - |");
	assert_contains(text, "\n| write/t16 | 1000 | event/poll | 0.339 | 0.0992..0.579 | 13.6 |");
	assert_contains(text, "\n\n**Failed, lost or not run**\n\n"
			      "- write/lat/4k/event/server-poll: failed: no completion for 5 s\n");
	assert_contains(text, "- read/lat/1m/adaptive: interrupted\n");
	assert_null(strstr(text, "omitted"));
	assert_null(strstr(text, "Knees"));
	assert_null(strstr(text, "Fairness"));
}

/* Text from documents is escaped and stays on one line. */
static void test_escaped(void **unused)
{
	snprintf(sample.cases[2].error, sizeof(sample.cases[2].error),
		 "<img> & `x` [a](b) *c* | d\n# e\\");
	json_decref(sample.warnings);
	sample.warnings =
		sample_json("[{\"host\": \"n_1\", \"what\": \"a|b\\nc\", \"spoils\": true,"
			    " \"mend\": \"do `it`\"}]");
	make(MARKDOWN_MOST);
	assert_contains(text,
			": failed: &#60;img\\> &#38; \\`x\\` \\[a\\](b) \\*c\\* \\| d \\# e\\\\\n");
	assert_contains(text, "\n**Findings**\n\n- n\\_1: a\\|b c; fix: do \\`it\\`\n");
	json_decref(sample.warnings);
	sample.warnings =
		sample_json("[{\"host\": \"12. n\", \"what\": \"- $a$ @b :c: d://e Www.f.g\"}]");
	make(MARKDOWN_MOST);
	assert_contains(text, "\n- 12\\. n: - &#36;a&#36; &#64;b &#58;c: d&#58;//e Www&#46;f.g\n");
}

static void test_knees(void **unused)
{
	static const struct qp_sweep_row rows[] = {
		{1,    40000},
                {64,   60000},
                {256,  50000},
                {1024, 30000}
        };

	result_finish(&sample);
	qp_sweeps_init(&sample, rows, ARRAY_LENGTH(rows));
	sample.client.kind = "soft";
	make(MARKDOWN_MOST);
	assert_contains(text, "\n\n**Knees**\n\n- knee: write/bw/64/poll/q256: 5 Mmsg/s;");
	assert_contains(text, "\n\n**SOFTWARE DEVICE");
}

/* Lines that do not fit are counted; the others are the start of the full output. */
static void test_room(void **unused)
{
	size_t all = make(MARKDOWN_MOST);
	char *whole = strdup(text);

	assert_non_null(whole);
	for (size_t room = 0; room < all; room += 7) {
		size_t length = make(room);
		char *last = strstr(text, " lines omitted here");

		assert_non_null(last);
		while (last > text && last[-1] != '\n')
			last--;
		assert_true(atoi(last) > 0);
		assert_true(length <= (room > 128 ? room : 128));
		/* After an empty line; everything before is the start of the full output. */
		assert_true(last > text);
		assert_int_equal(strncmp(text, whole, (size_t)(last - text) - 1), 0);
	}
	free(whole);
	make(all + 128);
	assert_null(strstr(text, "omitted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_figures, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_escaped, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_knees, open_sample, close_sample),
		cmocka_unit_test_setup_teardown(test_room, open_sample, close_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
