/* SPDX-License-Identifier: MIT */
#include "bench/lane/private_fds.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/watch.h"
#include "core/verbs/device_kind.h"

struct apart {
	const struct lane *lane;
	threads_job *job;
	void *whole;
	unsigned int number;
	struct error *error;
	int code;
};

static int compare(const void *a, const void *b)
{
	const int *one = a;
	const int *other = b;

	return (*one > *other) - (*one < *other);
}

/* Not having them is slower, and no more than that. */
static void part_descriptors(const struct lane *lane)
{
	int kept[LANE_DESCRIPTORS];
	unsigned int from = STDERR_FILENO + 1;

	/* Without that call others would wait for what this thread does not close. */
	if (close_range(UINT_MAX, UINT_MAX, 0) || unshare(CLONE_FILES))
		return;
	lane_descriptors(lane, kept);
	qsort(kept, LANE_DESCRIPTORS, sizeof(*kept), compare);
	for (unsigned int i = 0; i < LANE_DESCRIPTORS; i++) {
		unsigned int fd = (unsigned int)kept[i];

		if (fd > from)
			close_range(from, fd - 1, 0);
		if (fd >= from)
			from = fd + 1;
	}
	close_range(from, UINT_MAX, 0);
}

/*
 * Nobody cancels it. One who could be cancelled at any time need not become that for each call that
 * is a point of cancellation: two locked instructions of glibc before 2.41.
 */
static void never_cancel(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

static void *private_fds_run(void *argument)
{
	struct apart *apart = argument;

	part_descriptors(apart->lane);
	never_cancel();
	apart->code = apart->job(apart->whole, apart->number, apart->error);
	return NULL;
}

bool apart_suits(const struct lane *lane, const struct op *op)
{
	return !op_is_timed_call(op) && !device_kind_is_soft(&lane->endpoint.device);
}

int apart_run(const struct lane *lane, threads_job *job, void *whole, unsigned int number,
	      struct error *error)
{
	struct apart apart = {lane, job, whole, number, error, 0};
	pthread_t thread;

	if (watch_start_thread(&thread, private_fds_run, &apart))
		return job(whole, number, error);
	pthread_join(thread, NULL);
	return apart.code;
}
