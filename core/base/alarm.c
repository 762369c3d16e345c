/* SPDX-License-Identifier: MIT */
#include "core/base/alarm.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

int alarm_open(struct alarm *alarm, struct error *error)
{
	*alarm = (struct alarm){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (alarm->fd < 0)
		return error_set_errno(error, -errno, "cannot create an eventfd");
	pthread_mutex_init(&alarm->lock, NULL);
	alarm->is_open = true;
	return 0;
}

void alarm_close(struct alarm *alarm)
{
	if (!alarm->is_open)
		return;
	close(alarm->fd);
	pthread_mutex_destroy(&alarm->lock);
	alarm->fd = -1;
	alarm->is_open = false;
}

void alarm_raise(struct alarm *alarm, int code, const char *reason)
{
	uint64_t one = 1;

	if (code == -ETIMEDOUT)
		code = -ECONNABORTED;
	pthread_mutex_lock(&alarm->lock);
	if (code == -ECANCELED && !alarm->canceled) {
		alarm->canceled = true;
		alarm->reason.code = 0;
	}
	error_set(&alarm->reason, code, "%s", reason);
	atomic_store_explicit(&alarm->raised, true, memory_order_release);
	if (write(alarm->fd, &one, sizeof(one)) < 0)
		one = 0; /* fails only if the counter is full, and then the fd is readable */
	pthread_mutex_unlock(&alarm->lock);
}

static void quieten(struct alarm *alarm)
{
	uint64_t count;

	atomic_store_explicit(&alarm->raised, false, memory_order_relaxed);
	alarm->reason = (struct error){0};
	alarm->note[0] = '\0';
	if (read(alarm->fd, &count, sizeof(count)) < 0)
		count = 0; /* it was not raised */
}

void alarm_reset(struct alarm *alarm)
{
	pthread_mutex_lock(&alarm->lock);
	if (!alarm->canceled)
		quieten(alarm);
	pthread_mutex_unlock(&alarm->lock);
}

void alarm_clear(struct alarm *alarm)
{
	pthread_mutex_lock(&alarm->lock);
	alarm->canceled = false;
	quieten(alarm);
	pthread_mutex_unlock(&alarm->lock);
}

void alarm_note(struct alarm *alarm, const char *note)
{
	pthread_mutex_lock(&alarm->lock);
	snprintf(alarm->note, sizeof(alarm->note), "%s", note);
	pthread_mutex_unlock(&alarm->lock);
}

int alarm_reason(struct alarm *alarm, struct error *error)
{
	int code;

	pthread_mutex_lock(&alarm->lock);
	code = alarm->reason.code;
	error_set(error, code, "%s", alarm->reason.text);
	pthread_mutex_unlock(&alarm->lock);
	return code;
}

void alarm_explain(struct alarm *alarm, struct error *error)
{
	pthread_mutex_lock(&alarm->lock);
	if (alarm->note[0])
		error_append(error, "%s", alarm->note);
	pthread_mutex_unlock(&alarm->lock);
}
