/* SPDX-License-Identifier: MIT */
/* How often an empty poll yields the CPU, which depends on the effect of earlier yields. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/test/soft/stage.h"

enum {
	POLLS = 8192,
};

/* The resource usage of this thread, and whether another thread wants its CPU. */
static struct rusage counted;
static bool is_wanted;
static unsigned int yields;

int sched_yield(void)
{
	yields++;
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
	const char *name;
	bool is_counted;   /* the system counts context switches */
	bool is_wanted[2]; /* in the first and the second half of the polls */
	unsigned int yields[2];
};

static const struct trial trials[] = {
  /* After 256, 512 and 1024 polls, then every 1024. */
	{"idle",         true,  {false, false}, {2 + POLLS / 2 / 1024, POLLS / 2 / 1024}            },
	{"busy",         true,  {true, true},   {POLLS / 2 / 256, POLLS / 2 / 256}                  },
 /* The first switch is noticed after 1024 polls; then every 256. */
	{"becomes busy", true,  {false, true},  {2 + POLLS / 2 / 1024, 1 + (POLLS / 2 - 1024) / 256}},
 /* The first after 256 polls, the second after 512, then every 1024. */
	{"becomes idle", true,  {true, false},  {POLLS / 2 / 256, 2 + POLLS / 2 / 1024}             },
 /* If the system does not count switches, the CPU is assumed to be busy. */
	{"unknown",      false, {false, false}, {POLLS / 2 / 256, POLLS / 2 / 256}                  },
};

struct poller {
	const struct trial *trial;
	struct ibv_cq *cq;
	unsigned int yields[2];
};

static void *poll_in_vain(void *data)
{
	struct poller *poller = data;

	for (int half = 0; half < 2; half++) {
		is_wanted = poller->trial->is_wanted[half];
		yields = 0;
		for (int i = 0; i < POLLS / 2; i++)
			stage_is_empty(poller->cq);
		poller->yields[half] = yields;
	}
	return NULL;
}

/* Polls in a new thread on a new queue, so that neither has a history. */
static void try_one(const struct trial *trial)
{
	struct poller poller = {.trial = trial};
	struct stage stage;
	pthread_t thread;

	counted = (struct rusage){.ru_nvcsw = trial->is_counted};
	stage_open(&stage, &(struct stage_ways){.is_apart = true});
	poller.cq = stage.end[0].cq;
	assert_int_equal(pthread_create(&thread, NULL, poll_in_vain, &poller), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	stage_close(&stage);
	print_message("# %s: %u and %u yields\n", trial->name, poller.yields[0], poller.yields[1]);
	assert_memory_equal(poller.yields, trial->yields, sizeof(trial->yields));
}

static void test_yields(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(trials); i++)
		try_one(&trials[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_yields)};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
