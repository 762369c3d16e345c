/* SPDX-License-Identifier: MIT */
#include "reports/fleet/table.h"
#include "reports/result/banner.h"
#include "reports/test/lib/checked_fleet.h"

static char *made;
static size_t length;

/* Returns the text, which the caller frees. */
static char *shown(void)
{
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	assert_int_equal(fleet_table(&(struct terminal){.out = out}, NULL, &fleet, NULL), 0);
	fclose(out);
	return made;
}

static void check(const char *wanted)
{
	char *text = shown();

	assert_string_equal(text, wanted);
	free(text);
}

static void test_culprits_first(void **unused)
{
	check("BAD (3): 4 nodes, 2 rails; 3 pairs measured, 1 failed, 1 skipped; 3 rounds, 2 min 5 s\n"
	      "\n"
	      "BAD  WHERE          WHY\n"
	      "node n017           41.25 Gb/s, median 97.1 Gb/s (2 of 2 pairs)\n"
	      "rail n003 mlx5_1/1  cannot connect: timed out (1 of 1 pairs)\n"
	      "lost n004           no answer for 10 s\n"
	      "\n"
	      "WORST PAIRS: FROM TO            CASE             FIGURE UNIT OF MEDIAN  WHY\n"
	      "n001 mlx5_1/1     n003 mlx5_1/1 -                     -              -  cannot connect: timed out, no reply\n"
	      "n001 mlx5_0/1     n017 mlx5_0/1 write/bw/1m/poll   41.2 Gb/s    42.6 %  below the floor, error counters rose\n"
	      "n004 mlx5_0/1     n017 mlx5_0/1 write/bw/1m/poll   41.5 Gb/s    42.9 %  below the floor, outlier\n"
	      "\n"
	      "CASE             RAIL FIGURES MEDIAN LEAST MOST UNIT   MAD OF LINE\n"
	      "write/bw/1m/poll 0          6   97.1  41.2 97.5 Gb/s 0.3 %  97.1 %\n"
	      "send/lat/8/poll  0          3   1.85  1.81 1.90 us   2.2 %       -\n"
	      "\n"
	      "warning: n003 has rails that differ: mlx5_1 at 50 Gb/s\n"
	      "\n"
	      "to exclude them: scontrol update NodeName=n[003-004,017] State=DRAIN Reason=verbmark\n"
	      "to measure one link alone: 'verbmark serve' on n017, then 'verbmark run n017 -d mlx5_0' on another node\n");
}

static void keep_good(void)
{
	fleet.nodes[N004].presence = FLEET_PRESENT;
	fleet.nodes[N004].error[0] = '\0';
	fleet.n_blames = 0;
	fleet.n_spreads = 0;
	json_array_clear(fleet.warnings);
	for (size_t i = 0; i < fleet.n_pairs; i++)
		fleet.pairs[i].faults = 0;
}

static void test_all_good(void **unused)
{
	keep_good();
	check("All good: 4 nodes, 2 rails; 3 pairs measured, 1 failed, 1 skipped; 3 rounds, 2 min 5 s"
	      "\n");
}

static void test_interrupted(void **unused)
{
	keep_good();
	fleet.is_interrupted = true;
	snprintf(fleet.interruption, sizeof(fleet.interruption), "time limit");
	snprintf(fleet.nodes[N004].host, sizeof(fleet.nodes[N004].host), "n003");
	fleet.finished[0] = '\0';
	check("INCOMPLETE: 4 nodes on 3 hosts, 2 rails; 3 pairs measured, 1 failed, 1 skipped; 3 "
	      "rounds\ninterrupted: time limit\n");
}

static void test_soft(void **unused)
{
	char *text;

	fleet.nodes[N001].rails[0].is_soft = true;
	fleet.launcher[0] = '\0';
	text = shown();
	assert_memory_equal(text, BANNER_SOFT "\nBAD (3): ", sizeof(BANNER_SOFT "\nBAD (3): ") - 1);
	assert_contains(text, "\nbad nodes: n[003-004,017]\n");
	free(text);
}

/* Counts the lines before the next empty one. */
static size_t count_lines(const char *text)
{
	const char *end = strstr(text, "\n\n");
	size_t count = 1;

	assert_non_null(end);
	for (; text < end; text++)
		count += *text == '\n';
	return count;
}

/* Many failures leave room for slow pairs among the ten worst. */
static void test_ten_worst(void **unused)
{
	char *text;

	for (size_t i = 0; i < 20; i++) {
		checked_add_pair(N001, N003, 1, FLEET_FAILED)->faults = FLEET_FAULT_FAILED;
		checked_measure(N001, N003, 0, 50 + (double)i, 97, 1800, FLEET_FAULT_FLOOR);
	}
	text = shown();
	assert_int_equal(count_lines(strstr(text, "WORST")), 1 + 10);
	assert_contains(text, "52.0 Gb/s");
	assert_null(strstr(text, "53.0 Gb/s"));
	free(text);
}

/* Nothing is worse than a bandwidth of zero, not even where that is the median. */
static void test_zero(void **unused)
{
	char *text;

	/* Four of six figures. */
	for (size_t i = 0; i < 2; i++)
		fleet.pairs[0].figures[i] = fleet.pairs[3].figures[i] = 0;
	text = shown();
	assert_true(strstr(text, "\nn001 mlx5_0/1     n017") <
		    strstr(text, "\nn004 mlx5_0/1     n017"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_culprits_first, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_all_good, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_interrupted, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_soft, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_ten_worst, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_zero, checked_open, checked_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
