/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs whose first operation waits for a time, because the peer had no receive or did not
 * answer. The service thread's timer retries them; an idle poll does so too, usually sooner.
 */
#ifndef CORE_SOFT_LINK_PROGRESS_H
#define CORE_SOFT_LINK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct soft_qp;

/* Retries the queue pair at until_ns. Call with its private lock held. */
void soft_progress_wait(struct soft_qp *qp, uint64_t until_ns);

/* Stops retrying the queue pair. Call before it is destroyed. */
void soft_progress_leave(struct soft_qp *qp);

/* Retries those that are due. */
void soft_progress_due(uint64_t now_ns);

/* Flushes those that a peer has put into the error state. */
void soft_progress_failed(void);

/*
 * Called by an empty poll, with the number of empty polls in a row. Retries those that are due, and
 * yields now and then, since the process that would fill the queue may need this CPU. Returns
 * whether it did either, so that the queue may no longer be empty. A poll must then look again:
 * programs rely on a completion being visible no later than the peer's disconnect that follows it.
 */
bool soft_progress_poll(uint32_t idle_polls);

/*
 * On a link: call when the program is about to sleep, so that the timer must be on time. While the
 * program polls, the timer only checks that it still does.
 */
void soft_progress_sleep(void);

/* On a link: counts a poll. */
void soft_progress_polled(void);

/* Handles an expiration of the timer. */
void soft_progress_timer(uint64_t now_ns);

/* Resets all state, in a forked child and when the device is opened. */
void soft_progress_forget(void);

#endif
