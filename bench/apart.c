/* SPDX-License-Identifier: MIT */
#include "bench/apart.h"

#include <pthread.h>
#include <sched.h>

#include "core/watch.h"

struct apart {
	team_job *job;
	void *whole;
	unsigned int number;
	struct error *error;
	int code;
};

static void *run(void *argument)
{
	struct apart *apart = argument;

	/* Not having them is slower, and no more than that. */
	(void)unshare(CLONE_FILES);
	apart->code = apart->job(apart->whole, apart->number, apart->error);
	return NULL;
}

int apart_run(team_job *job, void *whole, unsigned int number, struct error *error)
{
	struct apart apart = {.job = job, .whole = whole, .number = number, .error = error};
	pthread_t thread;

	if (watch_start_thread(&thread, run, &apart))
		return job(whole, number, error);
	pthread_join(thread, NULL);
	return apart.code;
}
