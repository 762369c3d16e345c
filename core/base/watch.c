/* SPDX-License-Identifier: MIT */
#include "core/base/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/clock.h"

/* Events taken per epoll_wait. */
#define EVENTS 16

/*
 * lifecycle is held while the thread is started or stopped, lock while the list is
 * accessed; lifecycle is locked first. Callbacks run with lock held.
 */
static pthread_mutex_t lifecycle = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *watches;
static size_t n_watches;
static uint64_t due_ns; /* the next tick; UINT64_MAX: none */
static pthread_t thread;
static int set_fd = -1;
static int wake_fd = -1;
static bool ending;

static void wake(void)
{
	uint64_t one = 1;

	if (write(wake_fd, &one, sizeof(one)) < 0)
		return; /* fails only if the counter is full, and then the fd is readable */
}

/* Returns whether another watch has the same descriptor. Call with lock held. */
static bool is_shared(const struct watch *watch, int fd)
{
	for (const struct watch *other = watches; other; other = other->next)
		if (other != watch && other->fd == fd)
			return true;
	return false;
}

/* The kernel updates the set even while a thread sleeps on it, so no wake-up is needed. */
static int include(const struct watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.fd = watch->fd}};

	if (watch->fd < 0 || is_shared(watch, watch->fd))
		return 0;
	return epoll_ctl(set_fd, EPOLL_CTL_ADD, watch->fd, &event) ? -errno : 0;
}

static void exclude(const struct watch *watch, int fd)
{
	if (fd >= 0 && !is_shared(watch, fd))
		epoll_ctl(set_fd, EPOLL_CTL_DEL, fd, NULL);
}

static bool is_ready(const struct watch *watch, const struct epoll_event *events, int n_events)
{
	for (int i = 0; i < n_events; i++)
		if (events[i].data.fd == watch->fd)
			return watch->fd >= 0;
	return false;
}

static void call(const struct epoll_event *events, int n_events)
{
	uint64_t now = clock_now_ns();

	due_ns = UINT64_MAX;
	for (struct watch *watch = watches; watch; watch = watch->next) {
		int fd = watch->fd;
		uint64_t next;

		if (is_ready(watch, events, n_events))
			watch->ready(watch);
		next = watch->tick ? watch->tick(watch, now) : UINT64_MAX;
		if (next < due_ns)
			due_ns = next;
		if (watch->fd != fd)
			exclude(watch, fd);
	}
}

static void *watch_run(void *unused)
{
	for (;;) {
		struct epoll_event events[EVENTS];
		int timeout;
		int got;

		pthread_mutex_lock(&lock);
		timeout = ending ? 0 : due_ns == UINT64_MAX ? -1 : clock_left_ms(due_ns);
		pthread_mutex_unlock(&lock);
		got = epoll_wait(set_fd, events, EVENTS, timeout);
		pthread_mutex_lock(&lock);
		if (ending) {
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		/*
		 * After an interrupted wait, nothing is known about readiness, so no callback
		 * runs.
		 */
		if (got >= 0)
			call(events, got);
		pthread_mutex_unlock(&lock);
	}
}

int watch_start_thread(pthread_t *started, void *(*function)(void *), void *argument)
{
	sigset_t all;
	sigset_t old;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	code = -pthread_create(started, NULL, function, argument);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return code;
}

static int open_set(struct error *error)
{
	/* Edge-triggered, so that no thread needs to read the eventfd. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	event.data.fd = wake_fd;
	set_fd = epoll_create1(EPOLL_CLOEXEC);
	if (set_fd < 0 || epoll_ctl(set_fd, EPOLL_CTL_ADD, wake_fd, &event))
		return error_set_errno(error, -errno, "cannot watch descriptors");
	return 0;
}

static void close_set(void)
{
	if (set_fd >= 0)
		close(set_fd);
	if (wake_fd >= 0)
		close(wake_fd);
	set_fd = wake_fd = -1;
}

static int watch_start(struct error *error)
{
	int code = open_set(error);

	ending = false;
	due_ns = UINT64_MAX;
	if (!code) {
		code = watch_start_thread(&thread, watch_run, NULL);
		if (code)
			error_set_errno(error, code, "cannot start the watcher thread");
	}
	if (code)
		close_set();
	return code;
}

static void watch_stop(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_mutex_unlock(&lock);
	wake();
	pthread_join(thread, NULL);
	close_set();
}

/* Call with lock held. */
static int link_in(struct watch *watch)
{
	int code = include(watch);

	if (code)
		return code;
	watch->next = watches;
	watch->link = &watches;
	if (watches)
		watches->link = &watch->next;
	watches = watch;
	n_watches++;
	/* The thread may be about to sleep for longer than the new tick allows. */
	if (watch->tick)
		wake();
	return 0;
}

int watch_add(struct watch *watch, struct error *error)
{
	int code = 0;

	pthread_mutex_lock(&lifecycle);
	if (!n_watches)
		code = watch_start(error);
	if (!code) {
		pthread_mutex_lock(&lock);
		code = link_in(watch);
		pthread_mutex_unlock(&lock);
		if (code)
			error_set_errno(error, code, "cannot watch a descriptor");
		if (code && !n_watches)
			watch_stop();
	}
	pthread_mutex_unlock(&lifecycle);
	return code;
}

void watch_remove(struct watch *watch)
{
	if (!watch->link)
		return;
	pthread_mutex_lock(&lifecycle);
	pthread_mutex_lock(&lock);
	exclude(watch, watch->fd);
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
	watch->link = NULL;
	n_watches--;
	pthread_mutex_unlock(&lock);
	if (!n_watches)
		watch_stop();
	pthread_mutex_unlock(&lifecycle);
}

void watch_visit(const struct watch *watch, void (*connection)(struct watch *watch, void *argument),
		 void *argument)
{
	for (struct watch *other = watches; other; other = other->next)
		if (other->fd == watch->fd && other->ready == watch->ready)
			connection(other, argument);
}
