/* SPDX-License-Identifier: MIT */
#include "bench/test/unit.d/opened_plan.h"

#define QUICK_LAT(op) op "/lat/64/poll " op "/lat/64/event " op "/lat/4k/poll " op "/lat/4k/event "
#define QUICK_BW(op)                                                                   \
	op "/bw/64/poll " op "/bw/64/event " op "/bw/64k/poll " op "/bw/64k/event " op \
	   "/bw/1m/poll " op "/bw/1m/event"
#define QUICK              \
	QUICK_LAT("send")  \
	QUICK_LAT("write") \
	QUICK_LAT("read") QUICK_BW("send") " " QUICK_BW("write") " " QUICK_BW("read")

/* Without case options, a preset is used; effort alone is no case option. */
static void test_default_preset(void **unused)
{
	check_cases("", QUICK);
	assert_null(plan.host);
	check_cases("a.example", QUICK);
	check_cases("a.example|--preset|quick", QUICK);
	for (size_t i = 0; i < plan.n_cases; i++) {
		assert_int_equal(parameters_of(i)->duration_ns, 20000000);
		assert_true(parameters_of(i)->iterations == PARAMETER_AUTO);
		assert_int_equal(parameters_of(i)->trials, 6);
	}
	check_cases("a.example|-n|9|--trials|2", QUICK);
	for (size_t i = 0; i < plan.n_cases; i++) {
		assert_int_equal(parameters_of(i)->iterations, 9);
		assert_true(parameters_of(i)->duration_ns == PARAMETER_AUTO);
		assert_int_equal(parameters_of(i)->trials, 2);
	}
	check_cases("-D|1s", QUICK);
	assert_int_equal(parameters_of(0)->duration_ns, 1000000000);
}

static void test_defaults(void **unused)
{
	const struct parameters *p;

	check_cases("a.example|--op|send", "send/lat/64/poll");
	assert_string_equal(plan.host, "a.example");
	assert_null(plan.device);
	assert_null(plan.server_device);
	assert_null(plan.json);
	assert_null(plan.launch);
	assert_int_equal(plan.port, 0);
	assert_int_equal(plan_port(&plan), 7471);
	assert_int_equal(plan.wait_ms, 0);
	assert_false(plan.no_save || plan.is_dry || plan.is_quiet || plan.with_progress);
	p = parameters_of(0);
	assert_ptr_equal(plan.cases[0].op, &operations[OPERATION_SEND]);
	assert_int_equal(plan.cases[0].kind, RESULT_HALF);
	assert_string_equal(plan.cases[0].skipped, "");
	assert_int_equal(p->size, 64);
	assert_int_equal(p->iterations, 5000);
	assert_true(p->duration_ns == PARAMETER_AUTO);
	assert_int_equal(p->trials, 6);
	assert_int_equal(p->server_cq, CQ_POLL);
	assert_int_equal(p->tx_depth, 64);
	assert_int_equal(p->rx_depth, 64);
}

static void test_options(void **unused)
{
	check_cases("-p1|-d|mlx5_0|--server-device=mlx5_1|--wait|3s|--json|-|-n|9|--metric|lat|"
		    "--quiet|--progress|--dry-run|-RF|--launch|ssh %h|a.example",
		    "send/lat/64/poll");
	assert_int_equal(plan.port, 1);
	assert_string_equal(plan.device, "mlx5_0");
	assert_string_equal(plan.server_device, "mlx5_1");
	assert_int_equal(plan.wait_ms, 3000);
	assert_string_equal(plan.json, "-");
	assert_string_equal(plan.launch, "ssh %h");
	assert_true(plan.is_quiet && plan.with_progress && plan.is_dry);
	assert_int_equal(parameters_of(0)->iterations, 9);
}

