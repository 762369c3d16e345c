/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/control/control.h"
#include "core/base/clock.h"
#include "core/rdma/context.h"
#include "core/test/lib/check.h"

/* A test that waits for longer hangs. */
#define PATIENCE_MS 20000
/* The time after which a silent peer is given up. */
#define SILENCE_MS 4000

#define ALIVE "\0\0\0\x10{\"type\":\"alive\"}"
#define HELLO "\0\0\0\x10{\"type\":\"hello\"}"

/* A control connection and its peer, a bare socket. */
struct connection {
	struct control control;
	int peer;
	bool is_open;
};

/* Static, and closed by a teardown, because the watcher still uses them after a test fails. */
static struct connection own;
static struct connection other;

static void connection_open(struct connection *with)
{
	struct error error = {0};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	with->peer = fds[1];
	assert_int_equal(control_open(&with->control, fds[0], &error), 0);
	with->is_open = true;
}

static void connection_close(struct connection *with)
{
	if (!with->is_open)
		return;
	control_close(&with->control);
	if (with->peer >= 0)
		close(with->peer);
	with->is_open = false;
}

static int open_own(void **unused)
{
	connection_open(&own);
	return 0;
}

static int close_all(void **unused)
{
	connection_close(&own);
	connection_close(&other);
	return 0;
}

/* Closes the peer's side. */
static void peer_close(void)
{
	close(own.peer);
	own.peer = -1;
}

static void peer_send(const struct connection *from, const void *bytes, size_t length)
{
	assert_int_equal(send(from->peer, bytes, length, MSG_NOSIGNAL), length);
}

/* Returns the next message that the peer receives; fails if none arrives in time. */
static json_t *peer_receive(const struct connection *from, struct frame_reader *reader)
{
	uint64_t deadline = clock_deadline(PATIENCE_MS);
	struct error error = {0};
	json_t *message = NULL;
	int code = 0;

	while (!code) {
		struct pollfd waiting = {.fd = from->peer, .events = POLLIN};
		uint8_t byte;
		size_t used;

		assert_int_equal(poll(&waiting, 1, clock_left_ms(deadline)), 1);
		assert_int_equal(recv(from->peer, &byte, 1, 0), 1);
		code = frame_read(reader, &byte, 1, &used, &message, &error);
	}
	if (code < 0)
		fail_msg("%s", error.text);
	return message;
}

static bool is_type(const json_t *message, const char *type)
{
	return !strcmp(json_string_value(json_object_get(message, "type")), type);
}

static void check_message(struct connection *from, const char *type)
{
	struct error error = {0};
	json_t *message;

	if (control_receive(&from->control, &message, PATIENCE_MS, &error))
		fail_msg("%s", error.text);
	assert_true(is_type(message, type));
	json_decref(message);
}

static void check_failure(struct connection *from, int code, const char *text)
{
	struct error error = {0};
	json_t *message;

	assert_int_equal(control_receive(&from->control, &message, PATIENCE_MS, &error), code);
	assert_int_equal(error.code, code);
	assert_contains(error.text, text);
	assert_null(message);
}

/* A message one above a limit is rejected, and the next one still gets through. */
static void test_messages_that_are_too_long(void **unused)
{
	struct frame_reader reader = {0};
	char *text = test_malloc((1 << 20) - 7);
	struct error error = {0};
	json_t *list = json_array();
	json_t *message;

	/* {"a":""} surrounds the text. */
	memset(text, 'x', (1 << 20) - 7);
	message = json_pack("{s:s%}", "a", text, (size_t)(1 << 20) - 7);
	assert_int_equal(control_send(&own.control, message, &error), -EMSGSIZE);
	assert_string_equal(error.text,
			    "control message of 1048577 bytes exceeds the limit of 1048576");
	test_free(text);
	/* {"a":[0,0]} has as many members as numbers, plus the array. */
	for (int i = 0; i < 65536; i++)
		json_array_append_new(list, json_integer(0));
	error = (struct error){0};
	assert_int_equal(control_send(&own.control, json_pack("{s:o}", "a", list), &error),
			 -EMSGSIZE);
	assert_string_equal(error.text,
			    "control message of 65537 members exceeds the limit of 65536");
	error = (struct error){0};
	assert_int_equal(control_send(&own.control, json_pack("{s:s}", "type", "next"), &error), 0);
	message = peer_receive(&own, &reader);
	while (is_type(message, "alive")) {
		json_decref(message);
		message = peer_receive(&own, &reader);
	}
	assert_true(is_type(message, "next"));
	json_decref(message);
}

