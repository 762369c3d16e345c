/* SPDX-License-Identifier: MIT */
#include "reports/finding/coverage.h"
#include "reports/test/lib/sample.h"

static struct result_case cases[16];
static struct result result;

static struct result_case *add_case(const char *op, const char *metric, const char *transport,
				    const char *cq)
{
	struct result_case *line = &cases[result.n_cases++];

	*line = (struct result_case){
		.op = op,
		.metric = metric,
		.cq = cq,
		.transport = transport,
		.status = RESULT_COMPLETE,
	};
	result.cases = cases;
	return line;
}

static int forget(void **unused)
{
	result = (struct result){0};
	return 0;
}

static void check_text(const char *wanted)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	coverage_print(out, &result);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void test_small_results(void **unused)
{
	check_text("");
	add_case("send", "lat", NULL, "poll");
	add_case("send", "lat", "UC", "poll")->status = RESULT_SKIPPED;
	check_text("");
	cases[1].op = "write";
	cases[1].transport = NULL;
	check_text("");
	/* Complete cases need no table. */
	cases[1].transport = "UC";
	cases[1].status = RESULT_COMPLETE;
	check_text("");
	cases[1].status = RESULT_FAILED;
	check_text("COVERAGE, lat   RC UC\n"
		   "send            p\n"
		   "write              !\n"
		   "p: poll, !: failed\n");
}

static void test_marks(void **unused)
{
	add_case("send", "lat", NULL, "poll");
	add_case("send", "lat", NULL, "event");
	add_case("send", "lat", "XRC", "poll");
	add_case("send", "lat", "XRC", "event")->status = RESULT_FAILED;
	add_case("send", "bw", "UD", "poll")->status = RESULT_INTERRUPTED;
	add_case("send", "bw", "UD", "event")->status = RESULT_SKIPPED;
	add_case("compare-swap", "bw", "UD", "poll")->status = RESULT_SKIPPED;
	add_case("compare-swap", "bw", "UD", "event")->status = RESULT_SKIPPED;
	/* Two sizes. */
	add_case("read", "lat", NULL, "poll");
	add_case("read", "lat", NULL, "poll")->status = RESULT_SKIPPED;
	add_case("read", "bw", NULL, "event");
	add_case("read", "bw", NULL, "event")->status = RESULT_FAILED;
	check_text("COVERAGE, lat   RC  XRC UD\n"
		   "send            pe  p!\n"
		   "read            p\n"
		   "COVERAGE, bw    RC  XRC UD\n"
		   "send                    ?-\n"
		   "compare-swap            -\n"
		   "read             !\n"
		   "p: poll, e: event, -: skipped, !: failed, ?: interrupted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_small_results, forget),
		cmocka_unit_test_teardown(test_marks, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