/* All short options that perftest has for these. */
static void test_short_options(void **unused)
{
	const struct parameters *p;

	check_cases("-s|2k|-n|7|-t|16|-r|32|-I|128|-Q|4|-u|10|h",
		    "send/lat/2k/poll/t16/r32/I128/Q4/u10");
	p = parameters_of(0);
	assert_int_equal(p->size, 2048);
	assert_int_equal(p->iterations, 7);
	assert_int_equal(p->tx_depth, 16);
	assert_int_equal(p->rx_depth, 32);
	assert_int_equal(p->inline_size, 128);
	assert_int_equal(p->cq_mod, 4);
	assert_int_equal(p->timeout, 10);
	check_cases("-D|2|-s64|h", "send/lat/64/poll");
	assert_int_equal(parameters_of(0)->duration_ns, 2000000000);
	assert_true(parameters_of(0)->iterations == PARAMETER_AUTO);
}

/* Order: operations, sizes, modes, server modes. The last list varies fastest. */
static void test_product(void **unused)
{
	check_cases("--op|send,read|-s|64,4k|--cq|poll,event|--server-cq|event,adaptive|h",
		    "send/lat/64/poll/server-event "
		    "send/lat/64/poll/server-adaptive "
		    "send/lat/64/event "
		    "send/lat/64/event/server-adaptive "
		    "send/lat/4k/poll/server-event "
		    "send/lat/4k/poll/server-adaptive "
		    "send/lat/4k/event "
		    "send/lat/4k/event/server-adaptive "
		    "read/lat/64/poll/server-event "
		    "read/lat/64/poll/server-adaptive "
		    "read/lat/64/event "
		    "read/lat/64/event/server-adaptive "
		    "read/lat/4k/poll/server-event "
		    "read/lat/4k/poll/server-adaptive "
		    "read/lat/4k/event "
		    "read/lat/4k/event/server-adaptive");
	check_cases("--hugepages|-t|1,2|h", "send/lat/64/poll/t1/hugepages "
					    "send/lat/64/poll/t2/hugepages");
}

/* Cases are grouped by metric, in whatever order they were given. */
static void test_metrics_stay_together(void **unused)
{
	check_cases("--metric|bw,lat|--op|write,send|-s|64|h",
		    "write/lat/64/poll send/lat/64/poll write/bw/64/poll send/bw/64/poll");
	check_cases("--metric|lat,bw|-s|1,2|h",
		    "send/lat/1/poll send/lat/2/poll send/bw/1/poll send/bw/2/poll");
}

/* Bandwidth has a default size of its own, which a plan carries along. Datagrams keep 64 bytes. */
static void test_default_sizes(void **unused)
{
	check_cases("--metric|bw|h", "send/bw/64k/poll");
	check_cases("--metric|load,bw,lat|--rate|1k|--op|send,write|h",
		    "send/lat/64/poll write/lat/64/poll send/bw/64k/poll write/bw/64k/poll "
		    "send/load/64/poll/rate1k write/load/64/poll/rate1k");
	assert_int_equal(json_array_size(plan.made), 3);
	check_cases("--metric|bw|--op|fetch-add,send|h", "fetch-add/bw/8/poll send/bw/64k/poll");
	check_cases("--metric|bw|-c|RC,UD|h", "send/bw/64/poll send/bw/64/poll/UD");
	check_cases("-c|RC,XRC|h", "send/lat/64/poll send/lat/64/poll/XRC/srq");
	check_cases("-c|DC|h", "send/lat/64/poll/DC/srq");
	check_cases("-c|SRD|h", "send/lat/64/poll/SRD");
	check_cases("--metric|bw|-s|64,8|h", "send/bw/64/poll send/bw/8/poll");
	check_cases("--preset|semantics|--metric|bw|--op|send|--cq|event|--think|0ns|h",
		    "send/bw/64/event/t1/Q1/needs send/bw/64/event/Q1 send/bw/64/event");
}