static bool is_over(void *owner)
{
	return *(const bool *)owner;
}

/* A stop ends the wait, but a message that has arrived is still returned. */
static void test_stop(void **unused)
{
	bool is_stopped = false;
	const struct dial_stop stop = {is_over, &is_stopped};
	uint64_t begun_ns = clock_now_ns();
	struct error error = {0};
	json_t *message;

	/* Long enough to look at the stop several times. */
	assert_int_equal(control_await(&own.control, &message, 500, &stop, &error), -ETIMEDOUT);
	assert_string_equal(error.text, "no answer within 500 ms");
	assert_true(clock_now_ns() >= begun_ns + 500 * NS_PER_MS);
	is_stopped = true;
	error = (struct error){0};
	assert_int_equal(control_await(&own.control, &message, PATIENCE_MS, &stop, &error), -EINTR);
	assert_int_equal(error.code, -EINTR);
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	assert_int_equal(control_await(&own.control, &message, PATIENCE_MS, &stop, &error), 0);
	json_decref(message);
}

static void test_receiving(void **unused)
{
	static const char three[] = HELLO "\0\0\0\x0e{\"type\":\"two\"}"
					  "\0\0\0\x0e{\"type\":\"tri\"}";

	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_message(&own, "hello");
	for (size_t i = 0; i < sizeof(HELLO) - 1; i++)
		peer_send(&own, &HELLO[i], 1);
	check_message(&own, "hello");
	peer_send(&own, three, sizeof(three) - 1);
	check_message(&own, "hello");
	check_message(&own, "two");
	check_message(&own, "tri");
}

static void test_sending(void **unused)
{
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *message;

	assert_int_equal(
		control_send(&own.control, json_pack("{s:s, s:i}", "type", "case", "n", 7), &error),
		0);
	message = peer_receive(&own, &reader);
	while (is_type(message, "alive")) {
		json_decref(message);
		message = peer_receive(&own, &reader);
	}
	assert_true(is_type(message, "case"));
	assert_int_equal(json_integer_value(json_object_get(message, "n")), 7);
	json_decref(message);
	assert_int_equal(control_send(&own.control, NULL, &error), -ENOMEM);
	frame_finish(&reader);
}

static void test_no_message(void **unused)
{
	struct error error = {0};
	json_t *message;

	assert_int_equal(control_receive(&own.control, &message, 20, &error), -ETIMEDOUT);
	assert_string_equal(error.text, "no answer within 20 ms");
	/* A timeout of the wait does not end the connection. */
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_message(&own, "hello");
}

static void test_heartbeat(void **unused)
{
	struct frame_reader reader = {0};

	for (int i = 0; i < 3; i++) {
		json_t *message = peer_receive(&own, &reader);

		peer_send(&own, ALIVE, sizeof(ALIVE) - 1);
		assert_true(is_type(message, "alive"));
		json_decref(message);
	}
	frame_finish(&reader);
}

/* Heartbeats alone keep a connection alive; without them it times out. */
static void test_silence(void **unused)
{
	uint64_t start = clock_now_ns();
	struct error error = {0};
	json_t *message;

	connection_open(&other);
	do {
		peer_send(&own, ALIVE, sizeof(ALIVE) - 1);
		error = (struct error){0};
		assert_int_equal(control_receive(&other.control, &message, 100, &error),
				 -ETIMEDOUT);
		assert_true(clock_now_ns() - start < PATIENCE_MS * NS_PER_MS);
	} while (strstr(error.text, "no answer within"));
	assert_contains(error.text, "the peer has been silent for 4 s");
	assert_true(clock_now_ns() - start >= SILENCE_MS * NS_PER_MS);
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_message(&own, "hello");
	/* It stays dead: later messages are not read. */
	peer_send(&other, HELLO, sizeof(HELLO) - 1);
	check_failure(&other, -ETIMEDOUT, "silent for 4 s");
}

static void test_end_of_the_connection(void **unused)
{
	struct error error = {0};

	peer_send(&own, HELLO HELLO "\0\0", 2 * (sizeof(HELLO) - 1) + 2);
	peer_close();
	/* Messages that arrived before the end are still returned. */
	check_message(&own, "hello");
	check_message(&own, "hello");
	check_failure(&own, -ECONNRESET, "closed the control connection, or its process ended");
	check_failure(&own, -ECONNRESET, "closed the control connection, or its process ended");
	assert_int_equal(control_send(&own.control, json_object(), &error), -EPIPE);
	assert_contains(error.text, "the peer closed the control connection");
}

