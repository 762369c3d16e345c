/* SPDX-License-Identifier: MIT */
/* How often who polls in vain gives the processor away, by what became of it before. */
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
	const char *name;
	bool is_counted;   /* by the system, of this thread */
	bool is_wanted[2]; /* in the first half of the polls, and in the second */
	unsigned int given[2];
};

static const struct trial trials[] = {
  /* After 256, 512 and 1024 polls, and each 1024 from then on. */
	{"nobody",  true,  {false, false}, {2 + POLLS / 2 / 1024, POLLS / 2 / 1024}            },
	{"others",  true,  {true, true},   {POLLS / 2 / 256, POLLS / 2 / 256}                  },
 /* The first who gets it is seen after 1024 polls; each 256 from then on. */
	{"come",    true,  {false, true},  {2 + POLLS / 2 / 1024, 1 + (POLLS / 2 - 1024) / 256}},
 /* The first one is 256 polls on, the second 512, as multiples, and then each 1024. */
	{"go",      true,  {true, false},  {POLLS / 2 / 256, 2 + POLLS / 2 / 1024}             },
 /* Where the system counts nothing it is given as to others. */
	{"unknown", false, {false, false}, {POLLS / 2 / 256, POLLS / 2 / 256}                  },
};

struct poller {
	const struct trial *trial;
	struct ibv_cq *cq;
	unsigned int given[2];
};

static void *poll_in_vain(void *data)
{
	struct poller *poller = data;

	for (int half = 0; half < 2; half++) {
		is_wanted = poller->trial->is_wanted[half];
		given = 0;
		for (int i = 0; i < POLLS / 2; i++)
			stage_is_empty(poller->cq);
		poller->given[half] = given;
	}
	return NULL;
}

/* By a thread that has never polled before, and on a queue that nobody has polled. */
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
	print_message("# %s: %u and %u times\n", trial->name, poller.given[0], poller.given[1]);
	assert_memory_equal(poller.given, trial->given, sizeof(trial->given));
}

static void test_how_often(void **unused)
{
	for (size_t i = 0; i < ARRAY_LENGTH(trials); i++)
		try_one(&trials[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_how_often)};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
