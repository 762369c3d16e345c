/* SPDX-License-Identifier: MIT */
#include "core/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"

#define TICK_MS 100

/*
 * lifecycle is held while the thread is started or ended, lock while the list is
 * used; who needs both takes lifecycle first. Callbacks run under lock.
 */
static pthread_mutex_t lifecycle = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *watches;
static size_t n_watches;
static size_t n_ticking;
static pthread_t thread;
static int wake_fd = -1;
static bool ending;

static void wake(void)
{
	uint64_t one = 1;

	if (write(wake_fd, &one, sizeof(one)) < 0)
		return; /* only a full counter refuses, and that one is readable */
}

static void call(const struct pollfd *fds, size_t n_fds)
{
	uint64_t now = clock_now_ns();

	for (struct watch *watch = watches; watch; watch = watch->next) {
		for (size_t i = 1; i < n_fds; i++) {
			if (fds[i].fd == watch->fd && fds[i].revents) {
				watch->ready(watch);
				break;
			}
		}
		if (watch->tick)
			watch->tick(watch, now);
	}
}

/* Returns the number of descriptors to poll, or 0 when the thread is to end. */
static size_t list(struct pollfd **fds, size_t *room)
{
	size_t n = 0;

	if (ending)
		return 0;
	if (*room < n_watches + 1) {
		struct pollfd *larger = realloc(*fds, 2 * (n_watches + 1) * sizeof(*larger));

		/* Without memory for all of them, those that there is room for. */
		if (larger) {
			*fds = larger;
			*room = 2 * (n_watches + 1);
		}
	}
	if (*room)
		(*fds)[n++] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
	for (struct watch *watch = watches; watch && n < *room; watch = watch->next)
		(*fds)[n++] = (struct pollfd){.fd = watch->fd, .events = POLLIN};
	return n ? n : 1;
}

static void *run(void *argument)
{
	struct pollfd *fds = NULL;
	size_t room = 0;

	for (;;) {
		uint64_t count;
		int timeout;
		size_t n;

		pthread_mutex_lock(&lock);
		n = list(&fds, &room);
		timeout = n_ticking || !room ? TICK_MS : -1;
		pthread_mutex_unlock(&lock);
		if (!n)
			break;
		if (poll(fds, room ? n : 0, timeout) < 0)
			continue;
		if (room && fds[0].revents && read(wake_fd, &count, sizeof(count)) < 0)
			continue;
		pthread_mutex_lock(&lock);
		call(fds, n);
		pthread_mutex_unlock(&lock);
	}
	free(fds);
	return NULL;
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

static int start(struct error *error)
{
	int code;

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	ending = false;
	code = watch_start_thread(&thread, run, NULL);
	if (code) {
		close(wake_fd);
		return error_set_errno(error, code, "cannot start the watcher thread");
	}
	return 0;
}

static void stop(void)
{
	pthread_mutex_lock(&lock);
	ending = true;
	pthread_mutex_unlock(&lock);
	wake();
	pthread_join(thread, NULL);
	close(wake_fd);
}

int watch_add(struct watch *watch, struct error *error)
{
	int code = 0;

	pthread_mutex_lock(&lifecycle);
	if (!n_watches)
		code = start(error);
	if (!code) {
		pthread_mutex_lock(&lock);
		watch->next = watches;
		watch->link = &watches;
		if (watches)
			watches->link = &watch->next;
		watches = watch;
		n_watches++;
		n_ticking += watch->tick != NULL;
		pthread_mutex_unlock(&lock);
		wake();
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
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
	watch->link = NULL;
	n_watches--;
	n_ticking -= watch->tick != NULL;
	pthread_mutex_unlock(&lock);
	/* A descriptor that is being polled closes only once it is no more. */
	if (n_watches)
		wake();
	else
		stop();
	pthread_mutex_unlock(&lifecycle);
}

void watch_visit(const struct watch *watch, void (*visit)(struct watch *watch, void *argument),
		 void *argument)
{
	for (struct watch *other = watches; other; other = other->next)
		if (other->fd == watch->fd && other->ready == watch->ready)
			visit(other, argument);
}
