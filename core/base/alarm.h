/* SPDX-License-Identifier: MIT */
/*
 * What ends a wait from outside. Any thread may raise it, once; the reason of the
 * first one stays. A waiting loop looks at alarm_raised after each empty poll;
 * who sleeps has alarm.fd in its poll(2).
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
	bool cancelled; /* by -ECANCELED: a reset does not undo that */
	char note[96];  /* seen, not fatal: put behind the reason of a later failure */
};

int alarm_open(struct alarm *alarm, struct error *error);
void alarm_close(struct alarm *alarm); /* a zeroed one is fine */

/*
 * -ETIMEDOUT becomes -ECONNABORTED: who waits has the former for the end of his own time, after
 * which some wait on.
 */
void alarm_raise(struct alarm *alarm, int code, const char *reason);

/* For the next connection, unless it was raised with -ECANCELED. */
void alarm_reset(struct alarm *alarm);

/* The same whatever it was raised with. */
void alarm_clear(struct alarm *alarm);

/* Remembers a circumstance. */
void alarm_note(struct alarm *alarm, const char *note);

static ALWAYS_INLINE bool alarm_raised(const struct alarm *alarm)
{
	return atomic_load_explicit(&alarm->raised, memory_order_acquire);
}

/* Sets the alarm's reason as the error. Returns its code. */
COLD int alarm_reason(struct alarm *alarm, struct error *error);

/* Puts the circumstance remembered, if any, behind an error that is set. */
COLD void alarm_explain(struct alarm *alarm, struct error *error);

#endif
