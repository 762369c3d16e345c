/* SPDX-License-Identifier: MIT */
#include "bench/apart.h"

#include <pthread.h>
#include <sched.h>

#include "core/watch.h"

struct apart {
	int (*job)(void *work, struct error *error);
	void *work;
	struct error *error;
	int code;
};

static void *run(void *argument)
{
	struct apart *apart = argument;

	/* Not having them is slower, and no more than that. */
	(void)unshare(CLONE_FILES);
	apart->code = apart->job(apart->work, apart->error);
	return NULL;
}

int apart_run(int (*job)(void *work, struct error *error), void *work, struct error *error)
{
	struct apart apart = {.job = job, .work = work, .error = error};
	pthread_t thread;

	if (watch_start_thread(&thread, run, &apart))
		return job(work, error);
	pthread_join(thread, NULL);
	return apart.code;
}
