/* SPDX-License-Identifier: MIT */
/*
 * Timeouts of connection states: a timer on the service thread.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/soft/cm/cm.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

static void on_timer(struct soft_source *source, uint32_t events);

static struct soft_source timer = {.fd = -1, .ready = on_timer};
static struct soft_cm_id *timed;

static void arm(void)
{
	uint64_t earliest = 0;

	for (struct soft_cm_id *id = timed; id; id = id->next_timed)
		if (!earliest || id->due_ns < earliest)
			earliest = id->due_ns;
	soft_service_set_timer(&timer, earliest);
}

static struct soft_cm_id *find_due(uint64_t now_ns)
{
	struct soft_cm_id *id = timed;

	while (id && id->due_ns > now_ns)
		id = id->next_timed;
	return id;
}

static void on_timer(struct soft_source *source, uint32_t events)
{
	struct soft_cm_id *id;
	uint64_t count;

	pthread_mutex_lock(&soft_cm_mutex);
	if (read(source->fd, &count, sizeof(count)) < 0)
		errno = 0; /* the timer was set again in the meantime */
	while ((id = find_due(soft_time_ns()))) {
		soft_cm_timer_clear(id);
		soft_cm_expire(id);
	}
	arm();
	pthread_mutex_unlock(&soft_cm_mutex);
}

int soft_cm_timer_open(void)
{
	int result;

	timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer.fd < 0)
		return -errno;
	result = soft_service_add(&soft_process.service, &timer);
	if (!result)
		return 0;
	close(timer.fd);
	timer.fd = -1;
	return result;
}

void soft_cm_timer_set(struct soft_cm_id *id, uint64_t after_ms)
{
	soft_cm_timer_clear(id);
	id->due_ns = soft_time_ns() + after_ms * (SOFT_SECOND_NS / 1000);
	id->next_timed = timed;
	timed = id;
	arm();
}

void soft_cm_timer_clear(struct soft_cm_id *id)
{
	struct soft_cm_id **at = &timed;

	if (!id->due_ns)
		return;
	while (*at != id)
		at = &(*at)->next_timed;
	*at = id->next_timed;
	id->due_ns = 0;
}

void soft_cm_timer_forget(void)
{
	timer.fd = -1;
	timed = NULL;
}
