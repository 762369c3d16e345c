/* SPDX-License-Identifier: MIT */
#include "reports/finding/semantics.h"
#include "reports/result/banner.h"
#include "reports/test/lib/sample.h"

/* Messages of each case. */
#define MESSAGES 1000ULL

static struct result_case cases[8];
static struct result result;

static struct result_case *add_case(const char *op, const char *metric, const char *cqs[2],
				    uint64_t think_ns)
{
	static struct result_trial trial;
	struct result_case *line = &cases[result.n_cases++];

	*line = (struct result_case){
		.op = op,
		.metric = metric,
		.cq = cqs[0],
		.server_cq = cqs[1],
		.size = 64,
		.parameters = json_pack("{s:I}", "think_ns", (json_int_t)think_ns),
		.status = RESULT_COMPLETE,
		.trials = &trial,
		.n_trials = 1,
		.client = {.messages = MESSAGES, .completions = MESSAGES, .cq_events = 500   },
		.server = {.messages = MESSAGES, .user_ns = 1000000,      .system_ns = 700000},
	};
	result.cases = cases;
	return line;
}

static void time_case(struct result_case *line, uint64_t ns)
{
	line->latency = malloc(sizeof(*line->latency));
	assert_non_null(line->latency);
	hist_init(line->latency);
	hist_add(line->latency, ns);
}

static int forget(void **unused)
{
	for (size_t i = 0; i < result.n_cases; i++) {
		json_decref(cases[i].parameters);
		json_decref(cases[i].needs);
		free(cases[i].latency);
	}
	result = (struct result){0};
	return 0;
}

static void check_rows(const char *wanted)
{
	char text[2048] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	semantics_print(out, &result);
	fclose(out);
	assert_string_equal(text, wanted);
}

#define HEAD(busy)                                                                              \
	"SEMANTICS, 64 B     RQ    buffer  CQE       events      srv CPU        us   us, srv\n" \
	"task   how          used  posted  cli/srv   cli/srv       us/op      idle " busy "\n"
#define NOTE                                                                                      \
	"RQ, buffer: probed with an empty receive queue and with receives without buffers. CQE, " \
	"events,\nsrv CPU: one operation at a time, both sides waiting for events. us: median, "  \
	"both sides polling,\nuntil the server's program is notified or the data has arrived.\n"

static const char *events[] = {"event", "event"};
static const char *polling[] = {"poll", "poll"};
static const char *asleep[] = {"poll", "event"};

static void test_no_needs(void **unused)
{
	add_case("send", "bw", events, 0);
	check_rows("");
}

/* 1.7 ms for 1000 messages are 1.7 us per message. */
static void test_passive_server(void **unused)
{
	add_case("read", "bw", events, 0)->needs =
		sample_json("{\"receive\": false, \"buffer\": false}");
	time_case(add_case("read", "lat", asleep, 0), 1700);
	time_case(add_case("read", "lat", asleep, 10000), 1900);
	check_rows(
		HEAD("busy 10us") "fetch  read         no    no      1/0       0.5/0          1.70"
				  "      1.70      1.90\n" NOTE);
}

/*
 * Half a round trip takes 0.9 us, or 5.8 us with a busy server: the full round trip of 11.6 us
 * includes 0.9 us for the way back. A request and its reply are two halves.
 */
static void test_notified_server(void **unused)
{
	struct result_case *line = add_case("send", "bw", events, 0);

	line->needs = sample_json("{\"receive\": true, \"buffer\": true}");
	line->server.completions = MESSAGES;
	line->server.cq_events = MESSAGES;
	line = add_case("send", "lat", events, 0);
	line->client.completions = 2 * MESSAGES;
	line->server.completions = 2 * MESSAGES;
	line->server.user_ns = 2700000;
	time_case(add_case("send", "lat", polling, 0), 900);
	time_case(add_case("send", "lat", polling, 10000), 5800);
	check_rows(
		HEAD("busy 10us") "tell   send         yes   yes     1/1       0.5/1          1.70"
				  "     0.900      10.7\n"
				  "fetch  send+reply   yes   yes     2/2       0.5/0          3.40"
				  "      1.80      11.6\n" NOTE);
}

/* Failed or missing cases leave a gap. A round trip by polling memory is two messages. */
static void test_gaps(void **unused)
{
	add_case("write", "bw", events, 0)->needs = sample_json("{\"receive\": false}");
	add_case("write", "lat", asleep, 0)->status = RESULT_FAILED;
	time_case(add_case("write", "lat", polling, 0), 800);
	check_rows(
		HEAD("     busy") "tell   write+poll   no    -       1/0       0.5/0         0.850"
				  "     0.800         -\n"
				  "leave  write        no    -       1/0       0.5/0          1.70"
				  "         -         -\n" NOTE);
}

/* Results of a software device show counts but no times. */
static void test_the_software_device(void **unused)
{
	struct result_case *line = add_case("send", "bw", events, 0);

	line->needs = sample_json("{\"receive\": true, \"buffer\": true}");
	line->server.completions = MESSAGES;
	line->server.cq_events = MESSAGES;
	time_case(add_case("send", "lat", polling, 0), 900);
	assert_true(banner_allows_times(&result));
	result.server.kind = "rxe";
	assert_true(banner_allows_times(&result));
	result.server.kind = "soft";
	assert_false(banner_allows_times(&result));
	check_rows(
		"SEMANTICS, 64 B     RQ    buffer  CQE       events\n"
		"task   how          used  posted  cli/srv   cli/srv\n"
		"tell   send         yes   yes     1/1       0.5/1\n"
		"fetch  send+reply   yes   yes     -         -\n"
		"RQ, buffer: probed with an empty receive queue and with receives without "
		"buffers. CQE, events:\none operation at a time, both sides waiting for events. "
		"Times are not shown: those of a software\ndevice say nothing about hardware.\n");
}

/* The table counts events, which cases that poll do not have. */
static void test_needs_of_polling(void **unused)
{
	add_case("send", "bw", polling, 0)->needs = json_object();
	check_rows("needs are shown with --cq event\n");
	/* No row is about doorbells. */
	cases[0].op = "doorbell";
	check_rows("");
}

/* Times are shown if no case probes what operations need. */
static void test_times_of_the_software_device(void **unused)
{
	time_case(add_case("send", "lat", polling, 0), 900);
	result.client.kind = "soft";
	assert_true(banner_allows_times(&result));
	json_object_set_new(cases[0].parameters, "needs", json_true());
	assert_false(banner_allows_times(&result));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_no_needs, forget),
		cmocka_unit_test_teardown(test_passive_server, forget),
		cmocka_unit_test_teardown(test_notified_server, forget),
		cmocka_unit_test_teardown(test_needs_of_polling, forget),
		cmocka_unit_test_teardown(test_gaps, forget),
		cmocka_unit_test_teardown(test_the_software_device, forget),
		cmocka_unit_test_teardown(test_times_of_the_software_device, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
