/* SPDX-License-Identifier: MIT */
#include "reports/finding/semantics.h"
#include "reports/test/lib/sample.h"

/* So many messages in each case, and so much for each of them. */
#define MESSAGES 1000ULL

static struct result_case cases[8];
static struct result result;

static struct result_case *add_case(const char *op, const char *metric, const char *cqs[2],
				    const char *think)
{
	static struct result_trial trial;
	struct result_case *line = &cases[result.n_cases++];

	*line = (struct result_case){
		.op = op,
		.metric = metric,
		.cq = cqs[0],
		.server_cq = cqs[1],
		.size = 64,
		.parameters = json_pack("{s:s}", "think", think),
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
	"SEMANTICS, 64 B     RQ    buffer  CQE       events      far CPU        us   us, far\n" \
	"task   how          used  posted  near/far  near/far      us/op      idle " busy "\n"
#define NOTE                                                                                      \
	"RQ, buffer: tried with an empty receive queue, and with receives without buffers. CQE, " \
	"events,\nfar CPU: one at a time, both ends sleeping for events. us: median, both ends "  \
	"polling, until\nthe other program knows, or until the data are there or here.\n"

static const char *events[] = {"event", "event"};
static const char *polling[] = {"poll", "poll"};
static const char *asleep[] = {"poll", "event"};

static void test_nothing_to_tell(void **unused)
{
	add_case("send", "bw", events, "0ns");
	check_rows("");
}

/* 1.7 ms of 1000 messages are 1.7 us. */
static void test_one_that_takes_no_part(void **unused)
{
	add_case("read", "bw", events, "0ns")->needs =
		sample_json("{\"receive\": false, \"buffer\": false}");
	time_case(add_case("read", "lat", asleep, "0ns"), 1700);
	time_case(add_case("read", "lat", asleep, "10us"), 1900);
	check_rows(
		HEAD("busy 10us") "fetch  read         no    no      1/0       0.5/0           1.7"
				  "       1.7       1.9\n" NOTE);
}

/*
 * Half of a round trip is 0.9 us, and 5.8 us with a far end that computes: a whole one
 * is 11.6, of which the way back is 0.9 again. A request and its reply are 2 halves.
 */
static void test_one_that_is_told(void **unused)
{
	struct result_case *line = add_case("send", "bw", events, "0ns");

	line->needs = sample_json("{\"receive\": true, \"buffer\": true}");
	line->server.completions = MESSAGES;
	line->server.cq_events = MESSAGES;
	line = add_case("send", "lat", events, "0ns");
	line->client.completions = 2 * MESSAGES;
	line->server.completions = 2 * MESSAGES;
	line->server.user_ns = 2700000;
	time_case(add_case("send", "lat", polling, "0ns"), 900);
	time_case(add_case("send", "lat", polling, "10us"), 5800);
	check_rows(
		HEAD("busy 10us") "tell   send         yes   yes     1/1       0.5/1           1.7"
				  "       0.9      10.7\n"
				  "fetch  send+reply   yes   yes     2/2       0.5/0           3.4"
				  "       1.8      11.6\n" NOTE);
}

/* What failed, or was not asked for, leaves a gap. A round by memory is two messages. */
static void test_gaps(void **unused)
{
	add_case("write", "bw", events, "0ns")->needs = sample_json("{\"receive\": false}");
	add_case("write", "lat", asleep, "0ns")->status = RESULT_FAILED;
	time_case(add_case("write", "lat", polling, "0ns"), 800);
	check_rows(
		HEAD("     busy") "tell   write+poll   no    -       1/0       0.5/0           0.8"
				  "       0.8         -\n"
				  "leave  write        no    -       1/0       0.5/0           1.7"
				  "         -         -\n" NOTE);
}

/* Of the software device what is counted is told, and no time. */
static void test_the_software_device(void **unused)
{
	struct result_case *line = add_case("send", "bw", events, "0ns");

	line->needs = sample_json("{\"receive\": true, \"buffer\": true}");
	line->server.completions = MESSAGES;
	line->server.cq_events = MESSAGES;
	time_case(add_case("send", "lat", polling, "0ns"), 900);
	assert_true(semantics_has_times(&result));
	result.server.kind = "rxe";
	assert_true(semantics_has_times(&result));
	result.server.kind = "soft";
	assert_false(semantics_has_times(&result));
	check_rows(
		"SEMANTICS, 64 B     RQ    buffer  CQE       events\n"
		"task   how          used  posted  near/far  near/far\n"
		"tell   send         yes   yes     1/1       0.5/1\n"
		"fetch  send+reply   yes   yes     -         -\n"
		"RQ, buffer: tried with an empty receive queue, and with receives without "
		"buffers. CQE, events:\none at a time, both ends sleeping for events. Times of a "
		"software device choose no operation:\nthey are not shown.\n");
}

/* Where nobody asks what operations need, times are all that there is. */
static void test_times_of_the_software_device(void **unused)
{
	time_case(add_case("send", "lat", polling, "0ns"), 900);
	result.client.kind = "soft";
	assert_true(semantics_has_times(&result));
	json_object_set_new(cases[0].parameters, "needs", json_true());
	assert_false(semantics_has_times(&result));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nothing_to_tell, forget),
		cmocka_unit_test_teardown(test_one_that_takes_no_part, forget),
		cmocka_unit_test_teardown(test_one_that_is_told, forget),
		cmocka_unit_test_teardown(test_gaps, forget),
		cmocka_unit_test_teardown(test_the_software_device, forget),
		cmocka_unit_test_teardown(test_times_of_the_software_device, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
