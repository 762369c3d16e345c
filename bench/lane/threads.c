/* SPDX-License-Identifier: MIT */
#include "bench/lane/threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "bench/lane/lane.h"
#include "core/base/free_memory.h"
#include "core/base/watch.h"

#define THREADS_ALL UINT_MAX

struct threads_member {
	struct threads *threads;
	unsigned int number;
	pthread_t thread;
};

/* Call with the lock held. */
static void explain_failure(struct threads *threads, const struct error *fault)
{
	if (threads->fault.code)
		return;
	threads->fault = *fault;
	for (unsigned int i = 0; i < threads->n && threads->turn == THREADS_ALL; i++)
		if (threads->alarms[i])
			alarm_raise(threads->alarms[i], fault->code, fault->text);
}

static void take_part(struct threads *threads, unsigned int number)
{
	struct error fault = {0};
	int code = threads->job(threads->whole, number, &fault);

	pthread_mutex_lock(&threads->lock);
	if (code) {
		error_set(&fault, code, "a thread failed for an unknown reason");
		explain_failure(threads, &fault);
	}
	threads->busy--;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
}

/* Waits for a job. Returns false if the thread is to end. */
static bool await_order(struct threads *threads, unsigned int number, unsigned int *seen)
{
	bool is_ending;

	pthread_mutex_lock(&threads->lock);
	for (;;) {
		while (!threads->is_ending && threads->orders == *seen)
			pthread_cond_wait(&threads->changed, &threads->lock);
		*seen = threads->orders;
		if (threads->is_ending || threads->turn == number || threads->turn == THREADS_ALL)
			break;
	}
	is_ending = threads->is_ending;
	pthread_mutex_unlock(&threads->lock);
	return !is_ending;
}

static void *lane_threads_run(void *argument)
{
	const struct threads_member *member = argument;
	unsigned int seen = 0;

	while (await_order(member->threads, member->number, &seen))
		take_part(member->threads, member->number);
	return NULL;
}

static int refused(const struct threads *threads, unsigned int n, int code, struct error *error)
{
	error_set_errno(error, code, "cannot start thread %u of %u", threads->n + 1, n);
	error_append(error, "use fewer --threads, or raise LimitNPROC (ulimit -u) and TasksMax "
			    "(pids.max of the control group)");
	return code;
}

static int lane_threads_start(struct threads *threads, unsigned int n, struct error *error)
{
	while (threads->n < n) {
		struct threads_member *member = &threads->members[threads->n];
		int code;

		*member = (struct threads_member){.threads = threads, .number = threads->n};
		code = watch_start_thread(&member->thread, lane_threads_run, member);
		if (code)
			return refused(threads, n, code, error);
		threads->n++;
	}
	return 0;
}

int threads_open(struct threads *threads, unsigned int n, struct error *error)
{
	int code;

	*threads = (struct threads){
		.n = 1,
		.members = calloc(n, sizeof(*threads->members)),
		.lanes = calloc(n, sizeof(struct lane *)),
		.alarms = calloc(n, sizeof(struct alarm *)),
	};
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->changed, NULL);
	if (threads->members && threads->lanes && threads->alarms)
		code = lane_threads_start(threads, n, error);
	else
		code = free_memory_refused(error, "start threads");
	if (code)
		threads_close(threads);
	return code;
}

void threads_close(struct threads *threads)
{
	if (!threads->n)
		return;
	pthread_mutex_lock(&threads->lock);
	threads->is_ending = true;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
	for (unsigned int i = 1; i < threads->n; i++)
		pthread_join(threads->members[i].thread, NULL);
	pthread_cond_destroy(&threads->changed);
	pthread_mutex_destroy(&threads->lock);
	free(threads->members);
	free(threads->lanes);
	free(threads->alarms);
	*threads = (struct threads){0};
}

void threads_set_lane(struct threads *threads, unsigned int number, struct lane *lane)
{
	threads->lanes[number] = lane;
	threads->alarms[number] = lane ? &lane->endpoint.alarm : NULL;
}

static int order(struct threads *threads, threads_job *job, void *whole, unsigned int turn)
{
	int code;

	pthread_mutex_lock(&threads->lock);
	threads->job = job;
	threads->whole = whole;
	threads->turn = turn;
	threads->busy = turn == THREADS_ALL ? threads->n : 1;
	threads->n_waiting = 0;
	threads->orders++;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
	if (!turn || turn == THREADS_ALL)
		take_part(threads, 0);
	pthread_mutex_lock(&threads->lock);
	while (threads->busy)
		pthread_cond_wait(&threads->changed, &threads->lock);
	code = threads->fault.code;
	pthread_mutex_unlock(&threads->lock);
	return code;
}

int threads_all(struct threads *threads, threads_job *job, void *whole, struct error *error)
{
	threads->fault = (struct error){0};
	if (order(threads, job, whole, THREADS_ALL))
		error_set(error, threads->fault.code, "%s", threads->fault.text);
	return threads->fault.code;
}

int threads_each(struct threads *threads, threads_job *job, void *whole, struct error *error)
{
	threads->fault = (struct error){0};
	for (unsigned int i = 0; i < threads->n && !threads->fault.code; i++)
		if (order(threads, job, whole, i))
			error_set(error, threads->fault.code, "%s", threads->fault.text);
	return threads->fault.code;
}

struct lane_call {
	struct lane **lanes;
	int (*call)(struct lane *lane, struct error *error);
};

static int thread_call(void *whole, unsigned int number, struct error *error)
{
	const struct lane_call *call = whole;

	return call->call(call->lanes[number], error);
}

int threads_each_lane(struct threads *threads, int (*call)(struct lane *lane, struct error *error),
		      struct error *error)
{
	struct lane_call each = {threads->lanes, call};

	return threads_each(threads, thread_call, &each, error);
}

struct result_place threads_place(const struct threads *threads)
{
	struct placement all = threads->lanes[0]->placement;

	for (unsigned int i = 1; i < threads->n; i++)
		placement_join(&all, &threads->lanes[i]->placement);
	return placement_result(&all);
}

int threads_meet(struct threads *threads, void (*met)(void *whole), struct error *error)
{
	unsigned int meeting;
	int code = 0;

	pthread_mutex_lock(&threads->lock);
	meeting = threads->meetings;
	if (++threads->n_waiting == threads->n && !threads->fault.code) {
		if (met)
			met(threads->whole);
		threads->n_waiting = 0;
		threads->meetings++;
		pthread_cond_broadcast(&threads->changed);
	}
	while (threads->meetings == meeting && !threads->fault.code)
		pthread_cond_wait(&threads->changed, &threads->lock);
	if (threads->meetings == meeting)
		code = error_set(error, threads->fault.code, "%s", threads->fault.text);
	pthread_mutex_unlock(&threads->lock);
	return code;
}