static void test_sizes_of_atomics(void **unused)
{
	check_cases("--op|fetch-add|-s|8|h", "fetch-add/lat/8/poll");
	check_cases("--op|fetch-add,send|-s|64|h", "fetch-add/lat/8/poll send/lat/64/poll");
	check_refusal("--op|fetch-add|-s|8,64|h",
		      "--size: fetch-add always transfers 8 bytes; omit --size, or use 8");
	check_refusal("--op|compare-swap,fetch-add|-a|h",
		      "--all: compare-swap always transfers 8 bytes; omit --all");
}

/* By default the server uses the client's completion mode. */
static void test_server_mode_follows_client(void **unused)
{
	check_cases("--cq|adaptive,poll,event|h",
		    "send/lat/64/adaptive send/lat/64/poll send/lat/64/event");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(parameters_of(i)->server_cq, parameters_of(i)->cq);
	check_cases("--cq|event|--server-cq|event|h", "send/lat/64/event");
	assert_int_equal(parameters_of(0)->server_cq, CQ_EVENT);
	check_cases("-x|1,3|--server-gid-index|3|h",
		    "send/lat/64/poll/x1/server-x3 send/lat/64/poll/x3");
}

static void test_kinds_of_cases(void **unused)
{
	check_cases("--op|all|--cq|poll,event|h",
		    "send/lat/64/poll send/lat/64/event write/lat/64/poll write/lat/64/event "
		    "read/lat/64/poll read/lat/64/event "
		    "write-imm/lat/64/poll write-imm/lat/64/event "
		    "send-imm/lat/64/poll send-imm/lat/64/event "
		    "fetch-add/lat/8/poll fetch-add/lat/8/event "
		    "compare-swap/lat/8/poll compare-swap/lat/8/event "
		    "atomic-write/lat/8/poll atomic-write/lat/8/event "
		    "send-inv/lat/64/poll send-inv/lat/64/event "
		    "bind-mw/lat/64/poll bind-mw/lat/64/event "
		    "rebind-mw/lat/64/poll rebind-mw/lat/64/event "
		    "local-inv/lat/64/poll local-inv/lat/64/event "
		    "write-notify/lat/64/poll write-notify/lat/64/event "
		    "read-notify/lat/64/poll read-notify/lat/64/event "
		    "doorbell/lat/64/poll doorbell/lat/64/event "
		    "alloc/lat/64/poll alloc/lat/64/event "
		    "register/lat/64/poll deregister/lat/64/poll create-qp/lat/1/poll "
		    "create-cq/lat/1/poll create-cq/lat/1/event open-device/lat/1/poll "
		    "alloc-pd/lat/1/poll post-send/lat/64/poll post-recv/lat/1/poll "
		    "poll-cq/lat/1/poll connect/lat/1/poll/whole "
		    "connect/lat/1/poll/create connect/lat/1/poll/bind "
		    "connect/lat/1/poll/resolve-address connect/lat/1/poll/resolve-route "
		    "connect/lat/1/poll/create-qp connect/lat/1/poll/connect "
		    "connect/lat/1/poll/disconnect connect/lat/1/poll/destroy");
	assert_int_equal(plan.cases[1].kind, RESULT_HALF);
	assert_int_equal(plan.cases[2].kind, RESULT_HALF);
	assert_int_equal(plan.cases[3].kind, RESULT_COMPLETION);
	assert_int_equal(plan.cases[4].kind, RESULT_FULL);
	assert_int_equal(plan.cases[7].kind, RESULT_HALF);
	assert_int_equal(plan.cases[10].kind, RESULT_FULL);
	assert_int_equal(plan.cases[16].kind, RESULT_FULL);
	assert_int_equal(plan.cases[18].kind, RESULT_COMPLETION);
	assert_int_equal(plan.cases[27].kind, RESULT_HALF);
	assert_int_equal(plan.cases[29].kind, RESULT_HALF);
	assert_int_equal(plan.cases[31].kind, RESULT_FULL);
	assert_int_equal(plan.cases[32].kind, RESULT_CALL);
	assert_int_equal(plan.cases[39].kind, RESULT_CALL);
	assert_int_equal(plan.cases[42].kind, RESULT_CALL);
}

