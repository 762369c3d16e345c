/* SPDX-License-Identifier: MIT */
/*
 * Completions of one CQ, and waiting for them in its completion mode. To sleep, a thread
 * drains the CQ, arms it, drains it again and then sleeps, so that a completion between the
 * two drains is neither lost nor delayed. After waking, it drains the CQ first and takes
 * the event before re-arming. Events are acknowledged in batches. A raised alarm ends every
 * wait; it is checked only after an empty poll.
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
	unsigned int vector;               /* completion vector of the events */
	struct ibv_moderate_cq moderation; /* of events; cq_count 0: none */
	bool armed;                        /* armed since the last event */
	bool rung;          /* the channel woke a sleeper, but its event is not taken yet */
	unsigned int taken; /* events not yet acknowledged */
	uint64_t events;    /* total: woke a sleeper or were taken */
	/* With timestamps: */
	bool is_timed;           /* requested, before completion_open */
	bool is_counter;         /* of clock_ticks for woken */
	struct ibv_cq_ex *timed; /* the same CQ; NULL: without timestamps */
	uint64_t stamp;          /* of the last completion taken, in cycles of the device */
	uint64_t woken;          /* ticks when the last sleep ended */
};

/*
 * Creates channel and CQ, armed unless the mode is RDMA_POLL. The alarm belongs to the caller. Fails
 * if the device lacks requested timestamps.
 */
int completion_open(struct completion *completion, struct ibv_context *verbs, uint32_t depth,
		    struct alarm *alarm, struct error *error);

/* Destroys both, after acknowledging all events: otherwise ibv_destroy_cq would wait forever. */
int completion_close(struct completion *completion);

/*
 * Prepares the CQ for new queue pairs after all old ones are gone: discards their
 * completions and events, and arms it as completion_open does.
 */
int completion_reset(struct completion *completion, struct error *error);

/* Returns the number of completions taken, or a negative errno. */
static ALWAYS_INLINE int completion_poll(struct completion *completion, int max, struct ibv_wc *wc)
{
	return ibv_poll_cq(completion->cq, max, wc);
}

/* Takes at most one completion, and its timestamp if it is successful. */
int completion_poll_timed(struct completion *completion, struct ibv_wc *wc);

/* Makes the next completion raise an event. */
static inline int completion_arm(struct completion *completion)
{
	int code = ibv_req_notify_cq(completion->cq, 0);

	completion->armed = !code;
	return code;
}

COLD int completion_poll_failed(struct error *error);

/*
 * Takes an event if one is pending, for callers with a sleep of their own. Returns 1, 0 or
 * a negative errno.
 */
int completion_take_event(struct completion *completion, struct error *error);

/* The slow path of completion_wait, after an empty poll. */
int completion_wait_on(struct completion *completion, int max, struct ibv_wc *wc,
		       uint64_t timeout_ns, struct error *error);

/*
 * Waits for completions in the CQ's completion mode and takes at most max. Returns their
 * number; -ETIMEDOUT after timeout_ns (UINT64_MAX: never), without setting the error; or
 * another negative errno with the error set: the alarm's reason, or the failure of poll(2).
 * Polling reads the clock only once the wait gets long.
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

/* The same for one completion and its timestamp. */
static ALWAYS_INLINE int completion_wait_timed(struct completion *completion, struct ibv_wc *wc,
					       uint64_t timeout_ns, struct error *error)
{
	int got = completion_poll_timed(completion, wc);

	if (got > 0)
		return got;
	return unlikely(got < 0) ? completion_poll_failed(error)
				 : completion_wait_on(completion, 1, wc, timeout_ns, error);
}

#endif
