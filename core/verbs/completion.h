/* SPDX-License-Identifier: MIT */
/*
 * Completions of one CQ and the ways of waiting for them: poll, arm, drain, sleep.
 * The discipline of events is drain, arm, drain again, then sleep: what arrives
 * between the two drains is neither lost nor waited for. Who wakes up drains first:
 * the event is taken before the next arming, when there is nothing else to do, and
 * acknowledged in batches. An alarm ends every wait; it is looked at only after an
 * empty poll.
 */
#ifndef CORE_VERBS_COMPLETION_H
#define CORE_VERBS_COMPLETION_H

#include <infiniband/verbs.h>

#include "core/base/alarm.h"
#include "core/base/clock.h"
#include "core/rdma/rdma.h"

struct completion {
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	struct alarm *alarm;
	enum rdma_wait_mode mode;
	uint64_t spin_ns;
	unsigned int vector; /* of the device, that its events come by */
	bool armed;          /* no event has to be asked for before a sleep */
	bool rung;           /* the channel woke who slept, who has not looked at it yet */
	unsigned int taken;  /* events that are not acknowledged yet */
	uint64_t events;     /* ever: that woke somebody, or were taken */
};

/* Makes channel and CQ; who may sleep on it has it armed. The alarm is the caller's. */
int completion_open(struct completion *completion, struct ibv_context *verbs, uint32_t depth,
		    struct alarm *alarm, struct error *error);

/* Acknowledges what was taken: without it ibv_destroy_cq would wait for ever. */
int completion_close(struct completion *completion);

/*
 * For new queue pairs when there are none on it any more: what is left of the old ones
 * goes, completions and events, and it is armed as completion_open leaves it.
 */
int completion_reset(struct completion *completion, struct error *error);

/* The number of completions taken, 0 for none, or a negative errno. */
static ALWAYS_INLINE int completion_poll(struct completion *completion, int max, struct ibv_wc *wc)
{
	return ibv_poll_cq(completion->cq, max, wc);
}

/* The next completion raises an event. */
static inline int completion_arm(struct completion *completion)
{
	int code = ibv_req_notify_cq(completion->cq, 0);

	completion->armed = !code;
	return code;
}

COLD int completion_poll_failed(struct error *error);

/* For who sleeps by itself: takes one event if there is any: 1, 0, or a negative errno. */
int completion_take_event(struct completion *completion, struct error *error);

/* The rest of completion_wait, after a poll that was empty. */
int completion_wait_on(struct completion *completion, int max, struct ibv_wc *wc,
		       uint64_t timeout_ns, struct error *error);

/*
 * Waits for completions in the CQ's mode and takes at most max. Returns how many;
 * -ETIMEDOUT after timeout_ns (UINT64_MAX: never), with no error set; else a
 * negative errno with the error: the alarm's reason, or what poll(2) said. While it
 * polls, the clock is first read when the wait turns out to be long.
 */
static ALWAYS_INLINE int completion_wait(struct completion *completion, int max, struct ibv_wc *wc,
					 uint64_t timeout_ns, struct error *error)
{
	int got = completion_poll(completion, max, wc);

	if (likely(got > 0))
		return got;
	return unlikely(got < 0) ? completion_poll_failed(error)
				 : completion_wait_on(completion, max, wc, timeout_ns, error);
}

#endif
