/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs whose first operation waits for a time: no receive at the other end, or
 * no answer. The service thread's timer tries them again, and so does an idle poll,
 * which is sooner.
 */
#ifndef CORE_SOFT_LINK_PROGRESS_H
#define CORE_SOFT_LINK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct soft_qp;

/* Has a queue pair tried again at that time. Under its private lock. */
void soft_progress_wait(struct soft_qp *qp, uint64_t until_ns);

/* Before it goes: nobody tries it any more. */
void soft_progress_leave(struct soft_qp *qp);

/* Tries those that are due. */
void soft_progress_due(uint64_t now_ns);

/* Flushes those that a peer has put into the error state. */
void soft_progress_failed(void);

/*
 * For an empty poll, of which there were that many in a row. Tries those that are due, and
 * says whether some may have been; and since whoever is to fill the queue may need this very
 * processor, now and then somebody else gets it.
 */
bool soft_progress_poll(uint32_t idle_polls);

/*
 * On a link: the program is about to sleep, so that the timer has to be on time. While it
 * polls, the timer only looks whether it still does.
 */
void soft_progress_sleep(void);

/* On a link: somebody has polled. */
void soft_progress_polled(void);

/* The timer has fired. */
void soft_progress_timer(uint64_t now_ns);

/* In a forked child, and when the device is opened: none waits here. */
void soft_progress_forget(void);

#endif
