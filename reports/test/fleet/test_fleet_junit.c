/* SPDX-License-Identifier: MIT */
#include "reports/fleet/junit.h"
#include "reports/result/banner.h"
#include "reports/test/lib/checked_fleet.h"

static char *made;
static size_t length;

/* Returns the text, which the caller frees. */
static char *shown(void)
{
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	assert_int_equal(fleet_junit(out, &fleet), 0);
	fclose(out);
	return made;
}

static void test_blames(void **unused)
{
	char *text = shown();

	assert_string_equal(
		text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n"
		"<testsuite id=\"0\" package=\"verbmark\" name=\"fleet\" tests=\"8\" failures=\"3\" "
		"errors=\"2\" skipped=\"0\" time=\"125\" timestamp=\"2001-02-03T04:05:06\" "
		"hostname=\"n001\">\n"
		"<properties>\n"
		"<property name=\"verbmark\" value=\"1.2.3\"/>\n"
		"</properties>\n"
		"<testcase name=\"n001 mlx5_0/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"</testcase>\n"
		"<testcase name=\"n001 mlx5_1/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"</testcase>\n"
		"<testcase name=\"n003 mlx5_0/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"</testcase>\n"
		"<testcase name=\"n003 mlx5_1/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<failure message=\"cannot connect: timed out (1 of 1 pairs)\" type=\"rail\"/>\n"
		"</testcase>\n"
		"<testcase name=\"n004 mlx5_0/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<error message=\"no answer for 10 s\" type=\"lost\"/>\n"
		"</testcase>\n"
		"<testcase name=\"n004 mlx5_1/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<error message=\"no answer for 10 s\" type=\"lost\"/>\n"
		"</testcase>\n"
		"<testcase name=\"n017 mlx5_0/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<failure message=\"41.25 Gb/s, median 97.1 Gb/s (2 of 2 pairs)\" type=\"node\"/>\n"
		"</testcase>\n"
		"<testcase name=\"n017 mlx5_1/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<failure message=\"41.25 Gb/s, median 97.1 Gb/s (2 of 2 pairs)\" type=\"node\"/>\n"
		"</testcase>\n"
		"<system-out></system-out>\n"
		"<system-err/>\n"
		"</testsuite>\n"
		"</testsuites>\n");
	free(text);
}

/* Links are tests of their own, and a rail without a measurement is skipped. */
static void test_link(void **unused)
{
	char *text;

	fleet.nodes[N001].rails[0].is_soft = true;
	fleet.blames[1] = (struct fleet_blame){
		.culprit = FLEET_CULPRIT_LINK, .node = N001, .peer = N003, .reason = "a < b"};
	fleet.n_blames = 2;
	fleet.blames[0].culprit = FLEET_CULPRIT_RAIL;
	fleet.blames[0].rail = 0;
	text = shown();
	assert_contains(text, "tests=\"9\" failures=\"2\" errors=\"2\" skipped=\"1\"");
	assert_contains(
		text, "<testcase name=\"n001 mlx5_0/1 - n003 mlx5_0/1\" "
		      "classname=\"fleet.link\" time=\"0.000000\">\n<failure message=\"a &lt; b\" "
		      "type=\"link\"/>\n");
	assert_contains(
		text,
		"<testcase name=\"n017 mlx5_1/1\" classname=\"fleet.rail\" time=\"0.000000\">\n"
		"<skipped message=\"not measured\"/>\n");
	assert_contains(text, "<system-out>" BANNER_SOFT "</system-out>");
	free(text);
}

/* A check that measured nothing is an error. */
static void test_incomplete(void **unused)
{
	char *text = shown();

	assert_contains(text, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\"");
	assert_contains(text, "<error message=\"the check is incomplete\" type=\"incomplete\"/>");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blames, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_link, checked_open, checked_close),
		cmocka_unit_test(test_incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