static void test_all_sizes(void **unused)
{
	assert_int_equal(open_plan("-a|h"), 0);
	assert_int_equal(plan.n_cases, 24);
	for (size_t i = 0; i < plan.n_cases; i++)
		assert_int_equal(parameters_of(i)->size, 1 << i);
	assert_int_equal(open_plan("-a|--preset|quick|--op|read|--cq|poll|h"), 0);
	assert_int_equal(plan.n_cases, 48);
}

static void test_events(void **unused)
{
	check_cases("-e|h", "send/lat/64/event");
	check_cases("-ep|7|--server-cq|poll|h", "send/lat/64/event/server-poll");
	check_refusal("-e|--cq|poll|h", "--events and --cq cannot be used together");
	check_refusal("--cq|event|--events|h", "--events and --cq cannot be used together");
	check_refusal("-a|-s|64|h", "--all and --size cannot be used together");
	check_refusal("--size|64|--all|h", "--all and --size cannot be used together");
}

static void test_several_hosts(void **unused)
{
	check_refusal("-s|64|n01,n02",
		      "'n01,n02' names several hosts: use 'srun verbmark fleet' to measure among "
		      "hosts; see verbmark-fleet(1)");
}

/* Lists on the command line replace the preset's lists. */
static void test_presets_with_lists(void **unused)
{
	check_cases("--preset|quick|-s|8|--op|read|h",
		    "read/lat/8/poll read/lat/8/event read/bw/8/poll read/bw/8/event");
	check_cases("--preset|quick|--op|write|-e|--server-cq|poll|-t|16|h",
		    "write/lat/64/event/server-poll/t16 write/lat/4k/event/server-poll/t16 "
		    "write/bw/64/event/server-poll/t16 write/bw/64k/event/server-poll/t16 "
		    "write/bw/1m/event/server-poll/t16");
	check_cases("--preset|standard|--metric|bw|--op|read|--cq|poll|h",
		    "read/bw/8/poll read/bw/64/poll read/bw/512/poll read/bw/4k/poll "
		    "read/bw/16k/poll read/bw/64k/poll read/bw/256k/poll read/bw/1m/poll");
	check_refusal("--preset|slow|h",
		      "--preset: unknown value 'slow'; use quick, standard, full, semantics, "
		      "verbs, tips, gate or fleet");
}

/* If a list makes parts of a preset equal, each case is still run once. */
static void test_cases_are_unique(void **unused)
{
	check_cases("--preset|quick|--metric|lat|--op|send|--cq|poll|h",
		    "send/lat/64/poll send/lat/4k/poll send/lat/64k/poll send/lat/1m/poll");
	check_cases("-s|64,64,4k,4096|--op|send,send|h", "send/lat/64/poll send/lat/4k/poll");
}

/* A number of messages replaces a preset's duration. */
static void test_messages_replace_duration(void **unused)
{
	assert_int_equal(open_plan("--preset|quick|-n|77|h"), 0);
	assert_int_equal(plan.n_cases, 30);
	for (size_t i = 0; i < plan.n_cases; i++) {
		assert_int_equal(parameters_of(i)->iterations, 77);
		assert_true(parameters_of(i)->duration_ns == PARAMETER_AUTO);
		assert_string_equal(plan.cases[i].skipped, "");
	}
	check_refusal("-n|5|-D|1s|-s|64|h", "-n and -D cannot be used together");
	check_refusal("--preset|quick|-n|5|-D|1s|h", "-n and -D cannot be used together");
}

static void test_plan_as_in_a_file(void **unused)
{
	json_t *wanted = json_loads("[{\"op\": [\"read\"], \"size\": [1, 2, 4],"
				    " \"cq\": [\"event\"], \"iterations\": [5]}]",
				    0, NULL);

	assert_int_equal(open_plan("-s|1:4|-e|-n|5|--op|read|h"), 0);
	assert_true(json_equal(plan.made, wanted));
	json_decref(wanted);
}

