/* SPDX-License-Identifier: MIT */
/* How often who polls in vain gives the processor away, by what became of it before. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/soft/test/stage.h"

enum {
	POLLS = 8192,
};

/* What the system counts of this thread, and whether somebody else wants its processor. */
static struct rusage counted;
static bool is_wanted;
static unsigned int given;

int sched_yield(void)
{
	given++;
	counted.ru_nivcsw += is_wanted;
	return 0;
}

int getrusage(int who, struct rusage *usage)
{
	if (who != RUSAGE_THREAD)
		return (int)syscall(SYS_getrusage, who, usage);
	*usage = counted;
	return 0;
}

struct trial {
	struct ibv_cq *cq;
	bool is_wanted[2]; /* in the first half of the polls, and in the second */
	unsigned int given[2];
};

static void *poll_in_vain(void *data)
{
	struct trial *trial = data;

	for (int half = 0; half < 2; half++) {
		is_wanted = trial->is_wanted[half];
		given = 0;
		for (int i = 0; i < POLLS / 2; i++)
			stage_is_empty(trial->cq);
		trial->given[half] = given;
	}
	return NULL;
}

/* By a thread that has never polled before. */
static void run(struct trial *trial)
{
	struct stage stage;
	pthread_t thread;

	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	trial->cq = stage.end[0].cq;
	assert_int_equal(pthread_create(&thread, NULL, poll_in_vain, trial), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	stage_close(&stage);
}

/* After 256, 512 and 1024 polls, and each 1024 from then on. */
static void test_nobody_wants_it(void **unused)
{
	struct trial trial = {.cq = NULL};

	counted = (struct rusage){.ru_nvcsw = 1};
	run(&trial);
	assert_int_equal(trial.given[0], 2 + POLLS / 2 / 1024);
	assert_int_equal(trial.given[1], POLLS / 2 / 1024);
}

static void test_others_want_it(void **unused)
{
	struct trial trial = {
		.is_wanted = {true, true}
        };

	counted = (struct rusage){.ru_nvcsw = 1};
	run(&trial);
	assert_int_equal(trial.given[0], POLLS / 2 / 256);
	assert_int_equal(trial.given[1], POLLS / 2 / 256);
}

/* The first who gets it is seen after 1024 polls; each 256 from then on. */
static void test_others_come(void **unused)
{
	struct trial trial = {
		.is_wanted = {false, true}
        };

	counted = (struct rusage){.ru_nvcsw = 1};
	run(&trial);
	assert_int_equal(trial.given[0], 2 + POLLS / 2 / 1024);
	assert_int_equal(trial.given[1], 1 + (POLLS / 2 - 1024) / 256);
}

static void test_others_go(void **unused)
{
	struct trial trial = {
		.is_wanted = {true, false}
        };

	counted = (struct rusage){.ru_nvcsw = 1};
	run(&trial);
	assert_int_equal(trial.given[0], POLLS / 2 / 256);
	/* The first one is 256 polls on, the second 512, as multiples, and then each 1024. */
	assert_int_equal(trial.given[1], 2 + POLLS / 2 / 1024);
}

/* Where the system counts nothing it is given as to others. */
static void test_nothing_is_counted(void **unused)
{
	struct trial trial = {.cq = NULL};

	counted = (struct rusage){.ru_nvcsw = 0};
	run(&trial);
	assert_int_equal(trial.given[0], POLLS / 2 / 256);
	assert_int_equal(trial.given[1], POLLS / 2 / 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_wants_it),    cmocka_unit_test(test_others_want_it),
		cmocka_unit_test(test_others_come),        cmocka_unit_test(test_others_go),
		cmocka_unit_test(test_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
