/* SPDX-License-Identifier: MIT */
#include "bench/plan/plan.h"
#include "bench/test/unit.d/words.h"

static struct plan plan;

static int end(void **unused)
{
	plan_close(&plan);
	return 0;
}

static int open_plan(const char *line, struct error *error)
{
	/* A plan refers to the text of its command line. */
	static struct words words;

	plan_close(&plan);
	words_init(&words, line);
	return plan_open(&plan, words.argc, words.argv, error);
}

/* Checks the ids of all cases, separated by blanks. */
static void check_cases(const char *line, const char *wanted)
{
	struct error error = {0};
	char found[1024] = "";
	size_t used = 0;

	if (open_plan(line, &error))
		fail_msg("%s: %s", line, error.text);
	for (size_t i = 0; i < plan.n_cases && used < sizeof(found); i++)
		used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s", i ? " " : "",
					 plan.cases[i].id);
	if (strcmp(found, wanted) != 0)
		fail_msg("%s: %s", line, found);
}

static void check_refusal(const char *line, const char *text)
{
	struct error error = {0};

	assert_true(open_plan(line, &error) < 0);
	assert_string_equal(error.text, text);
}

/* The maximum is measured before rates in percent, once for all equal cases. */
static void test_loads(void **unused)
{
	check_cases("--metric|load|--rate|1k,10gbit|h",
		    "send/load/64/poll/rate1k send/load/64/poll/rate10gbit");
	check_cases("--metric|load|--rate|50%,100%|-s|8,64|h",
		    "send/bw/8/poll/latencies send/bw/64/poll/latencies send/load/8/poll/rate50% "
		    "send/load/8/poll/rate100% send/load/64/poll/rate50% "
		    "send/load/64/poll/rate100%");
	assert_int_equal(plan.cases[3].maximum, 0);
	assert_int_equal(plan.cases[5].maximum, 1);
	/*
	 * Fixed gaps with a single address do not depend on the seed; latencies have no gaps at
	 * all.
	 */
	check_cases("--metric|load,lat|--rate|50%|--arrivals|fixed,poisson|--seed|3,4|"
		    "--access|same|h",
		    "send/lat/64/poll/access-same send/bw/64/poll/latencies/access-same "
		    "send/load/64/poll/rate50%/access-same "
		    "send/load/64/poll/rate50%/poisson/seed3/access-same "
		    "send/load/64/poll/rate50%/poisson/seed4/access-same");
	check_cases("--metric|load,lat|--rate|1k|--seed|3,4|h",
		    "send/lat/64/poll send/load/64/poll/rate1k/seed3 "
		    "send/load/64/poll/rate1k/seed4");
	check_cases("--metric|load|h",
		    "send/bw/64/poll/latencies send/load/64/poll/rate10% send/load/64/poll/rate20% "
		    "send/load/64/poll/rate30% send/load/64/poll/rate40% send/load/64/poll/rate50% "
		    "send/load/64/poll/rate60% send/load/64/poll/rate70% send/load/64/poll/rate80% "
		    "send/load/64/poll/rate90% send/load/64/poll/rate100%");
	/* The maximum was also asked for; it runs once. */
	check_cases("--metric|load,bw|--latencies|--rate|1k|-s|64|h",
		    "send/bw/64/poll/latencies send/load/64/poll/latencies/rate1k");
	check_refusal("--metric|lat|--rate|1k|h", "--rate applies only to --metric load");
	check_refusal("--arrivals|poisson|h", "--arrivals applies only to --metric load");
	/* --doorbell-every only multiplies doorbell cases. */
	check_cases("--op|write,doorbell|--doorbell-every|1,16|h",
		    "write/lat/64/poll doorbell/lat/64/poll/every1 doorbell/lat/64/poll/every16");
	check_cases("--op|create-cq,register,read|--pages|untouched,touched|--mr-access|atomic|"
		    "--cq|poll,event|h",
		    "create-cq/lat/1/poll create-cq/lat/1/event "
		    "register/lat/64/poll/mr-atomic/untouched "
		    "register/lat/64/poll/mr-atomic/touched read/lat/64/poll read/lat/64/event");
	/* Each call uses only the message parameters that affect it. */
	check_cases("--op|create-qp,create-cq,open-device,alloc-pd,post-send,post-recv,poll-cq|"
		    "-s|4k|-t|4|-r|8|-I|0|--sge|2|--use-srq|-Q|2|--cq|event|h",
		    "create-qp/lat/1/poll/t4/r8/I0/srq/sge2 create-cq/lat/1/event/t4 "
		    "open-device/lat/1/poll alloc-pd/lat/1/poll post-send/lat/4k/poll/I0/sge2 "
		    "post-recv/lat/1/poll/r8/sge2 poll-cq/lat/1/poll");
	check_refusal("--op|deregister|--pages|touched|h", "--pages applies only to --op register");
	check_refusal("--op|alloc,create-qp|--mr-access|local|h",
		      "--mr-access applies only to --op register and deregister");
	check_cases("--op|connect,send|--step|destroy,whole|--cq|event|h",
		    "connect/lat/1/poll/destroy connect/lat/1/poll/whole send/lat/64/event");
	/* Strict ordering and operations without memory are the same as the default. */
	check_cases("--op|send,create-qp,register|--relaxed-ordering|off,on|h",
		    "send/lat/64/poll send/lat/64/poll/relaxed-on create-qp/lat/1/poll "
		    "register/lat/64/poll register/lat/64/poll/relaxed-on");
	assert_int_equal(plan.cases[0].parameters.relaxed_ordering, PARAMETER_AUTO);
	assert_int_equal(plan.cases[1].parameters.relaxed_ordering, ORDERING_RELAXED);
	assert_int_equal(plan.cases[2].parameters.relaxed_ordering, PARAMETER_AUTO);
	check_refusal("--op|create-qp|--relaxed-ordering|on|h",
		      "--relaxed-ordering applies only to messages, --op register and deregister");
	check_refusal("--op|create-qp|--step|create-qp|h", "--step applies only to --op connect");
	check_refusal("--op|write-imm|--doorbell-every|4|h",
		      "--doorbell-every applies only to --op doorbell");
	check_refusal("--op|send|-c|UD|-u|10,14|h", "--timeout applies only to -c RC");
	check_refusal("--op|send|-c|UC|--retries|3|h", "--retries applies only to -c RC");
	check_refusal("--seed|1|--op|send|h", "--seed applies only to bw, load and --buffer");
	check_refusal("--metric|load|--rate|fast|h",
		      "--rate: 'fast' is not a rate (e.g. 100k, 10Gb/s or 10%)");
	check_refusal("--metric|load|--rate|10%:1M|h",
		      "--rate: '10%:1M' has a range with two different units");
	check_refusal("--metric|load|--rate|10%:90%:+1k|h",
		      "--rate: '10%:90%:+1k' has a range with two different units");
}

