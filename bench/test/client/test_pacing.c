/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench/client/pacing.h"
#include "core/test/lib/check.h"

/* A simulated server. A tick is a nanosecond. */
struct server {
	unsigned int messages;
	unsigned int depth; /* messages in flight */
	double each;        /* ticks between due messages */
	double takes;       /* ticks per message */
	double stalls_at;
	double stalls_for;
	bool is_random; /* gaps are exponential, from drand48 */
};

static bool note(struct pacing *pacing, uint64_t messages)
{
	struct result_trial found = {.messages = messages, .duration_ns = 1000000000};
	struct error error = {0};

	assert_int_equal(pacing_note(pacing, &found, &error), 0);
	assert_int_equal(found.pace.unsent, pacing->load.unsent);
	return found.pace.is_saturated;
}

/*
 * Simulates the server, and tells if the load is saturated. A message starts when it is due and
 * the previous one is done (Lindley's recursion); a post only waits for room in the queue.
 */
static bool is_saturated(const struct server *server)
{
	double *done = calloc(server->messages, sizeof(*done));
	struct flow flow = {0};
	struct lane lane = {
		.settings = {.tx_depth = 1, .n_flows = 1},
                  .flows = &flow
        };
	struct pace *seen = calloc(1, sizeof(*seen));
	struct pacing pacing = {.load = {.arrival = {.ticks_per_message = server->each}},
				.rate = 1e9 / server->each};
	struct loop_run run = {
		.messages = server->messages, .until = UINT64_MAX, .mult = 1ULL << 32};
	double due = 0;

	assert_non_null(done);
	assert_non_null(seen);
	hist_init(&seen->lag);
	pacing.load.seen = seen;
	load_begin(&pacing.load, &lane, &run);
	for (unsigned int i = 0; i < server->messages; i++) {
		double gap = server->is_random ? -log(1 - drand48()) : 1;
		double room = i < server->depth ? 0 : done[i - server->depth];
		double ready = server->stalls_at + server->stalls_for;
		double start;

		due += gap * server->each;
		start = i && done[i - 1] > due ? done[i - 1] : due;
		if (start >= server->stalls_at && start < ready)
			start = ready;
		done[i] = start + server->takes;
		load_slip(&pacing.load, &run, (uint64_t)(room > due ? room - due : 0));
	}
	free(seen);
	free(done);
	return note(&pacing, server->messages);
}

/* A rate that exceeds the capacity by 1 % or more is detected, for any rate and length. */
static void test_overload(void **unused)
{
	static const double each[] = {1000, 100000, 10000000};
	static const unsigned int messages[] = {200, 2000, 20000};

	for (size_t i = 0; i < 9; i++) {
		struct server server = {
			.messages = messages[i / 3], .depth = 1, .each = each[i % 3]};

		for (int per_cent = 50; per_cent <= 150; per_cent++) {
			server.takes = server.each * per_cent / 100;
			assert_int_equal(is_saturated(&server), per_cent > 100);
		}
	}
}

/* Random arrivals cause queueing; an overload by 10 % is detected in nearly all trials. */
static void test_random(void **unused)
{
	struct server server = {.messages = 2000, .depth = 1, .each = 100000, .is_random = true};
	int kept = 0;

	srand48(1);
	for (int i = 0; i < 500; i++) {
		server.takes = server.each * 0.9;
		assert_false(is_saturated(&server));
		server.takes = server.each * 1.1;
		kept += !is_saturated(&server);
	}
	assert_in_range(kept, 0, 25);
}

/* A queue hides an overload until the queue is full. */
static void test_queue(void **unused)
{
	struct server server = {.messages = 10000, .depth = 64, .each = 1000, .takes = 1020};

	/* The queue grows by 64 messages while 3200 are due. */
	assert_true(is_saturated(&server));
	server.depth = 512;
	assert_false(is_saturated(&server));
}

/* A single stall, of any length and at any time, is no saturation if the load is not. */
static void test_stall(void **unused)
{
	struct server server = {.messages = 2000, .depth = 1, .each = 100000};
	const double length = server.messages * server.each;

	for (int load = 10; load <= 99; load += 1)
		for (int at = 0; at < 100; at += 3)
			for (int per_cent = 1; per_cent < 128; per_cent *= 2) {
				server.takes = server.each * load / 100;
				server.stalls_at = length * at / 100;
				server.stalls_for = length * per_cent / 100;
				if (is_saturated(&server))
					fail_msg("%d%% load, a stall of %d%% at %d%%", load,
						 per_cent, at);
			}
}

/* A stall does not hide an overload. */
static void test_stall_with_overload(void **unused)
{
	struct server server = {
		.messages = 2000, .depth = 1, .each = 100000, .takes = 104000, .stalls_for = 4e6};

	for (int at = 0; at < 100; at += 3) {
		server.stalls_at = server.messages * server.each * at / 100;
		if (!is_saturated(&server))
			fail_msg("a stall at %d%%", at);
	}
}

/* A load with unsent messages is saturated. */
static void test_unsent(void **unused)
{
	struct pacing pacing = {.load = {.arrival = {.ticks_per_message = 1000}}, .rate = 1e6};

	assert_false(note(&pacing, 1000));
	pacing.load.unsent = 1;
	assert_true(note(&pacing, 1000));
}

/* All messages are due at once, and their number does not divide into equal parts. */
static void test_burst(void **unused)
{
	struct server server = {.depth = 1, .each = 0.001, .takes = 100};

	for (server.messages = 3; server.messages < 20; server.messages++)
		assert_true(is_saturated(&server));
}

/* At ten messages per second, a lag of less than one message means nothing. */
static void test_few(void **unused)
{
	struct pacing pacing = {
		.load = {.arrival = {.ticks_per_message = 1e8},
			 .least_before = 80000000,
			 .least = 90000000},
		.rate = 10,
	};
	struct result_trial none = {.duration_ns = 1000000000};
	struct error error = {0};

	assert_false(note(&pacing, 10));
	pacing.load.least = 110000000;
	assert_true(note(&pacing, 10));
	/* The smallest lag has not grown, or has jumped, as after a stall. */
	pacing.load.least_before = 110000000;
	assert_false(note(&pacing, 10));
	pacing.load.least_before = 27000000;
	assert_false(note(&pacing, 10));
	assert_int_equal(pacing_note(&pacing, &none, &error), -ERANGE);
	assert_string_equal(
		error.text,
		"no message was due: 10 messages per second is too slow for a trial this "
		"short; use a longer -D or a higher --rate");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overload),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_stall_with_overload),
		cmocka_unit_test(test_unsent),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
