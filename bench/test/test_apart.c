/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench/apart.h"
#include "core/test/check.h"

struct work {
	int given;  /* a descriptor of who asks */
	int opened; /* one of the job */
	bool was_given;
	bool is_given_still; /* after it has closed it, for itself alone */
	pthread_t by;
	unsigned int number;
};

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int look(void *argument, unsigned int number, struct error *error)
{
	struct work *work = argument;

	work->by = pthread_self();
	work->number = number;
	work->was_given = is_open(work->given);
	work->opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(work->given);
	work->is_given_still = is_open(work->given);
	return 0;
}

static void test_descriptors_of_its_own(void **unused)
{
	struct error error = {0};
	struct work work = {.given = dup(STDOUT_FILENO)};

	assert_true(work.given >= 0);
	assert_int_equal(apart_run(look, &work, 3, &error), 0);
	assert_int_equal(work.number, 3);
	assert_false(pthread_equal(work.by, pthread_self()));
	assert_true(work.was_given);
	assert_false(work.is_given_still);
	assert_true(is_open(work.given));
	assert_true(work.opened >= 0);
	assert_false(is_open(work.opened));
	close(work.given);
}

static int go_wrong(void *unused, unsigned int number, struct error *error)
{
	return error_set(error, -EPROTO, "it is broken");
}

static void test_what_is_wrong(void **unused)
{
	struct error error = {0};

	assert_int_equal(apart_run(go_wrong, NULL, 0, &error), -EPROTO);
	assert_int_equal(error.code, -EPROTO);
	assert_string_equal(error.text, "it is broken");
}

static int note_thread(void *work, unsigned int number, struct error *error)
{
	*(pthread_t *)work = pthread_self();
	return 0;
}

static bool is_refused;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	if (is_refused)
		return EAGAIN;
	return __real_pthread_create(thread, attributes, start, argument);
}

static void test_no_thread(void **unused)
{
	struct error error = {0};
	pthread_t by;

	is_refused = true;
	assert_int_equal(apart_run(note_thread, &by, 0, &error), 0);
	is_refused = false;
	assert_true(pthread_equal(by, pthread_self()));
	assert_int_equal(error.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors_of_its_own),
		cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
