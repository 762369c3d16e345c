/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>

#include "bench/lane/threads.h"
#include "core/test/lib/check.h"

#define N 4

static struct threads threads;
static struct alarm alarms[N];
static struct error error;

/* What the threads of a test did. */
static struct {
	atomic_uint done;
	atomic_uint order; /* their numbers, one decimal digit each */
	pthread_t thread[N];
	int code[N];
	unsigned int failing;
	unsigned int met;
	unsigned int seen[N];
} story;

static int open_team(void **unused)
{
	memset(&story, 0, sizeof(story));
	error = (struct error){0};
	assert_int_equal(threads_open(&threads, N, &error), 0);
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(alarm_open(&alarms[i], &error), 0);
		threads.alarms[i] = &alarms[i];
	}
	return 0;
}

static int close_team(void **unused)
{
	threads_close(&threads);
	for (unsigned int i = 0; i < N; i++)
		alarm_close(&alarms[i]);
	return 0;
}

static int note(void *whole, unsigned int number, struct error *fault)
{
	assert_ptr_equal(whole, &story);
	story.thread[number] = pthread_self();
	atomic_store(&story.order, atomic_load(&story.order) * 10 + number);
	atomic_fetch_add(&story.done, 1);
	return 0;
}

static void test_each_runs_in_order(void **unused)
{
	pthread_t first[N];

	for (int i = 0; i < 100; i++) {
		atomic_store(&story.order, 0);
		assert_int_equal(threads_each(&threads, note, &story, &error), 0);
		assert_int_equal(atomic_load(&story.order), 123);
		if (!i)
			memcpy(first, story.thread, sizeof(first));
		assert_memory_equal(first, story.thread, sizeof(first));
	}
	assert_int_equal(atomic_load(&story.done), 100 * N);
	assert_true(pthread_equal(first[0], pthread_self()));
	for (unsigned int i = 1; i < N; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_false(pthread_equal(first[i], first[j]));
}

static void test_all_runs_every_thread(void **unused)
{
	for (int i = 0; i < 1000; i++)
		assert_int_equal(threads_all(&threads, note, &story, &error), 0);
	assert_int_equal(atomic_load(&story.done), 1000 * N);
}

static void met(void *whole)
{
	story.met++;
}

/* All threads see what the last one did, three times. */
static int meet(void *whole, unsigned int number, struct error *fault)
{
	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(threads_meet(&threads, met, fault), 0);
		story.seen[number] += story.met == i;
		assert_int_equal(threads_meet(&threads, NULL, fault), 0);
	}
	return 0;
}

static void test_meet_waits_for_all(void **unused)
{
	for (int i = 0; i < 50; i++) {
		memset(&story, 0, sizeof(story));
		assert_int_equal(threads_all(&threads, meet, &story, &error), 0);
		for (unsigned int j = 0; j < N; j++)
			assert_int_equal(story.seen[j], 3);
		assert_int_equal(story.met, 3);
	}
}

/* One thread fails; the others sleep until the alarm. */
static int fail_or_wait(void *whole, unsigned int number, struct error *fault)
{
	struct pollfd waiting = {.fd = alarms[number].fd, .events = POLLIN};

	if (number == story.failing)
		return error_set(fault, -EIO, "number %u", number);
	assert_int_equal(poll(&waiting, 1, -1), 1);
	assert_true(alarm_raised(&alarms[number]));
	story.code[number] = alarm_reason(&alarms[number], fault);
	return error_append(fault, "and so did number %u", number);
}

static void test_failure_raises_all_alarms(void **unused)
{
	for (story.failing = 0; story.failing < N; story.failing++) {
		char wanted[16];

		snprintf(wanted, sizeof(wanted), "number %u", story.failing);
		assert_int_equal(threads_all(&threads, fail_or_wait, &story, &error), -EIO);
		assert_int_equal(error.code, -EIO);
		assert_string_equal(error.text, wanted);
		for (unsigned int i = 0; i < N; i++) {
			assert_int_equal(story.code[i], i == story.failing ? 0 : -EIO);
			story.code[i] = 0;
			alarm_clear(&alarms[i]);
		}
		error = (struct error){0};
	}
	/* The next job does not see the failure. */
	assert_int_equal(threads_all(&threads, note, &story, &error), 0);
	assert_int_equal(error.code, 0);
}

