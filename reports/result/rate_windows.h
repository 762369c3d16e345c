/* SPDX-License-Identifier: MIT */
/*
 * Messages per window of time, in fixed memory however long it takes: when more than
 * RATE_WINDOWS_MAX windows would be needed, neighbours are merged in pairs, and a window is
 * twice as long. A window begins with its first nanosecond and ends before that of the
 * next. No message is ever lost: those that no whole window holds are in rest. One
 * thread adds.
 */
#ifndef REPORTS_RESULT_RATE_WINDOWS_H
#define REPORTS_RESULT_RATE_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/hist.h"

#define RATE_WINDOWS_MAX 4096

/* Of so many messages a window tells a rate, and of fewer how they happened to fall. */
#define RATE_WINDOWS_MESSAGES 100

struct rate_windows {
	uint64_t window_ns;
	size_t count;
	uint64_t rest;     /* messages outside of the windows */
	uint64_t begin_ns; /* of the window that was added to last, */
	uint64_t end_ns;   /* and its end */
	size_t current;
	uint64_t messages[RATE_WINDOWS_MAX];
};

/* window_ns is not 0. */
void rate_windows_init(struct rate_windows *windows, uint64_t window_ns);

/* For rate_windows_add: moves to the window of another time. */
void rate_windows_move(struct rate_windows *windows, uint64_t at_ns);

/* So many messages were seen to be complete at this time since the start. */
static ALWAYS_INLINE void rate_windows_add(struct rate_windows *windows, uint64_t at_ns,
					   uint64_t messages)
{
	if (unlikely(at_ns < windows->begin_ns || at_ns >= windows->end_ns))
		rate_windows_move(windows, at_ns);
	windows->messages[windows->current] += messages;
}

/*
 * Nothing is added after this, the rest is for finished ones. What lies beyond the last
 * whole window of that duration is in rest; windows at the end in which nothing came
 * count, as zero.
 */
void rate_windows_finish(struct rate_windows *windows, uint64_t duration_ns);

/* For messages of which nobody knows when they came: no windows, and all are in rest. */
void rate_windows_forget(struct rate_windows *windows, uint64_t messages);

/*
 * Merges until the mean window holds that many messages, or one window is left. An odd
 * one at the end is half a window then, so it joins the rest.
 */
void rate_windows_coarsen(struct rate_windows *windows, uint64_t least_messages);

/*
 * Lays windows of the same time over these, those of another thread: both are not finished,
 * began at the same moment, and with windows of one length.
 */
void rate_windows_lay_over(struct rate_windows *into, const struct rate_windows *from);

/*
 * Puts the windows of another trial behind these, merging the finer ones, and both
 * where there would be too many. Their lengths have to differ by a power of two,
 * else -EINVAL, and nothing is changed.
 */
int rate_windows_append(struct rate_windows *into, const struct rate_windows *from,
			struct error *error);

/*
 * Messages of that time, of windows that are not finished: a part of one has its share. The last
 * one is as long as it was until messages were counted no longer.
 */
double rate_windows_between(const struct rate_windows *windows, uint64_t counted_ns,
			    uint64_t from_ns, uint64_t until_ns);

/* All messages, with those in rest. */
uint64_t rate_windows_total(const struct rate_windows *windows);

/* Bytes per second of one window. */
uint64_t rate_windows_rate(const struct rate_windows *windows, size_t window,
			   uint64_t message_bytes);

/* The distribution of that; hist, initialised or zeroed, is overwritten. */
void rate_windows_fill(const struct rate_windows *windows, uint64_t message_bytes,
		       struct hist *hist);

#endif
