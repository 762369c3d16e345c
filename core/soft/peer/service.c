/* SPDX-License-Identifier: MIT */
#include "core/soft/peer/service.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/link/progress.h"
#include "core/soft/op/event.h"
#include "core/soft/op/moderation.h"
#include "core/soft/peer/mapping.h"
#include "core/soft/time.h"

static _Thread_local bool is_this_thread;

static uint64_t drain(int fd)
{
	uint64_t count = 0;

	if (read(fd, &count, sizeof(count)) < 0)
		return 0;
	return count;
}

static void on_doorbell(struct soft_source *source, uint32_t events)
{
	drain(source->fd);
	soft_event_distribute();
	soft_moderation_run();
	soft_progress_failed();
	soft_mappings_sweep();
}

static void on_timer(struct soft_source *source, uint32_t events)
{
	drain(source->fd);
	soft_progress_timer(soft_time_ns());
}

static void on_moderation(struct soft_source *source, uint32_t events)
{
	drain(source->fd);
	soft_moderation_run();
}

static struct soft_source timer(void (*ready)(struct soft_source *source, uint32_t events))
{
	return (struct soft_source){timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				    ready};
}

int soft_service_add(struct soft_service *service, struct soft_source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	return epoll_ctl(service->epoll, EPOLL_CTL_ADD, source->fd, &event) ? -errno : 0;
}

void soft_service_remove(struct soft_service *service, struct soft_source *source)
{
	epoll_ctl(service->epoll, EPOLL_CTL_DEL, source->fd, NULL);
}

int soft_service_open(struct soft_service *service)
{
	int result;

	memset(service, 0, sizeof(*service));
	service->epoll = epoll_create1(EPOLL_CLOEXEC);
	service->doorbell =
		(struct soft_source){eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), on_doorbell};
	service->timer = timer(on_timer);
	service->moderation = timer(on_moderation);
	if (service->epoll < 0 || service->doorbell.fd < 0 || service->timer.fd < 0 ||
	    service->moderation.fd < 0)
		result = -errno;
	else
		result = soft_service_add(service, &service->doorbell);
	if (!result)
		result = soft_service_add(service, &service->timer);
	if (!result)
		result = soft_service_add(service, &service->moderation);
	if (result)
		soft_service_close(service);
	return result;
}

/* Handles one event at a time, so that a source may free itself and others. */
static void *serve(void *argument)
{
	struct soft_service *service = argument;
	struct epoll_event event;

	is_this_thread = true;
	while (atomic_load(&service->is_running)) {
		struct soft_source *source;

		if (epoll_wait(service->epoll, &event, 1, -1) <= 0)
			continue;
		source = event.data.ptr;
		source->ready(source, event.events);
	}
	return NULL;
}

int soft_service_start(struct soft_service *service)
{
	sigset_t all;
	sigset_t before;
	int result;

	atomic_store(&service->is_running, true);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&service->thread, NULL, serve, service);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result)
		atomic_store(&service->is_running, false);
	else
		pthread_setname_np(service->thread, "verbmark-soft");
	return -result;
}

static void close_one(int fd)
{
	if (fd > 0)
		close(fd);
}

void soft_service_close(struct soft_service *service)
{
	if (atomic_exchange(&service->is_running, false)) {
		soft_service_ring(service->doorbell.fd);
		pthread_join(service->thread, NULL);
	}
	close_one(service->doorbell.fd);
	close_one(service->timer.fd);
	close_one(service->moderation.fd);
	close_one(service->epoll);
	memset(service, 0, sizeof(*service));
}

void soft_service_set_timer(const struct soft_source *timer, uint64_t time_ns)
{
	const struct itimerspec when = {.it_value = soft_time_split(time_ns)};

	timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void soft_service_wake_at(struct soft_service *service, uint64_t time_ns)
{
	soft_service_set_timer(&service->timer, time_ns ? time_ns : 1);
}

bool soft_service_is_this_thread(void)
{
	return is_this_thread;
}

void soft_service_ring(int doorbell)
{
	uint64_t one = 1;
	/* Not a cancellation point: a posting thread holds locks that others wait for. */
	long written = syscall(SYS_write, doorbell, &one, sizeof(one));

	/* A full eventfd already wakes its reader. */
	(void)written;
}