static void test_garbage(void **unused)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *text;
	} rows[] = {
		{"GET / HTTP/1.1\r\n\r\n", 18, "the peer is not verbmark"        },
		{"\0\0\0\0",               4,  "control message of 0 bytes"      },
		{"\0\0\0\4[{}]",           8,  "control message is not an object"},
		{"\0\0\0\1{",              5,  "control message is not JSON"     },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {

		connection_close(&own);
		connection_open(&own);
		peer_send(&own, rows[i].bytes, rows[i].length);
		check_failure(&own, -EPROTO, rows[i].text);
	}
}

/* The inbox holds four messages; a peer that sends more without being asked is not verbmark. */
static void test_flood(void **unused)
{
	/* Sent at once, so that no message is taken in between. */
	char many[(CONTROL_INBOX + 1) * (sizeof(HELLO) - 1)];
	struct error error = {0};
	json_t *message;
	int received = 0;

	for (size_t i = 0; i <= CONTROL_INBOX; i++)
		memcpy(many + i * (sizeof(HELLO) - 1), HELLO, sizeof(HELLO) - 1);
	peer_send(&own, many, sizeof(many));
	while (!control_receive(&own.control, &message, PATIENCE_MS, &error)) {
		json_decref(message);
		received++;
	}
	assert_int_equal(received, 4);
	assert_int_equal(error.code, -EPROTO);
	assert_string_equal(error.text, "too many unexpected control messages");
}

static void open_alarm(struct alarm *alarm)
{
	struct error error = {0};

	*alarm = (struct alarm){0};
	assert_int_equal(alarm_open(alarm, &error), 0);
}

static void check_aborted(struct alarm *guarded, const char *text)
{
	struct pollfd waiting = {.fd = guarded->fd, .events = POLLIN};
	struct error error = {0};

	assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
	assert_true(alarm_raised(guarded));
	assert_int_equal(alarm_reason(guarded, &error), -ECANCELED);
	assert_contains(error.text, text);
}

static void test_guard(void **unused)
{
	struct alarm guarded;

	/* A message raises the alarm. */
	open_alarm(&guarded);
	control_guard(&own.control, &guarded);
	peer_send(&own, ALIVE HELLO, 2 * (sizeof(HELLO) - 1));
	check_aborted(&guarded, "control message received");
	check_message(&own, "hello");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);

	/* So does the end of the connection. */
	open_alarm(&guarded);
	control_guard(&own.control, &guarded);
	assert_false(alarm_raised(&guarded));
	peer_close();
	check_aborted(&guarded, "closed the control connection");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);
}

/* Events that precede the guard raise the alarm as well. */
static void test_guard_set_late(void **unused)
{
	struct alarm guarded;

	peer_send(&own, HELLO HELLO, 2 * (sizeof(HELLO) - 1));
	/* Both arrived together, so the second message is in the inbox by now. */
	check_message(&own, "hello");
	open_alarm(&guarded);
	control_guard(&own.control, &guarded);
	check_aborted(&guarded, "control message received");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);
	check_message(&own, "hello");

	control_fail(&own.control, -EINTR, "interrupted");
	open_alarm(&guarded);
	control_guard(&own.control, &guarded);
	check_aborted(&guarded, "interrupted");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);
}

/* control_guard_end() raises the alarm only when the connection ends. */
static void test_guard_of_the_end(void **unused)
{
	struct alarm guarded;

	peer_send(&own, HELLO HELLO, 2 * (sizeof(HELLO) - 1));
	check_message(&own, "hello");
	open_alarm(&guarded);
	control_guard_end(&own.control, &guarded);
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_message(&own, "hello");
	check_message(&own, "hello");
	assert_false(alarm_raised(&guarded));
	control_fail(&own.control, -EINTR, "interrupted");
	check_aborted(&guarded, "interrupted");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);

	/* Also if it ended before. */
	open_alarm(&guarded);
	control_guard_end(&own.control, &guarded);
	check_aborted(&guarded, "interrupted");
	control_guard(&own.control, NULL);
	alarm_close(&guarded);
}