/* Impossible cases are skipped with a reason, and the others run. */
static void test_skipped(void **unused)
{
	check_cases("-t|4,8|-Q|4,5|h", "send/lat/64/poll/t4/Q4 send/lat/64/poll/t4/Q5 "
				       "send/lat/64/poll/t8/Q4 send/lat/64/poll/t8/Q5");
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(plan.cases[i].skipped,
				    i != 1 ? ""
					   : "--cq-mod exceeds --tx-depth: the queue would fill "
					     "and stay full");
	check_refusal("-t|4|-Q|5,6|h", "no case can run: send/lat/64/poll/t4/Q5: --cq-mod exceeds "
				       "--tx-depth: the queue would fill and stay full");
}

/* The effort is not part of a case's id. */
static void test_effort_is_in_no_id(void **unused)
{
	check_cases("-n|7|-s|64|--trials|9|h", "send/lat/64/poll");
	check_cases("-D|7s|-s|64|--trials|1|h", "send/lat/64/poll");
	check_refusal("-n|5,6|h", "--iterations: '5,6' has more than one value");
	check_refusal("-D|1s,2s|h", "--duration: '1s,2s' has more than one value");
	check_refusal("--trials|1:4|h", "--trials: '1:4' has more than one value");
}

static void test_given_twice(void **unused)
{
	check_refusal("--op|send|h|--op|read", "--op is given twice");
	check_refusal("-s|8|h|--size|8", "--size is given twice");
	check_refusal("-n|5|-n|6|h", "--iterations is given twice");
	check_refusal("-d|soft0|-s|8|-d|soft0|h", "--device is given twice");
	check_cases("--use-srq|--use-srq|--quiet|--quiet|h", "send/lat/64/poll/srq");
}

