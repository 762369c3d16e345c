/* SPDX-License-Identifier: MIT */
#include "core/soft/link/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "core/soft/op/qp.h"
#include "core/soft/op/send.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

enum {
	POLLS_TO_YIELD = 256,
	POLLS_TO_YIELD_MOST = 1024,
	/*
	 * With this many polls between two expirations of the timer, leave the work to the polls.
	 */
	OFTEN = 64,
	LATE_NS = 20000,
	GRACE_NS = 1000000,
};

#define EVERY_ROUND UINT64_MAX

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct soft_qp *waiting;
static _Atomic uint64_t earliest_ns = UINT64_MAX;
/* On a link: */
static _Atomic uint32_t polls;
static uint32_t polls_seen;
static bool is_polled; /* the timer only checks that polling continues */
static uint64_t timer_ns = UINT64_MAX;
static uint64_t last_round;

/*
 * Sets the timer, but later than requested while the program polls: otherwise, a message every few
 * microseconds would cost as many system calls and wakeups.
 */
static void set_timer(uint64_t time_ns)
{
	if (is_polled)
		time_ns += GRACE_NS;
	if (soft_process.link.is_on && timer_ns <= time_ns)
		return;
	timer_ns = time_ns;
	soft_service_wake_at(&soft_process.service, time_ns);
}

static void set_earliest(uint64_t time_ns)
{
	atomic_store(&earliest_ns, time_ns);
	if (time_ns != UINT64_MAX)
		set_timer(time_ns);
}

static void list(struct soft_qp *qp, uint64_t due_ns)
{
	if (qp->is_waiting)
		return;
	qp->due_ns = due_ns;
	qp->is_waiting = true;
	qp->next_waiting = waiting;
	waiting = qp;
}

void soft_progress_wait(struct soft_qp *qp, uint64_t until_ns)
{
	pthread_mutex_lock(&mutex);
	qp->wait_until_ns = until_ns;
	list(qp, until_ns);
	qp->due_ns = until_ns;
	if (until_ns < atomic_load(&earliest_ns))
		set_earliest(until_ns);
	pthread_mutex_unlock(&mutex);
}

static void unlist(struct soft_qp *qp)
{
	struct soft_qp **at = &waiting;

	if (!qp->is_waiting)
		return;
	while (*at != qp)
		at = &(*at)->next_waiting;
	*at = qp->next_waiting;
	qp->is_waiting = false;
}

void soft_progress_leave(struct soft_qp *qp)
{
	pthread_mutex_lock(&mutex);
	while (qp->is_tried)
		pthread_cond_wait(&idle, &mutex);
	unlist(qp);
	pthread_mutex_unlock(&mutex);
}

/* Skips queue pairs whose lock was busy in this round or a later one. */
static struct soft_qp *find_due(uint64_t now_ns, uint64_t round)
{
	struct soft_qp *qp = waiting;

	while (qp && (qp->is_tried || qp->missed_in >= round ||
		      (qp->due_ns > now_ns && atomic_load(&qp->image->state) != IBV_QPS_ERR)))
		qp = qp->next_waiting;
	return qp;
}

/*
 * Between ibv_wr_start and ibv_wr_complete the program holds the lock and may poll, so only the
 * service thread waits for it.
 */
static bool hold(struct soft_qp *qp)
{
	if (!soft_service_is_this_thread())
		return soft_lock_try(&qp->lock);
	soft_lock_take(&qp->lock);
	return true;
}

/* Releases the list's mutex during the attempt: a queue pair's lock must be taken first. */
static bool try(struct soft_qp *qp)
{
	bool is_held;

	unlist(qp);
	qp->is_tried = true;
	pthread_mutex_unlock(&mutex);
	is_held = hold(qp);
	if (is_held) {
		soft_send_run(qp);
		soft_lock_release(&qp->lock);
	}
	pthread_mutex_lock(&mutex);
	qp->is_tried = false;
	pthread_cond_broadcast(&idle);
	return is_held;
}

