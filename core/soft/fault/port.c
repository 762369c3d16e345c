/* SPDX-License-Identifier: MIT */
/*
 * Link down, device removal, and the timer for scheduled faults. Anything that takes other locks
 * runs on the service thread.
 */
#include "core/soft/port.h"

#include <errno.h>
#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/device.h"
#include "core/soft/fault/fault.h"
#include "core/soft/op/qp.h"
#include "core/soft/peer/process.h"
#include "core/soft/time.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct soft_source timer = {.fd = -1};
static uint64_t armed_ns = UINT64_MAX;
static _Atomic uint64_t up_ns; /* 0: the link is up */
static _Atomic bool is_removed;
static bool is_removal_reported; /* the removal has been reported */

bool soft_fault_is_down(void)
{
	return atomic_load_explicit(&up_ns, memory_order_relaxed) != 0;
}

bool soft_fault_is_removed(void)
{
	return atomic_load_explicit(&is_removed, memory_order_relaxed);
}

void soft_fault_reset(void)
{
	atomic_store(&up_ns, 0);
	atomic_store(&is_removed, false);
	is_removal_reported = false;
	soft_fault_forget_messages();
}

/* Call with the mutex held. */
static void arm(uint64_t time_ns)
{
	armed_ns = time_ns;
	if (timer.fd >= 0 && time_ns != UINT64_MAX)
		soft_service_set_timer(&timer, time_ns);
}

void soft_fault_wake_at(uint64_t time_ns)
{
	pthread_mutex_lock(&mutex);
	if (time_ns < armed_ns)
		arm(time_ns);
	pthread_mutex_unlock(&mutex);
}

/* Publishes the state in the image for peers. */
static void publish(void)
{
	struct soft_image *image = soft_process.arena.image;

	atomic_store(&image->is_down, soft_fault_is_down() || soft_fault_is_removed());
}

void soft_fault_link_down(uint64_t for_ns)
{
	uint64_t until_ns = soft_time_ns() + for_ns;
	bool was_up = !atomic_exchange(&up_ns, until_ns);

	publish();
	if (was_up)
		soft_device_report(IBV_EVENT_PORT_ERR);
	soft_fault_wake_at(until_ns);
}

void soft_fault_remove(void)
{
	atomic_store(&is_removed, true);
	publish();
	soft_fault_wake_at(1);
}

/* Flushes the work of every queue pair, then reports the removal. */
static void report_removal(void)
{
	struct soft_table *qps = &soft_process.qps;

	is_removal_reported = true;
	pthread_mutex_lock(&qps->mutex);
	for (uint32_t i = 0; i < qps->size; i++)
		if (soft_table_get(qps, i))
			soft_qp_fail(&soft_process.self, i, SOFT_QP_NO_EVENT);
	pthread_mutex_unlock(&qps->mutex);
	soft_device_report(IBV_EVENT_DEVICE_FATAL);
	soft_fault_cm_remove();
}

static void on_timer(struct soft_source *source, uint32_t events)
{
	uint64_t now_ns = soft_time_ns();
	uint64_t next_ns;
	uint64_t expired;

	if (read(source->fd, &expired, sizeof(expired)) < 0)
		return;
	pthread_mutex_lock(&mutex);
	armed_ns = UINT64_MAX;
	pthread_mutex_unlock(&mutex);
	next_ns = soft_fault_clock(now_ns);
	next_ns = min_u64(next_ns, soft_fault_cm_due(now_ns));
	if (soft_fault_is_down() && atomic_load(&up_ns) <= now_ns) {
		atomic_store(&up_ns, 0);
		publish();
		soft_device_report(IBV_EVENT_PORT_ACTIVE);
	} else if (soft_fault_is_down()) {
		next_ns = min_u64(next_ns, atomic_load(&up_ns));
	}
	if (soft_fault_is_removed() && !is_removal_reported)
		report_removal();
	soft_fault_wake_at(next_ns);
}

int soft_fault_begin(void)
{
	int result;

	if (!soft_fault_is_planned)
		return 0;
	publish();
	timer = (struct soft_source){timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
				     on_timer};
	if (timer.fd < 0)
		return -errno;
	result = soft_service_add(&soft_process.service, &timer);
	if (!result) {
		armed_ns = UINT64_MAX;
		soft_fault_wake_at(1);
	}
	return result;
}

void soft_fault_end(void)
{
	if (timer.fd >= 0)
		close(timer.fd);
	timer.fd = -1;
}
