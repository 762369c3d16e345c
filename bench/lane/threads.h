/* SPDX-License-Identifier: MIT */
/*
 * The threads of a case at one end: the one that makes the team, which is number 0, and
 * so many more, which sleep between orders. Each has a lane of its own; what one of them
 * opens it also drives and closes. Nothing here spins: on few processors who waits leaves
 * his to the others. A team of one is the calling thread alone, without any other.
 */
#ifndef BENCH_LANE_THREADS_H
#define BENCH_LANE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "core/base/alarm.h"
#include "reports/result/result.h"

/* What one of them does of an order. whole is what the order is about. */
typedef int threads_job(void *whole, unsigned int number, struct error *error);

struct lane;
struct threads_member;

struct threads {
	unsigned int n; /* with the one that makes it */
	struct threads_member *members;
	struct lane **lanes;   /* by thread; NULL: it has none */
	struct alarm **alarms; /* of those lanes */
	pthread_mutex_t lock;  /* of all that follows */
	pthread_cond_t changed;
	threads_job *job;
	void *whole;
	unsigned int turn;   /* whose it is, or THREADS_ALL */
	unsigned int orders; /* that were given */
	unsigned int busy;
	unsigned int here;     /* in threads_meet */
	unsigned int meetings; /* that are over */
	bool is_ending;
	struct error fault; /* the first of this order */
};

/* Accepts what is zeroed; nothing is left of one that failed. */
int threads_open(struct threads *threads, unsigned int n, struct error *error);
void threads_close(struct threads *threads);

/* Sets the lane of a thread; NULL removes it. The caller keeps the lane. */
void threads_set_lane(struct threads *threads, unsigned int number, struct lane *lane);

/*
 * All of them at once, until all are done. The first one that fails says why, and raises
 * the alarms of the others with it, so that they end too.
 */
int threads_all(struct threads *threads, threads_job *job, void *whole, struct error *error);

/* One after another, in the order of their numbers, until one fails. */
int threads_each(struct threads *threads, threads_job *job, void *whole, struct error *error);

/* Calls the function with each thread's lane, in the order of their numbers, until one fails. */
int threads_each_lane(struct threads *threads, int (*call)(struct lane *lane, struct error *error),
		      struct error *error);

/* Returns the CPUs and NUMA nodes of all lanes. */
struct result_place threads_place(const struct threads *threads);

/*
 * Within threads_all: waits until all of them are here. The last one calls met first, alone.
 * What another one's failure was, if it comes to that.
 */
int threads_meet(struct threads *threads, void (*met)(void *whole), struct error *error);

#endif
