/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "core/base/alarm.h"
#include "core/test/lib/check.h"

static bool readable(const struct alarm *alarm)
{
	struct pollfd fd = {.fd = alarm->fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 1 && fd.revents == POLLIN;
}

static int setup(void **state)
{
	struct alarm *alarm = calloc(1, sizeof(*alarm));
	struct error error = {0};

	*state = alarm;
	return alarm ? alarm_open(alarm, &error) : -1;
}

static int teardown(void **state)
{
	struct alarm *alarm = *state;
	int fd = alarm->fd;

	alarm_close(alarm);
	free(alarm);
	return fcntl(fd, F_GETFD) < 0 ? 0 : -1;
}

static void test_not_raised_at_first(void **state)
{
	struct alarm *alarm = *state;

	assert_false(alarm_raised(alarm));
	assert_false(readable(alarm));
	assert_int_equal(fcntl(alarm->fd, F_GETFD), FD_CLOEXEC);
}

static void test_first_reason_stays(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};

	alarm_raise(alarm, -EIO, "the first");
	alarm_raise(alarm, -ENODEV, "the second");
	assert_true(alarm_raised(alarm));
	assert_true(readable(alarm));
	assert_int_equal(alarm_reason(alarm, &error), -EIO);
	assert_int_equal(error.code, -EIO);
	assert_string_equal(error.text, "the first");
	/* A later caller gets the same reason. */
	error = (struct error){0};
	assert_int_equal(alarm_reason(alarm, &error), -EIO);
	assert_true(readable(alarm));
}

/* A failure of -ETIMEDOUT must not look like the end of a wait. */
static void test_timeout_becomes_an_abort(void **state)
{
	struct error error = {0};

	alarm_raise(*state, -ETIMEDOUT, "cannot resolve the address: Connection timed out");
	assert_int_equal(alarm_reason(*state, &error), -ECONNABORTED);
	assert_int_equal(error.code, -ECONNABORTED);
	assert_string_equal(error.text, "cannot resolve the address: Connection timed out");
}

static void test_reason_is_not_a_format(void **state)
{
	struct error error = {0};

	alarm_raise(*state, -EIO, "100 %s");
	alarm_reason(*state, &error);
	assert_string_equal(error.text, "100 %s");
}

static void test_cancel_overrides_the_reason(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};

	alarm_raise(alarm, -EIO, "the first");
	alarm_raise(alarm, -ECANCELED, "interrupted");
	alarm_raise(alarm, -ECANCELED, "again");
	assert_int_equal(alarm_reason(alarm, &error), -ECANCELED);
	assert_string_equal(error.text, "interrupted");
}

static void test_reset(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};

	alarm_reset(alarm); /* does not block if the alarm is not raised */
	alarm_raise(alarm, -EIO, "the first");
	alarm_raise(alarm, -EIO, "the second");
	alarm_reset(alarm);
	assert_false(alarm_raised(alarm));
	assert_false(readable(alarm));
	alarm_raise(alarm, -ENODEV, "another");
	assert_true(readable(alarm));
	assert_int_equal(alarm_reason(alarm, &error), -ENODEV);
	assert_string_equal(error.text, "another");
}

static void test_reset_does_not_undo_a_cancel(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};

	alarm_raise(alarm, -ECANCELED, "interrupted");
	alarm_reset(alarm);
	assert_true(alarm_raised(alarm));
	assert_true(readable(alarm));
	assert_int_equal(alarm_reason(alarm, &error), -ECANCELED);
	assert_string_equal(error.text, "interrupted");
}

static void test_clear_undoes_a_cancel(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};

	alarm_raise(alarm, -ECANCELED, "interrupted");
	alarm_note(alarm, "the port went down");
	alarm_clear(alarm);
	assert_false(alarm_raised(alarm));
	assert_false(readable(alarm));
	alarm_raise(alarm, -ENODEV, "another");
	assert_int_equal(alarm_reason(alarm, &error), -ENODEV);
	alarm_explain(alarm, &error);
	assert_string_equal(error.text, "another");
	alarm_reset(alarm);
	assert_false(alarm_raised(alarm));
}

static void test_closing_a_zeroed_alarm(void **unused)
{
	struct alarm alarm = {0};
	bool is_open = fcntl(0, F_GETFD) >= 0;

	alarm_close(&alarm);
	assert_int_equal(fcntl(0, F_GETFD) >= 0, is_open);
	assert_int_equal(alarm_open(&alarm, NULL), 0);
	alarm_close(&alarm);
	alarm_close(&alarm);
}

static void test_note(void **state)
{
	struct alarm *alarm = *state;
	struct error error = {0};
	struct error later = {0};

	alarm_note(alarm, "the port went down");
	assert_false(alarm_raised(alarm));
	alarm_explain(alarm, &error);
	assert_int_equal(error.code, 0);
	error_set(&error, -EIO, "it failed");
	alarm_explain(alarm, &error);
	assert_string_equal(error.text, "it failed; the port went down");
	alarm_reset(alarm);
	error_set(&later, -EIO, "it failed");
	alarm_explain(alarm, &later);
	assert_string_equal(later.text, "it failed");
}

static void *raise_often(void *argument)
{
	for (int i = 0; i < 1000; i++)
		alarm_raise(argument, -EIO, "one of many");
	return NULL;
}

static void test_raised_by_many_threads(void **state)
{
	struct alarm *alarm = *state;
	pthread_t threads[4];
	struct error error = {0};

	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, raise_often, alarm), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(alarm_reason(alarm, &error), -EIO);
	assert_string_equal(error.text, "one of many");
	alarm_reset(alarm);
	assert_false(readable(alarm));
}

#define with_alarm(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_alarm(test_not_raised_at_first),
		with_alarm(test_first_reason_stays),
		with_alarm(test_timeout_becomes_an_abort),
		with_alarm(test_reason_is_not_a_format),
		with_alarm(test_cancel_overrides_the_reason),
		with_alarm(test_reset),
		with_alarm(test_reset_does_not_undo_a_cancel),
		with_alarm(test_clear_undoes_a_cancel),
		cmocka_unit_test(test_closing_a_zeroed_alarm),
		with_alarm(test_note),
		with_alarm(test_raised_by_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
