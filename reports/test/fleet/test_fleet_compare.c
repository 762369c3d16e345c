/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reports/fleet/compare.h"
#include "reports/fleet/compare_show.h"
#include "reports/test/lib/fleets.h"

static struct fleet base;
static struct fleet now;
static struct fleet_comparison comparison;
static struct error error;
static char *text;

static const struct fleet_plan healthy = {
	.n_nodes = 8,
	.n_rails = 2,
	.slow = FLEETS_NONE,
	.dead = FLEETS_NONE,
	.link = {FLEETS_NONE, FLEETS_NONE},
	.seed = 1,
};

static int close_all(void **unused)
{
	fleet_comparison_finish(&comparison);
	fleet_finish(&base);
	fleet_finish(&now);
	free(text);
	text = NULL;
	error = (struct error){0};
	return 0;
}

/* NEW has other noise. */
static void make(const struct fleet_plan *from, const struct fleet_plan *to)
{
	struct fleet_plan other = *to;

	other.seed = 2;
	fleets_make(&base, from);
	fleets_make(&now, &other);
}

static int compare(void)
{
	return fleet_compare(&comparison, &base, &now, &error);
}

static FILE *open_text(void)
{
	static size_t length;
	FILE *out;

	free(text);
	out = open_memstream(&text, &length);
	assert_non_null(out);
	return out;
}

static void show_table(void)
{
	FILE *out = open_text();

	fleet_comparison_table(&(struct terminal){.out = out}, NULL, &comparison);
	assert_int_equal(fclose(out), 0);
}

/* 28 pairs on two rails: the first case has two directions, the second has one. */
#define FIGURES (28 * 2 * 3)

static void test_no_change(void **unused)
{
	make(&healthy, &healthy);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.n_changes, FIGURES);
	assert_int_equal(comparison.n_verdicts[VERDICT_SAME], FIGURES);
	assert_true(fleet_comparison_has_passed(&comparison));
	show_table();
	assert_contains(text, "168 figures compared: 168 same\n");
	assert_null(strstr(text, "BASE"));
}

static void test_slow_link(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.link[0] = 1;
	plan.link[1] = 4;
	make(&healthy, &plan);
	assert_int_equal(compare(), 0);
	/* Both directions of both rails. */
	assert_int_equal(comparison.n_verdicts[VERDICT_WORSE], 4);
	assert_int_equal(comparison.n_verdicts[VERDICT_SAME], FIGURES - 4);
	assert_false(fleet_comparison_has_passed(&comparison));
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(comparison.changes[i].verdict, VERDICT_WORSE);
		assert_int_equal(
			comparison.changes[i].figure.from + comparison.changes[i].figure.to, 5);
		assert_true(comparison.changes[i].z < -3.5);
	}
	show_table();
	assert_contains(text, "worse   n002 n005 write/bw/1m/poll/bidir, rail ");
}

static void test_fixed_link(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.link[0] = 1;
	plan.link[1] = 4;
	make(&plan, &healthy);
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.n_verdicts[VERDICT_BETTER], 4);
	assert_true(fleet_comparison_has_passed(&comparison));
}

/* A latency that grew is worse; the link that failed is first, with its reason. */
static void test_slow_node_and_dead_rail(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.slow = 2;
	plan.dead = 6;
	make(&healthy, &plan);
	assert_int_equal(compare(), 0);
	/* The node: 7 peers, 2 rails, 3 figures. The rail: 7 peers, 3 figures, 1 peer in both. */
	assert_int_equal(comparison.n_verdicts[VERDICT_WORSE], 7 * 2 * 3 + 6 * 3);
	assert_true(isnan(comparison.changes[0].ratio));
	show_table();
	assert_contains(text, "no reply for 10 s: transport retry counter exceeded");
	assert_contains(text, "10 more changes: --format csv lists all");
}

/* All links are slower: the median moved, and so did each. */
static void test_whole_fleet(void **unused)
{
	make(&healthy, &healthy);
	for (size_t i = 0; i < now.n_pairs; i++)
		for (size_t j = 0; j < 2; j++)
			now.pairs[i].figures[j] *= 0.8;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.n_verdicts[VERDICT_WORSE], 112);
}

