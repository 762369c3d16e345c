/* SPDX-License-Identifier: MIT */
/* Tests the CPU time of a thread with made-up results of getrusage(2). */
#include <sys/resource.h>

#include "bench/lane/cpu_cost.h"
#include "core/test/lib/check.h"

static struct rusage usage;

int __wrap_getrusage(int who, struct rusage *into);
int __wrap_getrusage(int who, struct rusage *into)
{
	assert_int_equal(who, RUSAGE_THREAD);
	*into = usage;
	return 0;
}

static void test_cost_is_the_difference(void **unused)
{
	static struct lane lane;
	struct result_cost before;
	struct result_cost cost;

	usage = (struct rusage){
		.ru_utime = {1, 2},
                  .ru_stime = {3, 4},
                  .ru_nvcsw = 5, .ru_nivcsw = 6
        };
	lane.result.messages = 100;
	lane.result.completions = 200;
	lane.endpoint.completion.events = 300;
	before = cpu_cost_now(&lane);
	usage = (struct rusage){
		.ru_utime = {2, 500002},
                  .ru_stime = {3, 11    },
                  .ru_nvcsw = 13, .ru_nivcsw = 15
        };
	lane.result.messages = 110;
	lane.result.completions = 211;
	lane.endpoint.completion.events = 312;
	cost = cpu_cost_since(&lane, &before);
	assert_int_equal(cost.user_ns, 1500000000);
	assert_int_equal(cost.system_ns, 7000);
	assert_int_equal(cost.voluntary_switches, 8);
	assert_int_equal(cost.involuntary_switches, 9);
	assert_int_equal(cost.messages, 10);
	assert_int_equal(cost.completions, 11);
	assert_int_equal(cost.cq_events, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cost_is_the_difference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
