/* SPDX-License-Identifier: MIT */
#include "core/verbs/completion.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "core/verbs/verbs.h"

/* Empty polls between two reads of the clock. */
#define POLLS_PER_LOOK 256
/* Events per acknowledgment: each acknowledgment takes a lock. */
#define ACKNOWLEDGE_AT 64
/* The watcher may report a lost device slightly after its channel closes. */
#define REASON_MS 100

static int moderate(struct completion *completion, struct error *error)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = completion->moderation,
	};
	int code = verbs_result(ibv_modify_cq(completion->cq, &attr));

	return code ? error_set_errno(error, code, "cannot moderate completion events") : 0;
}

static struct ibv_cq *create_timed(struct completion *completion, struct ibv_context *verbs,
				   uint32_t depth, struct ibv_comp_channel *channel)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = depth,
		.channel = channel,
		.comp_vector = completion->vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS | (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};

	completion->timed = ibv_create_cq_ex(verbs, &attr);
	return completion->timed ? ibv_cq_ex_to_cq(completion->timed) : NULL;
}

static struct ibv_cq *create_on(struct completion *completion, struct ibv_context *verbs,
				uint32_t depth, struct ibv_comp_channel *channel)
{
	if (completion->is_timed)
		return create_timed(completion, verbs, depth, channel);
	return ibv_create_cq(verbs, (int)depth, NULL, channel, (int)completion->vector);
}

/* Some devices of EFA have no events, which polling does not need. */
static struct ibv_cq *create(struct completion *completion, struct ibv_context *verbs,
			     uint32_t depth)
{
	struct ibv_cq *cq = create_on(completion, verbs, depth, completion->channel);

	if (!cq && errno == EOPNOTSUPP && completion->mode == RDMA_POLL)
		cq = create_on(completion, verbs, depth, NULL);
	return cq;
}

int completion_open(struct completion *completion, struct ibv_context *verbs, uint32_t depth,
		    struct alarm *alarm, struct error *error)
{
	int code;
	int flags;

	completion->alarm = alarm;
	completion->channel = ibv_create_comp_channel(verbs);
	if (!completion->channel)
		return error_set_errno(error, verbs_null(), "cannot create a completion channel");
	flags = fcntl(completion->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(completion->channel->fd, F_SETFL, flags | O_NONBLOCK))
		return error_set_errno(error, -errno, "cannot set up the completion channel");
	completion->cq = create(completion, verbs, depth);
	if (!completion->cq)
		return verbs_memory_error(error, verbs_null(), "create a completion queue");
	code = completion->moderation.cq_count ? moderate(completion, error) : 0;
	if (code)
		return code;
	if (completion->mode != RDMA_POLL && completion_arm(completion))
		return error_set_errno(error, -EIO, "cannot arm the completion queue");
	return 0;
}

int completion_close(struct completion *completion)
{
	int code = 0;

	if (completion->cq) {
		if (completion->taken)
			ibv_ack_cq_events(completion->cq, completion->taken);
		code = verbs_result(ibv_destroy_cq(completion->cq));
	}
	if (completion->channel) {
		int other = verbs_result(ibv_destroy_comp_channel(completion->channel));

		code = code ? code : other;
	}
	*completion = (struct completion){0};
	return code;
}

int completion_poll_failed(struct error *error)
{
	return error_set(error, -EIO, "cannot poll the completion queue; did it overrun?");
}

