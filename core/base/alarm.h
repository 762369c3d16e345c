/* SPDX-License-Identifier: MIT */
/*
 * Ends waits from another thread. Any thread may raise an alarm; the first reason is kept.
 * A waiting loop checks alarm_raised after each empty poll, and a sleeping one includes
 * alarm.fd in its poll(2).
 */
#ifndef CORE_BASE_ALARM_H
#define CORE_BASE_ALARM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/error.h"

struct alarm {
	bool is_open;
	atomic_bool raised;
	int fd; /* an eventfd, readable once raised */
	pthread_mutex_t lock;
	struct error reason;
	bool canceled; /* raised with -ECANCELED, which a reset keeps */
	char note[96]; /* a non-fatal circumstance, appended to a later failure */
};

int alarm_open(struct alarm *alarm, struct error *error);
void alarm_close(struct alarm *alarm); /* a zeroed one is fine */

/*
 * Raises the alarm. -ETIMEDOUT becomes -ECONNABORTED, since waits return the former when
 * their own time limit expires, after which some callers wait again.
 */
void alarm_raise(struct alarm *alarm, int code, const char *reason);

/* Resets the alarm for the next connection, unless it was raised with -ECANCELED. */
void alarm_reset(struct alarm *alarm);

/* Resets the alarm unconditionally. */
void alarm_clear(struct alarm *alarm);

/* Remembers a circumstance for alarm_explain. */
void alarm_note(struct alarm *alarm, const char *note);

static ALWAYS_INLINE bool alarm_raised(const struct alarm *alarm)
{
	return atomic_load_explicit(&alarm->raised, memory_order_acquire);
}

/* Sets the alarm's reason as the error. Returns its code. */
COLD int alarm_reason(struct alarm *alarm, struct error *error);

/* Appends the remembered circumstance, if any, to an error that is set. */
COLD void alarm_explain(struct alarm *alarm, struct error *error);

#endif
