/* SPDX-License-Identifier: MIT */
/* Messages of client and server about a trial that is over. */
#include <errno.h>
#include <string.h>

#include "bench/control/protocol.h"
#include "bench/test/unit.d/message.h"

static void test_done_round_trip(void **unused)
{
	const struct protocol_done done = {
		.cost = {.messages = 1,
			 .user_ns = 1ULL << 53,
			 .system_ns = 3,
			 .voluntary_switches = 4,
			 .involuntary_switches = 5,
			 .cq_events = 6,
			 .completions = 7},
		.elapsed_ns = (1ULL << 53) - 1,
		.arrived = 9,
		.driven = 2.5,
		.has_next = true
        };
	json_t *message = protocol_done(&done);
	struct protocol_done read = {0};
	struct error error = {0};

	assert_int_equal(protocol_read_done(message, "n02", &read, &error), 0);
	assert_memory_equal(&read, &done, offsetof(struct protocol_done, has_next));
	assert_true(read.has_next);
	assert_int_equal(read.arrived, 9);
	/* If the message has no rate of the other direction, it is unknown. */
	assert_true(read.driven == 2.5);
	json_object_del(message, "driven");
	assert_int_equal(protocol_read_done(message, "n02", &read, &error), 0);
	assert_true(read.driven < 0);
	/* An older server does not listen for the next trial. */
	json_object_del(message, "next");
	assert_int_equal(protocol_read_done(message, "n02", &read, &error), 0);
	assert_false(read.has_next);
	json_decref(message);
}

static void check_receivers(const char *text, const char *sentence)
{
	json_t *message = message_load(text);
	struct receivers receivers = {0};
	struct error error = {0};

	assert_int_equal(protocol_read_receivers(message, "n02", &receivers, 2, &error), -EPROTO);
	assert_string_equal(error.text, sentence);
	receivers_close(&receivers);
	json_decref(message);
}

static void test_receivers(void **unused)
{
	json_t *message = json_object();
	struct receivers receivers = {0};
	struct error error = {0};

	protocol_add_receiver(message, 7);
	protocol_add_receiver(message, 1ULL << 53);
	assert_int_equal(protocol_read_receivers(message, "n02", &receivers, 2, &error), 0);
	assert_int_equal(receivers.receiver[0].arrived, 7);
	assert_int_equal(receivers.receiver[1].arrived, 1ULL << 53);
	receivers_close(&receivers);
	json_decref(message);
	check_receivers("{}", "n02: 'done' message has 0 receivers instead of 2");
	check_receivers("{\"receivers\":[1]}", "n02: 'done' message has 1 receivers instead of 2");
	check_receivers("{\"receivers\":[1,-1]}", "n02: 'done' message has a value out of range");
	check_receivers("{\"receivers\":[9007199254740993,1]}",
			"n02: 'done' message has a value out of range");
}

static void test_stops(void **unused)
{
	static const struct {
		const char *text;
		uint64_t from_ns;
		uint64_t until_ns;
		bool has_next;
	} rows[] = {
		{"{\"from_ns\":30,\"until_ns\":10}",               30, 10, false},
		{"{\"from_ns\":30}",                               30, 0,  false},
		{"{}",					     0,  0,  false},
		{"{\"from_ns\":10,\"until_ns\":30}",               0,  0,  false},
		{"{\"from_ns\":10,\"until_ns\":-1}",               0,  0,  false},
		{"{\"from_ns\":\"1\",\"until_ns\":1}",             0,  0,  false},
		{"{\"from_ns\":30,\"until_ns\":10,\"next\":true}", 30, 10, true },
		{"{\"from_ns\":30,\"next\":1}",                    30, 0,  false},
		{"{\"next\":true}",                                0,  0,  true },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *message = message_load(rows[i].text);
		struct protocol_stop stop = protocol_read_stop(message);

		assert_int_equal(stop.from_ns, rows[i].from_ns);
		assert_int_equal(stop.until_ns, rows[i].until_ns);
		assert_int_equal(stop.has_next, rows[i].has_next);
		json_decref(message);
	}
}

/* Features that a device lacks are reported differently from failures of a case. */
static void test_failures(void **unused)
{
	const struct error plain = {.code = -EINVAL, .text = "it is broken"};
	const struct error lacking = {.code = -EOPNOTSUPP, .text = "it has no atomics"};
	json_t *messages[] = {protocol_failure(&plain), protocol_failure(&lacking)};
	static const int codes[] = {-EREMOTEIO, PROTOCOL_UNSUPPORTED};
	static const char *const texts[] = {"n02: it is broken", "n02: it has no atomics"};

	for (size_t i = 0; i < ARRAY_LENGTH(messages); i++) {
		struct error error = {0};

		assert_int_equal(protocol_expect(messages[i], "ready", "n02", &error), codes[i]);
		assert_string_equal(error.text, texts[i]);
		json_decref(messages[i]);
	}
}