int completion_poll_timed(struct completion *completion, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr nothing = {0};
	struct ibv_cq_ex *cq = completion->timed;
	int code = ibv_start_poll(cq, &nothing);

	if (code)
		return code == ENOENT ? 0 : -EIO;
	*wc = (struct ibv_wc){
		.wr_id = cq->wr_id,
		.status = cq->status,
		.vendor_err = ibv_wc_read_vendor_err(cq),
		.qp_num = ibv_wc_read_qp_num(cq),
	};
	if (likely(wc->status == IBV_WC_SUCCESS)) {
		wc->opcode = ibv_wc_read_opcode(cq);
		wc->byte_len = ibv_wc_read_byte_len(cq);
		wc->imm_data = ibv_wc_read_imm_data(cq);
		wc->src_qp = ibv_wc_read_src_qp(cq);
		wc->wc_flags = ibv_wc_read_wc_flags(cq);
		completion->stamp = ibv_wc_read_completion_ts(cq);
	}
	ibv_end_poll(cq);
	return 1;
}

/* Polls after an empty poll. */
static ALWAYS_INLINE int poll_again(struct completion *completion, int max, struct ibv_wc *wc,
				    bool is_timed)
{
	return is_timed ? completion_poll_timed(completion, wc)
			: completion_poll(completion, max, wc);
}

/* Completions before the alarm count, such as the last message before the peer closes. */
static COLD int last_look(struct completion *completion, int max, struct ibv_wc *wc,
			  struct error *error)
{
	int got = poll_again(completion, max, wc, completion->timed);

	if (got < 0)
		return completion_poll_failed(error);
	return got ? got : alarm_reason(completion->alarm, error);
}

/*
 * Polls until a completion, the alarm or the timeout. Returns 0 after the timeout. A pause
 * instruction would add tens of nanoseconds to the measured latency.
 */
static ALWAYS_INLINE int spin_on(struct completion *completion, int max, struct ibv_wc *wc,
				 uint64_t timeout_ns, bool is_timed, struct error *error)
{
	uint64_t start = 0;

	for (;;) {
		uint64_t now;

		for (int i = 0; i < POLLS_PER_LOOK; i++) {
			int got = poll_again(completion, max, wc, is_timed);

			if (likely(got > 0))
				return got;
			if (unlikely(got < 0))
				return completion_poll_failed(error);
			if (unlikely(alarm_raised(completion->alarm)))
				return last_look(completion, max, wc, error);
		}
		now = clock_now_ns();
		if (!start)
			start = now;
		else if (now - start >= timeout_ns)
			return 0;
	}
}

static int spin(struct completion *completion, int max, struct ibv_wc *wc, uint64_t timeout_ns,
		struct error *error)
{
	return completion->timed ? spin_on(completion, max, wc, timeout_ns, true, error)
				 : spin_on(completion, max, wc, timeout_ns, false, error);
}

int completion_take_event(struct completion *completion, struct error *error)
{
	bool is_counted = completion->rung;
	struct ibv_cq *cq;
	void *context;

	completion->rung = false;
	if (ibv_get_cq_event(completion->channel, &cq, &context))
		return errno == EAGAIN
			       ? 0
			       : error_set_errno(error, -errno, "cannot take a completion event");
	completion->armed = false;
	completion->events += !is_counted;
	if (++completion->taken == ACKNOWLEDGE_AT) {
		ibv_ack_cq_events(completion->cq, completion->taken);
		completion->taken = 0;
	}
	return 1;
}

int completion_reset(struct completion *completion, struct error *error)
{
	struct ibv_wc wc[16];
	int got;

	do
		got = completion_take_event(completion, error);
	while (got > 0);
	if (got < 0)
		return got;
	do
		got = completion_poll(completion, ARRAY_LENGTH(wc), wc);
	while (got > 0);
	if (got < 0)
		return completion_poll_failed(error);
	if (completion->mode != RDMA_POLL && !completion->armed && completion_arm(completion))
		return error_set(error, -EIO, "cannot arm the completion queue");
	return 0;
}

static struct timespec time_left(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

	return (struct timespec){.tv_sec = (time_t)(left_ns / NS_PER_S),
				 .tv_nsec = (long)(left_ns % NS_PER_S)};
}