static void try_all(uint64_t now_ns)
{
	uint64_t round = ++last_round;
	uint64_t earliest = UINT64_MAX;
	struct soft_qp *qp;

	while ((qp = find_due(now_ns, round))) {
		if (try(qp))
			continue;
		qp->missed_in = round;
		list(qp, qp->due_ns < now_ns ? qp->due_ns : now_ns);
	}
	for (qp = waiting; qp; qp = qp->next_waiting)
		if (qp->due_ns < earliest)
			earliest = qp->due_ns;
	set_earliest(earliest);
}

void soft_progress_due(uint64_t now_ns)
{
	pthread_mutex_lock(&mutex);
	try_all(now_ns);
	pthread_mutex_unlock(&mutex);
}

void soft_progress_timer(uint64_t now_ns)
{
	uint32_t seen = polls_seen;

	pthread_mutex_lock(&mutex);
	timer_ns = UINT64_MAX;
	polls_seen = atomic_load(&polls);
	is_polled = soft_process.link.is_on && polls_seen - seen >= OFTEN &&
		    !find_due(now_ns - LATE_NS, EVERY_ROUND);
	if (is_polled)
		set_earliest(atomic_load(&earliest_ns));
	else
		try_all(now_ns);
	pthread_mutex_unlock(&mutex);
}

void soft_progress_sleep(void)
{
	pthread_mutex_lock(&mutex);
	is_polled = false;
	set_earliest(atomic_load(&earliest_ns));
	pthread_mutex_unlock(&mutex);
}

void soft_progress_polled(void)
{
	atomic_store_explicit(&polls, atomic_load_explicit(&polls, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/*
 * A queue pair that failed while it had nothing to wait for is in no list. Adds those first, so
 * that no private lock is awaited while the table's mutex is held.
 */
static void list_failed(void)
{
	struct soft_table *qps = &soft_process.qps;

	pthread_mutex_lock(&qps->mutex);
	pthread_mutex_lock(&mutex);
	for (uint32_t i = 0; i < qps->size; i++) {
		struct soft_qp *qp = soft_table_get(qps, i);

		if (qp && atomic_load(&qp->image->state) == IBV_QPS_ERR)
			list(qp, UINT64_MAX);
	}
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&qps->mutex);
}

void soft_progress_failed(void)
{
	list_failed();
	soft_progress_due(0);
}

/*
 * Returns whether no other thread has run on this CPU since this thread's last call. Returns false
 * if the system does not count context switches.
 */
static bool was_alone(void)
{
	static _Thread_local long losses;
	struct rusage usage;
	bool is_same;

	if (getrusage(RUSAGE_THREAD, &usage) || !(usage.ru_nvcsw || usage.ru_nivcsw))
		return false;
	is_same = usage.ru_nivcsw == losses;
	losses = usage.ru_nivcsw;
	return is_same;
}

/*
 * Yields the CPU after a multiple of POLLS_TO_YIELD. A message that arrives during the yield is
 * delayed by two system calls, which matters at a few microseconds, so the interval doubles while
 * no other thread has run. Returns whether it yielded.
 */
static COLD bool yield(uint32_t idle_polls)
{
	static _Thread_local uint32_t patience = POLLS_TO_YIELD;

	if (idle_polls % patience)
		return false;
	sched_yield();
	if (!was_alone())
		patience = POLLS_TO_YIELD;
	else if (patience < POLLS_TO_YIELD_MOST)
		patience *= 2;
	return true;
}

bool soft_progress_poll(uint32_t idle_polls)
{
	uint64_t earliest = atomic_load_explicit(&earliest_ns, memory_order_relaxed);
	bool has_yielded = false;
	uint64_t now_ns;

	if (unlikely(idle_polls % POLLS_TO_YIELD == 0))
		has_yielded = yield(idle_polls);
	if (likely(earliest == UINT64_MAX))
		return has_yielded;
	now_ns = soft_time_ns();
	if (now_ns < earliest || pthread_mutex_trylock(&mutex))
		return has_yielded;
	if (find_due(now_ns, EVERY_ROUND))
		atomic_fetch_add(&polls, OFTEN);
	try_all(now_ns);
	pthread_mutex_unlock(&mutex);
	return true;
}

void soft_progress_forget(void)
{
	pthread_mutex_init(&mutex, NULL);
	pthread_cond_init(&idle, NULL);
	waiting = NULL;
	is_polled = false;
	timer_ns = UINT64_MAX;
	atomic_store(&earliest_ns, UINT64_MAX);
}