/* With few ratios the spread is unknown. */
static void test_too_few(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.n_nodes = 2;
	plan.n_rails = 1;
	make(&plan, &plan);
	now.pairs[0].figures[0] /= 2;
	assert_int_equal(compare(), 0);
	assert_int_equal(comparison.n_verdicts[VERDICT_UNCLEAR], 1);
	assert_false(fleet_comparison_has_passed(&comparison));
}

static void test_nodes_in_other_order(void **unused)
{
	struct fleet_node node;

	make(&healthy, &healthy);
	node = now.nodes[0];
	now.nodes[0] = now.nodes[7];
	now.nodes[7] = node;
	for (size_t i = 0; i < now.n_pairs; i++) {
		now.pairs[i].from = now.pairs[i].from ? now.pairs[i].from : 7;
		now.pairs[i].to = now.pairs[i].to == 7 ? 0 : now.pairs[i].to;
	}
	snprintf(now.nodes[3].name, FLEET_NAME, "new");
	snprintf(base.nodes[5].rails[1].device, FLEET_NAME, "mlx5_9");
	assert_int_equal(compare(), 0);
	show_table();
	assert_contains(text, "nodes that vanished: n004\n");
	assert_contains(text, "nodes that appeared: new\n");
	assert_contains(text, "NEW: n006 has no mlx5_9/1\n");
	assert_contains(text, "figures of NEW have no counterpart in BASE\n");
	/* n004 has 7 pairs on 2 rails; of rail 1 of n006, 6 more pairs: 3 figures each. */
	assert_contains(text, "60 figures of BASE have no counterpart in NEW\n");
	assert_false(fleet_comparison_has_passed(&comparison));
}

static void test_other_cases(void **unused)
{
	make(&healthy, &healthy);
	snprintf(now.cases[0].id, CASE_ID, "read/bw/1m/poll");
	assert_int_equal(compare(), 0);
	show_table();
	assert_contains(text, "case only in BASE: write/bw/1m/poll/bidir\n");
	assert_contains(text, "case only in NEW: read/bw/1m/poll\n");
	fleet_comparison_finish(&comparison);
	snprintf(now.cases[1].id, CASE_ID, "read/lat/8/poll");
	assert_int_equal(compare(), -ENODATA);
	assert_string_equal(error.text, "the fleets have no figure in common: case only in BASE: "
					"write/bw/1m/poll/bidir");
	assert_false(fleet_comparison_has_passed(&comparison));
}

static void test_formats(void **unused)
{
	struct fleet_plan plan = healthy;
	json_t *made;
	FILE *out;

	plan.dead = 6;
	make(&healthy, &plan);
	snprintf(now.nodes[6].name, FLEET_NAME, "<n>");
	snprintf(base.nodes[6].name, FLEET_NAME, "<n>");
	assert_int_equal(compare(), 0);
	made = fleet_comparison_make(&comparison, "1.0");
	assert_non_null(made);
	assert_string_equal(json_string_value(json_object_get(made, "verdict")), "worse");
	assert_int_equal(json_array_size(json_object_get(made, "figures")), comparison.n_changes);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(made, "counts"), "worse")), 21);
	json_decref(made);
	out = open_text();
	fleet_comparison_page(out, NULL, &comparison);
	fclose(out);
	assert_contains(text, "<td align=\"left\">&lt;n&gt;</td>");
	out = open_text();
	fleet_comparison_csv(out, &comparison);
	fclose(out);
	assert_contains(text, "verdict,from,to,case,from_rail,to_rail,base,new,ratio,z,reason\n");
	out = open_text();
	fleet_comparison_markdown(out, NULL, &comparison, 100000);
	fclose(out);
	assert_contains(text, "## NEW against BASE\n");
	assert_contains(text, "| worse |");
}

#define TEST(name) cmocka_unit_test_teardown(name, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_change),
		TEST(test_slow_link),
		TEST(test_fixed_link),
		TEST(test_slow_node_and_dead_rail),
		TEST(test_whole_fleet),
		TEST(test_too_few),
		TEST(test_nodes_in_other_order),
		TEST(test_other_cases),
		TEST(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