/* Sleeps until an event, the alarm or the deadline. */
static int sleep_once(struct completion *completion, uint64_t deadline_ns, struct error *error)
{
	struct pollfd fds[] = {
		{.fd = completion->channel->fd, .events = POLLIN},
		{.fd = completion->alarm->fd,   .events = POLLIN},
	};
	struct timespec left = time_left(deadline_ns);

	if (ppoll(fds, ARRAY_LENGTH(fds), deadline_ns == UINT64_MAX ? NULL : &left, NULL) < 0)
		return errno == EINTR ? 0 : error_set_errno(error, -errno, "cannot sleep");
	if (completion->timed)
		completion->woken = clock_ticks(completion->is_counter);
	if (fds[0].revents) {
		completion->rung = true;
		completion->events++;
	}
	return 0;
}

/*
 * After a timeout, the CQ is armed again before the next sleep: the program polls in
 * between, and a device may treat arming as the end of polling.
 */
static int sleep_until_event(struct completion *completion, uint64_t deadline_ns,
			     struct error *error)
{
	if (deadline_ns == UINT64_MAX || clock_now_ns() < deadline_ns)
		return sleep_once(completion, deadline_ns, error);
	completion->armed = false;
	return -ETIMEDOUT;
}

/* A device that is gone closes its channel: add the reason, which the alarm has. */
static COLD void explain_channel(struct completion *completion, struct error *error)
{
	struct pollfd raised = {.fd = completion->alarm->fd, .events = POLLIN};
	struct error cause = {0};

	if (poll(&raised, 1, REASON_MS) > 0 && alarm_reason(completion->alarm, &cause))
		error_append(error, "%s", cause.text);
}

/* Takes the event of the last wake-up, and arms the CQ. */
static int prepare_to_sleep(struct completion *completion, struct error *error)
{
	int got = completion->rung ? completion_take_event(completion, error) : 0;

	if (unlikely(got < 0)) {
		explain_channel(completion, error);
		return got;
	}
	if (!completion->armed && completion_arm(completion))
		return error_set(error, -EIO, "cannot arm the completion queue");
	return 0;
}

/* Call after an empty poll. */
static int wait_event(struct completion *completion, int max, struct ibv_wc *wc,
		      uint64_t timeout_ns, struct error *error)
{
	uint64_t deadline_ns = timeout_ns == UINT64_MAX ? UINT64_MAX : clock_now_ns() + timeout_ns;
	int got = 0;

	while (!got) {
		int code;

		if (alarm_raised(completion->alarm))
			return last_look(completion, max, wc, error);
		if (completion->rung || !completion->armed)
			code = prepare_to_sleep(completion, error);
		else
			code = sleep_until_event(completion, deadline_ns, error);
		if (code)
			return code;
		got = poll_again(completion, max, wc, completion->timed);
	}
	return got > 0 ? got : completion_poll_failed(error);
}

/* The time spent polling counts toward timeout_ns. */
static int wait_adaptive(struct completion *completion, int max, struct ibv_wc *wc,
			 uint64_t timeout_ns, struct error *error)
{
	uint64_t spin_ns = completion->spin_ns < timeout_ns ? completion->spin_ns : timeout_ns;
	uint64_t left_ns = timeout_ns == UINT64_MAX ? UINT64_MAX : timeout_ns - spin_ns;
	int got = spin(completion, max, wc, spin_ns, error);

	if (got)
		return got;
	return left_ns ? wait_event(completion, max, wc, left_ns, error) : -ETIMEDOUT;
}

int completion_wait_on(struct completion *completion, int max, struct ibv_wc *wc,
		       uint64_t timeout_ns, struct error *error)
{
	int got;

	switch (completion->mode) {
	case RDMA_EVENT:
		return wait_event(completion, max, wc, timeout_ns, error);
	case RDMA_ADAPTIVE:
		return wait_adaptive(completion, max, wc, timeout_ns, error);
	case RDMA_POLL:
		break;
	}
	got = spin(completion, max, wc, timeout_ns, error);
	return got ? got : -ETIMEDOUT;
}