static void test_guard_of_several(void **unused)
{
	struct alarm guarded[3];
	struct alarm *const all[] = {&guarded[0], &guarded[1], &guarded[2]};

	for (size_t i = 0; i < ARRAY_LENGTH(guarded); i++)
		open_alarm(&guarded[i]);
	control_guard_all(&own.control, all, ARRAY_LENGTH(all), true);
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_message(&own, "hello");
	for (size_t i = 0; i < ARRAY_LENGTH(guarded); i++)
		assert_false(alarm_raised(&guarded[i]));
	control_guard_all(&own.control, all, ARRAY_LENGTH(all) - 1, false);
	peer_send(&own, HELLO, sizeof(HELLO) - 1);
	check_aborted(&guarded[0], "control message received");
	check_aborted(&guarded[1], "control message received");
	assert_false(alarm_raised(&guarded[2]));
	control_guard(&own.control, NULL);
	for (size_t i = 0; i < ARRAY_LENGTH(guarded); i++)
		alarm_close(&guarded[i]);
}

/* Heartbeats raise no alarm, and neither does anything after the guard is removed. */
static void test_guard_removed(void **unused)
{
	struct alarm guarded;

	open_alarm(&guarded);
	control_guard(&own.control, &guarded);
	peer_send(&own, ALIVE, sizeof(ALIVE) - 1);
	control_guard(&own.control, NULL);
	peer_send(&own, ALIVE HELLO, 2 * (sizeof(HELLO) - 1));
	check_message(&own, "hello");
	assert_false(alarm_raised(&guarded));
	alarm_close(&guarded);
}

static void *fail_it(void *argument)
{
	control_fail(argument, -EINTR, "interrupted");
	return NULL;
}

static void test_failure_from_another_thread(void **unused)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fail_it, &own.control), 0);
	check_failure(&own, -EINTR, "interrupted");
	pthread_join(thread, NULL);
	/* The first reason is kept. */
	control_fail(&own.control, -EIO, "something else");
	check_failure(&own, -EINTR, "interrupted");
}

#define SENDERS 4
#define SENT    200

struct sender {
	struct control *control;
	pthread_t thread;
	int number;
	int failures;
};

static void *send_many(void *argument)
{
	struct sender *sender = argument;

	for (int i = 0; i < SENT; i++) {
		struct error error = {0};
		json_t *message =
			json_pack("{s:s, s:i, s:i}", "type", "n", "from", sender->number, "n", i);

		sender->failures += control_send(sender->control, message, &error) != 0;
	}
	return NULL;
}

/* Frames from several threads do not mix, nor with heartbeats. */
static void test_concurrent_senders(void **unused)
{
	struct sender senders[SENDERS];
	struct frame_reader reader = {0};
	int next[SENDERS] = {0};

	for (int i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){.control = &own.control, .number = i};
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_many, &senders[i]),
				 0);
	}
	for (int received = 0; received < SENDERS * SENT;) {
		json_t *message = peer_receive(&own, &reader);

		if (is_type(message, "n")) {
			json_int_t from = json_integer_value(json_object_get(message, "from"));

			assert_in_range(from, 0, SENDERS - 1);
			assert_int_equal(json_integer_value(json_object_get(message, "n")),
					 next[from]++);
			received++;
		}
		json_decref(message);
	}
	for (int i = 0; i < SENDERS; i++) {
		pthread_join(senders[i].thread, NULL);
		assert_int_equal(senders[i].failures, 0);
	}
	frame_finish(&reader);
}

/* A peer that does not read is given up. */
static void test_peer_that_does_not_read(void **unused)
{
	uint64_t start = clock_now_ns();
	struct error error = {0};
	char *text = test_malloc(500000);

	memset(text, 'x', 499999);
	text[499999] = '\0';
	while (!control_send(&own.control, json_pack("{s:s}", "type", text), &error))
		assert_true(clock_now_ns() - start < PATIENCE_MS * NS_PER_MS);
	assert_int_equal(error.code, -ETIMEDOUT);
	assert_string_equal(error.text, "the peer does not read its control messages");
	test_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_receiving, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_stop, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_sending, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_messages_that_are_too_long, open_own,
						close_all),
		cmocka_unit_test_setup_teardown(test_no_message, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_heartbeat, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_silence, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_end_of_the_connection, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_garbage, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_flood, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_guard, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_guard_set_late, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_guard_of_the_end, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_guard_of_several, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_guard_removed, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_failure_from_another_thread, open_own,
						close_all),
		cmocka_unit_test_setup_teardown(test_concurrent_senders, open_own, close_all),
		cmocka_unit_test_setup_teardown(test_peer_that_does_not_read, open_own, close_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
