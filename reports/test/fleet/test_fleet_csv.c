/* SPDX-License-Identifier: MIT */
#include "reports/fleet/csv.h"
#include "reports/test/lib/checked_fleet.h"

#define TITLES                                                                                  \
	"round,retest,from,from_rail,from_device,to,to_rail,to_device,case,status,faults,unit," \
	"value,error\n"

static void check(const char *wanted)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	fleet_csv(out, &fleet);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

/* 97.5 Gb/s are 12187500000 bytes per second. */
static void test_pairs(void **unused)
{
	check(TITLES
	      "0,0,n001,0,mlx5_0,n003,0,mlx5_0,write/bw/1m/poll,measured,,bytes_per_s,1.21875e+10,\n"
	      "0,0,n003,0,mlx5_0,n001,0,mlx5_0,write/bw/1m/poll,measured,,bytes_per_s,1.21562e+10,\n"
	      "0,0,n001,0,mlx5_0,n003,0,mlx5_0,send/lat/8/poll,measured,,ns,1810,\n"
	      "0,0,n001,1,mlx5_1,n003,1,mlx5_1,write/bw/1m/poll,failed,failed,bytes_per_s,,"
	      "\"cannot connect: timed out, no reply\"\n"
	      "0,0,n003,1,mlx5_1,n001,1,mlx5_1,write/bw/1m/poll,failed,failed,bytes_per_s,,"
	      "\"cannot connect: timed out, no reply\"\n"
	      "0,0,n001,1,mlx5_1,n003,1,mlx5_1,send/lat/8/poll,failed,failed,ns,,"
	      "\"cannot connect: timed out, no reply\"\n"
	      "0,0,n004,0,mlx5_0,n017,0,mlx5_0,write/bw/1m/poll,measured,"
	      "\"below the floor, outlier\",bytes_per_s,5.1875e+09,\n"
	      "0,0,n017,0,mlx5_0,n004,0,mlx5_0,write/bw/1m/poll,measured,"
	      "\"below the floor, outlier\",bytes_per_s,1.2125e+10,\n"
	      "0,0,n004,0,mlx5_0,n017,0,mlx5_0,send/lat/8/poll,measured,"
	      "\"below the floor, outlier\",ns,1900,\n"
	      "0,0,n001,0,mlx5_0,n017,0,mlx5_0,write/bw/1m/poll,measured,"
	      "\"below the floor, error counters rose\",bytes_per_s,5.15625e+09,\n"
	      "0,0,n017,0,mlx5_0,n001,0,mlx5_0,write/bw/1m/poll,measured,"
	      "\"below the floor, error counters rose\",bytes_per_s,1.20625e+10,\n"
	      "0,0,n001,0,mlx5_0,n017,0,mlx5_0,send/lat/8/poll,measured,"
	      "\"below the floor, error counters rose\",ns,1850,\n"
	      "1,0,n004,0,mlx5_0,n003,0,mlx5_0,write/bw/1m/poll,skipped,,bytes_per_s,,n004 was "
	      "lost\n"
	      "1,0,n003,0,mlx5_0,n004,0,mlx5_0,write/bw/1m/poll,skipped,,bytes_per_s,,n004 was "
	      "lost\n"
	      "1,0,n004,0,mlx5_0,n003,0,mlx5_0,send/lat/8/poll,skipped,,ns,,n004 was lost\n");
}

/* A spreadsheet must not evaluate the text of a peer. */
static void test_formula(void **unused)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	fleet.pairs[4].error[0] = '=';
	fleet_csv(out, &fleet);
	fclose(out);
	assert_contains(text, ",skipped,,ns,, =004 was lost\n");
	free(text);
}

static void test_no_pairs(void **unused)
{
	check(TITLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pairs, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_formula, checked_open, checked_close),
		cmocka_unit_test(test_no_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
