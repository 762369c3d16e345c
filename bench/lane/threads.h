/* SPDX-License-Identifier: MIT */
/*
 * The threads of one side of a case. Number 0 is the thread that opens the team; the others sleep
 * between jobs. Each thread opens, drives and closes its own lane. Nothing here spins, so that
 * waiting threads leave scarce CPUs to the others. A team of one is just the calling thread.
 */
#ifndef BENCH_LANE_THREADS_H
#define BENCH_LANE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "core/base/alarm.h"
#include "reports/result/result.h"

/* A thread's part of a job. whole is the job's argument. */
typedef int threads_job(void *whole, unsigned int number, struct error *error);

struct lane;
struct threads_member;

struct threads {
	unsigned int n; /* including thread 0 */
	struct threads_member *members;
	struct lane **lanes;   /* by thread; NULL: none */
	struct alarm **alarms; /* of the lanes */
	pthread_mutex_t lock;  /* protects the members below */
	pthread_cond_t changed;
	threads_job *job;
	void *whole;
	unsigned int turn;   /* number of the thread to run, or THREADS_ALL */
	unsigned int orders; /* jobs started */
	unsigned int busy;
	unsigned int n_waiting; /* threads in threads_meet */
	unsigned int meetings;  /* completed calls of threads_meet */
	bool is_ending;
	struct error fault; /* first failure of this job */
};

/* threads_close accepts a zeroed struct. A failed threads_open leaves nothing to close. */
int threads_open(struct threads *threads, unsigned int n, struct error *error);
void threads_close(struct threads *threads);

/* Sets the lane of a thread; NULL removes it. The caller keeps the lane. */
void threads_set_lane(struct threads *threads, unsigned int number, struct lane *lane);

/*
 * Runs a job on all threads and waits for all. The first failure is returned and raises the alarms
 * of the others, so that they end too.
 */
int threads_all(struct threads *threads, threads_job *job, void *whole, struct error *error);

/* Runs a job on one thread after another, by number, until one fails. */
int threads_each(struct threads *threads, threads_job *job, void *whole, struct error *error);

/* Calls the function with each thread's lane, in the order of their numbers, until one fails. */
int threads_each_lane(struct threads *threads, int (*call)(struct lane *lane, struct error *error),
		      struct error *error);

/* Returns the CPUs and NUMA nodes of all lanes. */
struct result_place threads_place(const struct threads *threads);

/*
 * Waits, within threads_all, until all threads have called it. The last one first calls met, if
 * not NULL. Returns the failure of another thread if one fails.
 */
int threads_meet(struct threads *threads, void (*met)(void *whole), struct error *error);

#endif
