/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/server/places.h"
#include "core/base/clock.h"
#include "core/test/lib/check.h"

/* A client that leaves when the server ends its connection. */
struct guest {
	struct place place;
	struct control control;
	int peer;
	struct error reason;
	pthread_t thread;
};

static struct places places;
static struct guest guests[2];
static struct error error;

static int open_places(void **unused)
{
	error = (struct error){0};
	assert_int_equal(places_open(&places, ARRAY_LENGTH(guests), UINT_MAX, &error), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(guests); i++) {
		int ends[2];

		guests[i] = (struct guest){0};
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
		guests[i].peer = ends[1];
		assert_int_equal(control_open(&guests[i].control, ends[0], &error), 0);
		assert_int_equal(
			places_enter(&places, &guests[i].place, &guests[i].control, &error), 0);
	}
	return 0;
}

static int close_places(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(guests); i++) {
		places_leave(&places, &guests[i].place);
		control_close(&guests[i].control);
		close(guests[i].peer);
	}
	assert_int_equal(places.count, 0);
	places_close(&places);
	return 0;
}

static void test_full(void **unused)
{
	struct place another = {0};

	places_set_idle(&places, &guests[0].place, false);
	/* The other client has not been idle for long enough. */
	assert_int_equal(places_enter(&places, &another, NULL, &error), -EBUSY);
	assert_string_equal(error.text, "serving its maximum of 2 clients: retry later, or raise "
					"'serve --max-clients' on the server");
	/* Only a client with a place can leave. */
	places_leave(&places, &another);
	assert_int_equal(places.count, 2);
	places_leave(&places, &guests[1].place);
	error = (struct error){0};
	assert_int_equal(places_enter(&places, &another, NULL, &error), 0);
	places_leave(&places, &another);
}

static void *leave_when_ended(void *argument)
{
	struct guest *guest = argument;
	json_t *message;

	control_receive(&guest->control, &message, 0, &guest->reason);
	places_leave(&places, &guest->place);
	return NULL;
}

/* A busy client keeps its place, however long its case takes. */
static void test_busy_client_stays(void **unused)
{
	struct place another = {0};
	struct error unused_reason = {0};

	places.idle_ms = 0;
	for (size_t i = 0; i < ARRAY_LENGTH(guests); i++)
		places_set_idle(&places, &guests[i].place, false);
	assert_int_equal(places_enter(&places, &another, NULL, &error), -EBUSY);
	for (size_t i = 0; i < ARRAY_LENGTH(guests); i++)
		assert_int_equal(control_ended(&guests[i].control, &unused_reason), 0);
}

static void test_longest_idle_gives_way(void **unused)
{
	struct place another = {0};
	struct error unused_reason = {0};
	unsigned int seconds;

	places.idle_ms = 0;
	guests[1].place.idle_since_ns -= 12 * NS_PER_S;
	assert_int_equal(pthread_create(&guests[1].thread, NULL, leave_when_ended, &guests[1]), 0);
	assert_int_equal(places_enter(&places, &another, NULL, &error), 0);
	pthread_join(guests[1].thread, NULL);
	assert_int_equal(guests[1].reason.code, -ECANCELED);
	assert_int_equal(sscanf(guests[1].reason.text, "disconnected: idle for %u s", &seconds), 1);
	assert_true(seconds >= 12);
	assert_contains(guests[1].reason.text,
			" s while the server was full and another client waited");
	assert_int_equal(control_ended(&guests[0].control, &unused_reason), 0);
	places_leave(&places, &another);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_full, open_places, close_places),
		cmocka_unit_test_setup_teardown(test_busy_client_stays, open_places, close_places),
		cmocka_unit_test_setup_teardown(test_longest_idle_gives_way, open_places,
						close_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