/* The peer's text goes into a document, so it must be sanitized. */
static void test_placement(void **unused)
{
	static const struct {
		const char *done;
		const char *cpus;
		int numa_node;
	} rows[] = {
		{"{}",							"",      -1},
		{"{\"placement\":7}",					 "",      -1},
		{"{\"placement\":{}}",					"",      -1},
		{"{\"placement\":{\"cpus\":\"0-3,8\"}}",                      "0-3,8", -1},
		{"{\"placement\":{\"cpus\":\"1\",\"numa_node\":1}}",          "1",     1 },
		{"{\"placement\":{\"cpus\":\"\\u001b[2J\"}}",                 "?[2J",  -1},
		{"{\"placement\":{\"cpus\":3,\"numa_node\":\"0\"}}",          "",      -1},
		{"{\"placement\":{\"cpus\":\"1\",\"numa_node\":-2}}",         "1",     -1},
		{"{\"placement\":{\"cpus\":\"1\",\"numa_node\":4294967297}}", "1",     -1},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *done = message_load(rows[i].done);
		struct result_place place = protocol_read_place(done);
		struct result_place again;

		assert_string_equal(place.cpus, rows[i].cpus);
		assert_int_equal(place.numa_node, rows[i].numa_node);
		protocol_add_place(done, &place);
		again = protocol_read_place(done);
		assert_string_equal(again.cpus, rows[i].cpus);
		assert_int_equal(again.numa_node, rows[i].numa_node);
		json_decref(done);
	}
}

static void test_chosen(void **unused)
{
	static const char *const rows[][2] = {
		{"{}",						       NULL             },
		{"{\"chosen\":7}",					   NULL             },
		{"{\"chosen\":{\"sl\":3,\"later\":\"\\u001b[2J\"}}",         "{\"sl\":3}"     },
		{"{\"chosen\":{\"gid_type\":\"\\u001b[2J\",\"retries\":6}}", "{\"retries\":6}"},
		{"{\"chosen\":{\"inline\":true,\"sl\":18446744073709551}}",
		 "{\"inline\":true,\"sl\":18446744073709551}"                                 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *done = message_load(rows[i][0]);
		struct effective chosen = protocol_read_chosen(done);
		json_t *again = json_object();
		json_t *wanted = rows[i][1] ? message_load(rows[i][1]) : NULL;

		protocol_add_chosen(again, &chosen);
		if (wanted)
			assert_true(json_equal(json_object_get(again, "chosen"), wanted));
		else
			assert_int_equal(json_object_size(again), 0);
		json_decref(wanted);
		json_decref(again);
		json_decref(done);
	}
}

static void test_malformed_reports(void **unused)
{
	static const char *const texts[] = {
		"{\"type\":\"done\"}",
		"{\"type\":\"done\",\"messages\":1,\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6}",
		"{\"type\":\"done\",\"messages\":\"1\",\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6,\"completions\":7}",
		"{\"type\":\"done\",\"messages\":1,\"user_ns\":2,\"system_ns\":3,"
		"\"voluntary_switches\":4,\"involuntary_switches\":5,\"cq_events\":6,\"completions\":7,"
		"\"elapsed_ns\":8}",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct protocol_done read = {.cost.messages = 99, .elapsed_ns = 98, .arrived = 97};
		struct error error = {0};
		json_t *message = message_load(texts[i]);

		assert_int_equal(protocol_read_done(message, "n02", &read, &error), -EPROTO);
		assert_contains(error.text, "n02: malformed 'done' message");
		assert_int_equal(read.cost.messages, 99);
		assert_int_equal(read.elapsed_ns, 98);
		assert_int_equal(read.arrived, 97);
		json_decref(message);
	}
}

/* Figures below 0, or so large that a thousand trials would overflow a document. */
static void test_impossible_reports(void **unused)
{
	static const char *const names[] = {"messages",   "user_ns", "completions",
					    "elapsed_ns", "arrived", "driven"};
	static const json_int_t figures[] = {-2, INT64_MIN, (1LL << 53) + 2, INT64_MAX};
	const struct protocol_done done = {.driven = 1};

	for (size_t i = 0; i < ARRAY_LENGTH(names) * ARRAY_LENGTH(figures); i++) {
		const char *name = names[i / ARRAY_LENGTH(figures)];
		json_int_t figure = figures[i % ARRAY_LENGTH(figures)];
		json_t *message = protocol_done(&done);
		struct protocol_done read = {.elapsed_ns = 98};
		struct error error = {0};
		int code;

		json_object_set_new(message, name, json_integer(figure));
		code = protocol_read_done(message, "n02", &read, &error);
		json_decref(message);
		/* A negative rate of the other direction means that it is unknown. */
		if (figure < 0 && !strcmp(name, "driven")) {
			assert_int_equal(code, 0);
			continue;
		}
		assert_int_equal(code, -EPROTO);
		assert_string_equal(error.text, "n02: 'done' message has a value out of range");
		assert_int_equal(read.elapsed_ns, 98);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_done_round_trip),
		cmocka_unit_test(test_receivers),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_placement),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_malformed_reports),
		cmocka_unit_test(test_impossible_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
