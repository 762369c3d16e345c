/* SPDX-License-Identifier: MIT */
/*
 * Messages per throughput window, in fixed memory for any duration: when more than
 * RATE_WINDOWS_MAX windows would be needed, adjacent windows are merged in pairs, which doubles
 * their length. A window includes its start and excludes its end. No message is ever lost: those
 * outside all whole windows are counted in rest. Only one thread may add.
 */
#ifndef REPORTS_RESULT_RATE_WINDOWS_H
#define REPORTS_RESULT_RATE_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/base/hist.h"

#define RATE_WINDOWS_MAX 4096

/* With fewer messages per window, chance dominates the rate of a window. */
#define RATE_WINDOWS_MESSAGES 100

struct rate_windows {
	uint64_t window_ns;
	size_t count;
	uint64_t rest;     /* messages outside all windows */
	uint64_t begin_ns; /* start and end of the current window */
	uint64_t end_ns;
	size_t current; /* the window that was last added to */
	uint64_t messages[RATE_WINDOWS_MAX];
};

/* window_ns must not be 0. */
void rate_windows_init(struct rate_windows *windows, uint64_t window_ns);

/* Makes the window at at_ns current. For rate_windows_add only. */
void rate_windows_move(struct rate_windows *windows, uint64_t at_ns);

/* Counts messages that completed at at_ns after the start. */
static ALWAYS_INLINE void rate_windows_add(struct rate_windows *windows, uint64_t at_ns,
					   uint64_t messages)
{
	if (unlikely(at_ns < windows->begin_ns || at_ns >= windows->end_ns))
		rate_windows_move(windows, at_ns);
	windows->messages[windows->current] += messages;
}

/*
 * Ends counting; nothing may be added afterwards. Messages after the last whole window of the
 * duration move to rest. Windows without messages at the end are kept.
 */
void rate_windows_finish(struct rate_windows *windows, uint64_t duration_ns);

/* Drops all windows and sets rest, for messages whose times are unknown. */
void rate_windows_forget(struct rate_windows *windows, uint64_t messages);

/*
 * Merges pairs until windows hold that many messages on average, or one window is left. An odd
 * window at the end would become half a window, and moves to rest instead. Windows are finished.
 */
void rate_windows_coarsen(struct rate_windows *windows, uint64_t least_messages);

/*
 * Adds the windows of another thread. Neither may be finished, and both must have started at the
 * same time with windows of the same length.
 */
void rate_windows_lay_over(struct rate_windows *into, const struct rate_windows *from);

/*
 * Appends the finished windows of another trial. Merges the finer windows, and both if there would
 * be too many. Returns -EINVAL and changes nothing unless the lengths differ by a power of two.
 */
int rate_windows_append(struct rate_windows *into, const struct rate_windows *from,
			struct error *error);

/*
 * Returns the messages between two times, from unfinished windows. A window that is only partly
 * inside counts in proportion. The last window ends at counted_ns, when counting stopped.
 */
double rate_windows_between(const struct rate_windows *windows, uint64_t counted_ns,
			    uint64_t from_ns, uint64_t until_ns);

/* Returns the number of all messages, including rest. */
uint64_t rate_windows_total(const struct rate_windows *windows);

/* Returns the bytes per second of one window. */
uint64_t rate_windows_rate(const struct rate_windows *windows, size_t window,
			   uint64_t message_bytes);

/* Overwrites hist, which is initialized or zeroed, with the bytes per second of all windows. */
void rate_windows_fill(const struct rate_windows *windows, uint64_t message_bytes,
		       struct hist *hist);

#endif