/* A maximum that was not asked for exists only for the rates that run. */
static void test_maxima(void **unused)
{
	check_cases("--metric|load|--rate|50%|--threads|1,2|h",
		    "send/bw/64/poll/latencies send/load/64/poll/rate50% "
		    "send/load/64/poll/threads2/rate50%");
	assert_string_equal(plan.cases[0].skipped, "");
	assert_string_not_equal(plan.cases[2].skipped, "");
	check_cases("--metric|load,bw|--rate|50%|-s|8,64|--latencies|h",
		    "send/bw/8/poll/latencies send/bw/64/poll/latencies "
		    "send/load/8/poll/latencies/rate50% send/load/64/poll/latencies/rate50%");
	check_cases("--metric|load|--rate|50%|-s|8,64|h",
		    "send/bw/8/poll/latencies send/bw/64/poll/latencies send/load/8/poll/rate50% "
		    "send/load/64/poll/rate50%");
	strcpy(plan.cases[3].skipped, "as a device has it");
	plan_drop_maxima(&plan);
	assert_string_equal(plan.cases[0].skipped, "");
	assert_string_equal(plan.cases[1].skipped,
			    "not needed: every load that depends on it was skipped");
	/* The maximum was asked for. */
	check_cases("--metric|load,bw|--rate|50%|--latencies|-s|64|h",
		    "send/bw/64/poll/latencies send/load/64/poll/latencies/rate50%");
	strcpy(plan.cases[1].skipped, "as a device has it");
	plan_drop_maxima(&plan);
	assert_string_equal(plan.cases[0].skipped, "");
}

/* 1000 messages at 100 per second take 10 s; at 10 kbit/s of 125 bytes each, 100 s. */
static void test_time_of_loads(void **unused)
{
	check_cases("--metric|load|--rate|100|-n|1000|h", "send/load/64/poll/rate100");
	assert_near((double)plan_estimate_ns(&plan, 1) / 1e9, 10, 0.1);
	check_cases("--metric|load|--rate|10kbit|-s|125|-n|1000|h",
		    "send/load/125/poll/rate10kbit");
	assert_near((double)plan_estimate_ns(&plan, 1) / 1e9, 100, 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_loads, end),
		cmocka_unit_test_teardown(test_maxima, end),
		cmocka_unit_test_teardown(test_time_of_loads, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
