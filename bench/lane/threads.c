/* SPDX-License-Identifier: MIT */
#include "bench/lane/threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/base/free_memory.h"
#include "core/base/watch.h"

#define TEAM_ALL UINT_MAX

struct team_member {
	struct team *team;
	unsigned int number;
	pthread_t thread;
};

/* With the lock held. */
static void blame(struct team *team, const struct error *fault)
{
	if (team->fault.code)
		return;
	team->fault = *fault;
	for (unsigned int i = 0; i < team->n && team->turn == TEAM_ALL; i++)
		if (team->alarms[i])
			alarm_raise(team->alarms[i], fault->code, fault->text);
}

static void take_part(struct team *team, unsigned int number)
{
	struct error fault = {0};
	int code = team->job(team->whole, number, &fault);

	pthread_mutex_lock(&team->lock);
	if (code) {
		error_set(&fault, code, "it failed without a reason");
		blame(team, &fault);
	}
	team->busy--;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
}

/* Whether there is something to do; else it is to end. */
static bool await_order(struct team *team, unsigned int number, unsigned int *seen)
{
	bool is_ending;

	pthread_mutex_lock(&team->lock);
	for (;;) {
		while (!team->is_ending && team->orders == *seen)
			pthread_cond_wait(&team->changed, &team->lock);
		*seen = team->orders;
		if (team->is_ending || team->turn == number || team->turn == TEAM_ALL)
			break;
	}
	is_ending = team->is_ending;
	pthread_mutex_unlock(&team->lock);
	return !is_ending;
}

static void *run(void *argument)
{
	const struct team_member *member = argument;
	unsigned int seen = 0;

	while (await_order(member->team, member->number, &seen))
		take_part(member->team, member->number);
	return NULL;
}

static int refused(const struct team *team, unsigned int n, int code, struct error *error)
{
	error_set_errno(error, code, "cannot start thread %u of %u", team->n + 1, n);
	error_append(error, "ask for fewer --threads, or raise LimitNPROC (ulimit -u) and TasksMax "
			    "(pids.max of the control group)");
	return code;
}

static int start(struct team *team, unsigned int n, struct error *error)
{
	while (team->n < n) {
		struct team_member *member = &team->members[team->n];
		int code;

		*member = (struct team_member){.team = team, .number = team->n};
		code = watch_start_thread(&member->thread, run, member);
		if (code)
			return refused(team, n, code, error);
		team->n++;
	}
	return 0;
}

int team_open(struct team *team, unsigned int n, struct error *error)
{
	int code;

	*team = (struct team){
		.n = 1,
		.members = calloc(n, sizeof(*team->members)),
		.alarms = calloc(n, sizeof(struct alarm *)),
	};
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->changed, NULL);
	if (team->members && team->alarms)
		code = start(team, n, error);
	else
		code = memory_refused(error, "start threads");
	if (code)
		team_close(team);
	return code;
}

void team_close(struct team *team)
{
	if (!team->n)
		return;
	pthread_mutex_lock(&team->lock);
	team->is_ending = true;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	for (unsigned int i = 1; i < team->n; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->lock);
	free(team->members);
	free(team->alarms);
	*team = (struct team){0};
}

static int order(struct team *team, team_job *job, void *whole, unsigned int turn)
{
	int code;

	pthread_mutex_lock(&team->lock);
	team->job = job;
	team->whole = whole;
	team->turn = turn;
	team->busy = turn == TEAM_ALL ? team->n : 1;
	team->here = 0;
	team->orders++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	if (!turn || turn == TEAM_ALL)
		take_part(team, 0);
	pthread_mutex_lock(&team->lock);
	while (team->busy)
		pthread_cond_wait(&team->changed, &team->lock);
	code = team->fault.code;
	pthread_mutex_unlock(&team->lock);
	return code;
}

int team_all(struct team *team, team_job *job, void *whole, struct error *error)
{
	team->fault = (struct error){0};
	if (order(team, job, whole, TEAM_ALL))
		error_set(error, team->fault.code, "%s", team->fault.text);
	return team->fault.code;
}

int team_each(struct team *team, team_job *job, void *whole, struct error *error)
{
	team->fault = (struct error){0};
	for (unsigned int i = 0; i < team->n && !team->fault.code; i++)
		if (order(team, job, whole, i))
			error_set(error, team->fault.code, "%s", team->fault.text);
	return team->fault.code;
}

int team_meet(struct team *team, void (*met)(void *whole), struct error *error)
{
	unsigned int meeting;
	int code = 0;

	pthread_mutex_lock(&team->lock);
	meeting = team->meetings;
	if (++team->here == team->n && !team->fault.code) {
		if (met)
			met(team->whole);
		team->here = 0;
		team->meetings++;
		pthread_cond_broadcast(&team->changed);
	}
	while (team->meetings == meeting && !team->fault.code)
		pthread_cond_wait(&team->changed, &team->lock);
	if (team->meetings == meeting)
		code = error_set(error, team->fault.code, "%s", team->fault.text);
	pthread_mutex_unlock(&team->lock);
	return code;
}
