/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench/lane/private_fds.h"
#include "core/test/lib/check.h"

/* A lane's descriptors, and others below, between, and above them. */
#define N_OTHERS 3

struct table {
	struct ibv_context verbs;
	struct ibv_comp_channel channel;
	struct lane lane;
	int others[N_OTHERS];
};

static int open_null(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd > STDERR_FILENO);
	return fd;
}

/* Not in the order in which the lane tells them. */
static int make_table(void **state)
{
	static struct table table;
	struct endpoint *endpoint = &table.lane.endpoint;

	table.others[0] = open_null();
	table.channel.fd = open_null();
	table.verbs.cmd_fd = open_null();
	table.others[1] = open_null();
	endpoint->alarm.fd = open_null();
	table.verbs.async_fd = open_null();
	table.others[2] = open_null();
	endpoint->verbs = &table.verbs;
	endpoint->completion.channel = &table.channel;
	*state = &table;
	return 0;
}

static int close_table(void **state)
{
	const struct table *table = *state;
	int fds[LANE_DESCRIPTORS];

	lane_descriptors(&table->lane, fds);
	for (unsigned int i = 0; i < LANE_DESCRIPTORS; i++)
		close(fds[i]);
	for (unsigned int i = 0; i < N_OTHERS; i++)
		close(table->others[i]);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

struct work {
	const struct table *table;
	unsigned int lanes;
	unsigned int others;
	unsigned int standard;
	int state; /* whether it may be cancelled, */
	int type;  /* and how */
	pthread_t by;
	unsigned int number;
};

static unsigned int count_open(const int *fds, unsigned int n)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++)
		count += is_open(fds[i]);
	return count;
}

static int look(void *argument, unsigned int number, struct error *error)
{
	const int standard[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
	struct work *work = argument;
	int fds[LANE_DESCRIPTORS];

	lane_descriptors(&work->table->lane, fds);
	work->by = pthread_self();
	work->number = number;
	work->lanes = count_open(fds, LANE_DESCRIPTORS);
	work->others = count_open(work->table->others, N_OTHERS);
	work->standard = count_open(standard, 3);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &work->state);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &work->type);
	return 0;
}

static int look_and_close(void *argument, unsigned int number, struct error *error)
{
	const struct work *work = argument;
	int fds[LANE_DESCRIPTORS];

	lane_descriptors(&work->table->lane, fds);
	look(argument, number, error);
	close(fds[0]);
	return 0;
}

static void test_descriptors_of_its_own(void **state)
{
	const struct table *table = *state;
	struct error error = {0};
	struct work work = {.table = table};
	int fds[LANE_DESCRIPTORS];

	lane_descriptors(&table->lane, fds);
	assert_int_equal(apart_run(&table->lane, look_and_close, &work, 3, &error), 0);
	assert_int_equal(work.number, 3);
	assert_false(pthread_equal(work.by, pthread_self()));
	assert_int_equal(work.lanes, LANE_DESCRIPTORS);
	assert_int_equal(work.others, 0);
	assert_int_equal(work.standard, 3);
	/* Nothing of that is of who asks. */
	assert_int_equal(count_open(fds, LANE_DESCRIPTORS), LANE_DESCRIPTORS);
	assert_int_equal(count_open(table->others, N_OTHERS), N_OTHERS);
}

static bool has_no_ranges;

int __real_close_range(unsigned int first, unsigned int last, int flags);
int __wrap_close_range(unsigned int first, unsigned int last, int flags);
int __wrap_close_range(unsigned int first, unsigned int last, int flags)
{
	if (!has_no_ranges)
		return __real_close_range(first, last, flags);
	errno = ENOSYS;
	return -1;
}

static void test_an_old_kernel(void **state)
{
	const struct table *table = *state;
	struct error error = {0};
	struct work work = {.table = table};

	has_no_ranges = true;
	assert_int_equal(apart_run(&table->lane, look, &work, 3, &error), 0);
	has_no_ranges = false;
	assert_false(pthread_equal(work.by, pthread_self()));
	assert_int_equal(work.lanes, LANE_DESCRIPTORS);
	assert_int_equal(work.others, N_OTHERS);
}

static void test_nobody_cancels_it(void **state)
{
	struct error error = {0};
	struct work work = {.table = *state};
	int outside;

	assert_int_equal(apart_run(&work.table->lane, look, &work, 0, &error), 0);
	assert_int_equal(work.state, PTHREAD_CANCEL_DISABLE);
	assert_int_equal(work.type, PTHREAD_CANCEL_ASYNCHRONOUS);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &outside);
	assert_int_equal(outside, PTHREAD_CANCEL_DEFERRED);
}

static int go_wrong(void *unused, unsigned int number, struct error *error)
{
	return error_set(error, -EPROTO, "it is broken");
}

static void test_what_is_wrong(void **state)
{
	const struct table *table = *state;
	struct error error = {0};

	assert_int_equal(apart_run(&table->lane, go_wrong, NULL, 0, &error), -EPROTO);
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

static void test_no_thread(void **state)
{
	const struct table *table = *state;
	struct error error = {0};
	pthread_t by;

	is_refused = true;
	assert_int_equal(apart_run(&table->lane, note_thread, &by, 0, &error), 0);
	is_refused = false;
	assert_true(pthread_equal(by, pthread_self()));
	assert_int_equal(count_open(table->others, N_OTHERS), N_OTHERS);
	assert_int_equal(error.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_descriptors_of_its_own, make_table,
						close_table),
		cmocka_unit_test_setup_teardown(test_an_old_kernel, make_table, close_table),
		cmocka_unit_test_setup_teardown(test_nobody_cancels_it, make_table, close_table),
		cmocka_unit_test_setup_teardown(test_what_is_wrong, make_table, close_table),
		cmocka_unit_test_setup_teardown(test_no_thread, make_table, close_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