static int fail_or_meet(void *whole, unsigned int number, struct error *fault)
{
	if (number == story.failing)
		return error_set(fault, -EPROTO, "number %u does not come", number);
	story.code[number] = threads_meet(&threads, met, fault);
	return story.code[number];
}

static void test_failure_ends_meeting(void **unused)
{
	for (story.failing = 0; story.failing < N; story.failing++) {
		error = (struct error){0};
		assert_int_equal(threads_all(&threads, fail_or_meet, &story, &error), -EPROTO);
		assert_contains(error.text, " does not come");
		for (unsigned int i = 0; i < N; i++)
			if (i != story.failing)
				assert_int_equal(story.code[i], -EPROTO);
		assert_int_equal(story.met, 0);
	}
	memset(&story, 0, sizeof(story));
	assert_int_equal(threads_all(&threads, meet, &story, &(struct error){0}), 0);
}

static int fail_in_turn(void *whole, unsigned int number, struct error *fault)
{
	atomic_fetch_add(&story.done, 1);
	return number == story.failing ? error_set(fault, -ENOMEM, "number %u", number) : 0;
}

/* The threads after the failed one do not run, and no alarm is raised. */
static void test_each_stops_at_failure(void **unused)
{
	story.failing = 2;
	assert_int_equal(threads_each(&threads, fail_in_turn, &story, &error), -ENOMEM);
	assert_string_equal(error.text, "number 2");
	assert_int_equal(atomic_load(&story.done), 3);
	for (unsigned int i = 0; i < N; i++)
		assert_false(alarm_raised(&alarms[i]));
}

static int fails_silently(void *whole, unsigned int number, struct error *fault)
{
	return -EPIPE;
}

static void test_team_of_one(void **unused)
{
	struct threads alone;

	memset(&story, 0, sizeof(story));
	error = (struct error){0};
	assert_int_equal(threads_open(&alone, 1, &error), 0);
	assert_int_equal(threads_all(&alone, note, &story, &error), 0);
	assert_int_equal(threads_each(&alone, note, &story, &error), 0);
	assert_true(pthread_equal(story.thread[0], pthread_self()));
	assert_int_equal(atomic_load(&story.done), 2);
	assert_int_equal(threads_meet(&alone, met, &error), 0);
	assert_int_equal(story.met, 1);
	assert_int_equal(threads_all(&alone, fails_silently, &story, &error), -EPIPE);
	assert_int_equal(error.code, -EPIPE);
	threads_close(&alone);
	threads_close(&alone);
	/* A closed team runs nothing. */
	assert_int_equal(threads_each(&alone, fails_silently, &story, &error), 0);
}

/* After this many threads, starting one fails; is_full makes allocation fail. */
static unsigned int refused_behind = UINT_MAX;
static bool is_full;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *argument)
{
	if (!refused_behind)
		return EAGAIN;
	refused_behind--;
	return __real_pthread_create(thread, attributes, function, argument);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return is_full ? NULL : __real_calloc(count, size);
}

/* The error says what to do for every cause. */
static void test_failure_to_start(void **unused)
{
	struct threads few;

	error = (struct error){0};
	refused_behind = 2;
	assert_int_equal(threads_open(&few, 5, &error), -EAGAIN);
	refused_behind = UINT_MAX;
	assert_string_equal(
		error.text,
		"cannot start thread 4 of 5: Resource temporarily unavailable; use fewer "
		"--threads, or raise LimitNPROC (ulimit -u) and TasksMax (pids.max of the "
		"control group)");
	/* Nothing is left to close. */
	assert_int_equal(few.n, 0);
	threads_close(&few);
	error = (struct error){0};
	is_full = true;
	assert_int_equal(threads_open(&few, 5, &error), -ENOMEM);
	is_full = false;
	assert_string_equal(error.text,
			    "cannot start threads: Cannot allocate memory; use fewer queue "
			    "pairs, threads or queue entries, or raise LimitAS (ulimit -v) or "
			    "vm.overcommit_memory");
}

#define WITH_TEAM(test) cmocka_unit_test_setup_teardown(test, open_team, close_team)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TEAM(test_each_runs_in_order),   WITH_TEAM(test_all_runs_every_thread),
		WITH_TEAM(test_meet_waits_for_all),   WITH_TEAM(test_failure_raises_all_alarms),
		WITH_TEAM(test_failure_ends_meeting), WITH_TEAM(test_each_stops_at_failure),
		cmocka_unit_test(test_team_of_one),   cmocka_unit_test(test_failure_to_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