static void test_refusals(void **unused)
{
	static const char *const rows[][2] = {
		{"-s|4q|h",			       "--size: '4q' is not a size (e.g. 64 or 4k)"              },
		{"-s|64,4q|h",                            "--size: '64,4q' is not a size (e.g. 64 or 4k)"           },
		{"-s|64,|h",			      "--size: '64,' is not a size (e.g. 64 or 4k)"             },
		{"-s|0|h",				"--size: '0' must be between 1 and 1g"                    },
		{"-s|2g|h",			       "--size: '2g' must be between 1 and 1g"                   },
		{"-s|8:1|h",			      "--size: '8:1' has a range whose end is below its start"  },
		{"-n|0|h",				"--iterations: '0' must be between 1 and 1000000000000"   },
		{"-n|4k|h",			       "--iterations: '4k' is not a number"                      },
		{"-D|1d|h",			       "--duration: '1d' is not a time (e.g. 10s, 100ms or 10us)"},
		{"-D|1us|h",			      "--duration: '1us' must be between 1ms and 86400s"        },
		{"--trials|0|h",                          "--trials: '0' must be between 1 and 1000"                },
		{"--op|push|h",                           "--op: unknown value 'push'; '--op help' lists the values"},
		{"--op||h",			       "--op: unknown value ''; '--op help' lists the values"    },
		{"--cq|busy|h",                           "--cq: unknown value 'busy'; did you mean 'poll'?"        },
		{"--server-cq|poll,,event|h",
		 "--server-cq: unknown value ''; use poll, event or adaptive"                                       },
		{"--metric|speed|h",                      "--metric: unknown value 'speed'; use lat, bw or load"    },
		{"-t|0|h",				"--tx-depth: '0' must be between 1 and 16384"             },
		{"-p|70000|h",                            "--port: '70000' is not a port number (0 to 65535)"       },
		{"--wait|soon|h",                         "--wait: 'soon' is not a time (e.g. 10s or 500ms)"        },
		{"--json||h",                             "--json: '' is empty"                                     },
		{"--hugepages=1|h",                       "--hugepages takes no value"                              },
		{"h|g",				   "unexpected argument 'g': HOST is 'h'"                    },
		{"--launch|ssh %h",                       "--launch needs HOST: without one, the server runs here"  },
		{"-s|1:200:+1|-t|1:200:+1|-r|1:200:+1|h", "the plan has more than a million cases"                  },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_refusal(rows[i][0], rows[i][1]);
}

static void test_help(void **unused)
{
	assert_int_equal(open_plan("--help"), 1);
	assert_null(plan.cases);
}

/* Assumes 30 ms per trial, plus 10 us per message and 1 ns per byte. */
static void test_estimates(void **unused)
{
	assert_int_equal(open_plan("-n|1000|-s|64,4k|--trials|2|h"), 0);
	assert_int_equal(plan_estimate_ns(&plan, 0), 0);
	assert_int_equal(plan_estimate_ns(&plan, 1), 2 * (30000000 + 1000 * 10064));
	assert_int_equal(plan_estimate_ns(&plan, 2),
			 2 * (30000000 + 1000 * 10064) + 2 * (30000000 + 1000 * 14096));
	assert_int_equal(open_plan("-D|2s|-s|64|h"), 0);
	assert_int_equal(plan_estimate_ns(&plan, 1), 2030000000ULL);
	/* Skipped cases take no time. */
	assert_int_equal(open_plan("-D|1s|-t|4|-Q|4,5|--trials|1|h"), 0);
	assert_int_equal(plan_estimate_ns(&plan, 2), 1030000000);
	/* The largest possible effort does not overflow. */
	assert_int_equal(open_plan("-n|1000000000000|-s|1g|--trials|1000|h"), 0);
	assert_true(plan_estimate_ns(&plan, 1) == UINT64_MAX);
}

static void check_printed(const char *line, const char *wanted)
{
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(open_plan(line), 0);
	plan_print(&plan, out);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void test_printed(void **unused)
{
	check_printed("--dry-run|-D|2s|-s|64,4k",
		      "send/lat/64/poll\n"
		      "send/lat/4k/poll\n"
		      "2 cases, about 4 s, up to 8 s if they are slow to stabilize\n");
	check_printed("-D|1s|-t|4|-Q|4,5|h",
		      "send/lat/64/poll/t4/Q4\n"
		      "send/lat/64/poll/t4/Q5: skipped: --cq-mod exceeds --tx-depth: the queue "
		      "would fill and stay full\n"
		      "1 case, about 1 s, up to 3 s if they are slow to stabilize\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_default_preset, end),
		cmocka_unit_test_teardown(test_defaults, end),
		cmocka_unit_test_teardown(test_options, end),
		cmocka_unit_test_teardown(test_short_options, end),
		cmocka_unit_test_teardown(test_product, end),
		cmocka_unit_test_teardown(test_metrics_stay_together, end),
		cmocka_unit_test_teardown(test_default_sizes, end),
		cmocka_unit_test_teardown(test_sizes_of_atomics, end),
		cmocka_unit_test_teardown(test_server_mode_follows_client, end),
		cmocka_unit_test_teardown(test_kinds_of_cases, end),
		cmocka_unit_test_teardown(test_all_sizes, end),
		cmocka_unit_test_teardown(test_events, end),
		cmocka_unit_test_teardown(test_several_hosts, end),
		cmocka_unit_test_teardown(test_presets_with_lists, end),
		cmocka_unit_test_teardown(test_cases_are_unique, end),
		cmocka_unit_test_teardown(test_messages_replace_duration, end),
		cmocka_unit_test_teardown(test_plan_as_in_a_file, end),
		cmocka_unit_test_teardown(test_skipped, end),
		cmocka_unit_test_teardown(test_effort_is_in_no_id, end),
		cmocka_unit_test_teardown(test_given_twice, end),
		cmocka_unit_test_teardown(test_refusals, end),
		cmocka_unit_test_teardown(test_help, end),
		cmocka_unit_test_teardown(test_estimates, end),
		cmocka_unit_test_teardown(test_printed, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
