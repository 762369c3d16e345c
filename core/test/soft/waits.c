/* SPDX-License-Identifier: MIT */
/* The waits of core/verbs/completion.h, with messages that arrive at critical moments. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/test/soft/stage.h"
#include "core/verbs/completion.h"

#define HOUR_NS (3600 * NS_PER_S)

struct waiter {
	struct stage stage;
	struct alarm alarm;
	struct completion completion; /* of end[1] */
};

static struct waiter *waiter;
/* Called just before a sleep. */
static void (*about_to_sleep)(void);
static unsigned int sleeps;

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec left = timeout ? *timeout : (struct timespec){0};

	sleeps++;
	if (about_to_sleep)
		about_to_sleep();
	return (int)syscall(SYS_ppoll, fds, n, timeout ? &left : NULL, mask, sizeof(long));
}

static void send_message(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	about_to_sleep = NULL;
	stage_receive(&waiter->stage, 8, 1);
	assert_int_equal(stage_post(&waiter->stage, &wr, 8), 0);
}

static void raise_alarm(void)
{
	about_to_sleep = NULL;
	alarm_raise(&waiter->alarm, -ECANCELED, "it is over");
}

static void message_and_alarm(void)
{
	send_message();
	raise_alarm();
}

static void begin(struct waiter *it, enum rdma_wait_mode mode)
{
	struct error error = {0};
	struct ibv_cq *own;

	*it = (struct waiter){.completion.mode = mode};
	waiter = it;
	sleeps = 0;
	stage_open(&it->stage, &(struct stage_ways){0});
	assert_int_equal(alarm_open(&it->alarm, &error), 0);
	assert_int_equal(
		completion_open(&it->completion, it->stage.context, 16, &it->alarm, &error), 0);
	/* Use the stage's completion queue, to which its queue pair completes. */
	own = it->completion.cq;
	assert_int_equal(ibv_destroy_cq(own), 0);
	assert_int_equal(ibv_destroy_comp_channel(it->completion.channel), 0);
	it->completion.cq = it->stage.end[1].cq;
	it->completion.channel = it->stage.channel;
	it->completion.armed = false;
}

static int wait(uint64_t timeout_ns, struct error *error)
{
	struct ibv_wc wc;

	*error = (struct error){0};
	return completion_wait(&waiter->completion, 1, &wc, timeout_ns, error);
}

static void end(struct waiter *it)
{
	ibv_ack_cq_events(it->completion.cq, it->completion.taken);
	alarm_close(&it->alarm);
	stage_close(&it->stage);
}

/* The message is returned first; its event is taken later, and counted once. */
static void test_event_is_taken_later(void **unused)
{
	struct waiter it;
	struct error error;

	begin(&it, RDMA_EVENT);
	about_to_sleep = send_message;
	assert_int_equal(wait(HOUR_NS, &error), 1);
	assert_int_equal(sleeps, 1);
	assert_true(it.completion.rung);
	assert_int_equal(it.completion.events, 1);
	assert_int_equal(it.completion.taken, 0);
	about_to_sleep = send_message;
	assert_int_equal(wait(HOUR_NS, &error), 1);
	assert_int_equal(sleeps, 2);
	assert_int_equal(it.completion.events, 2);
	assert_int_equal(it.completion.taken, 1);
	end(&it);
}

/* An event whose completion was polled already is taken, and the next message is not missed. */
static void test_event_without_completion(void **unused)
{
	struct waiter it;
	struct error error;

	begin(&it, RDMA_EVENT);
	assert_int_equal(completion_arm(&it.completion), 0);
	send_message();
	assert_int_equal(wait(HOUR_NS, &error), 1);
	assert_int_equal(sleeps, 0);
	assert_int_equal(wait(100 * NS_PER_MS, &error), -ETIMEDOUT);
	assert_int_equal(it.completion.events, 1);
	assert_int_equal(it.completion.taken, 1);
	assert_false(it.completion.rung);
	about_to_sleep = send_message;
	assert_int_equal(wait(HOUR_NS, &error), 1);
	assert_int_equal(it.completion.events, 2);
	end(&it);
}

static void test_alarm_ends_sleep(void **unused)
{
	struct waiter it;
	struct error error;

	begin(&it, RDMA_EVENT);
	about_to_sleep = raise_alarm;
	assert_int_equal(wait(UINT64_MAX, &error), -ECANCELED);
	assert_string_equal(error.text, "it is over");
	end(&it);
}

/* A message that arrived before the alarm is returned first. */
static void test_message_before_alarm(void **unused)
{
	struct waiter it;
	struct error error;

	begin(&it, RDMA_EVENT);
	about_to_sleep = message_and_alarm;
	assert_int_equal(wait(UINT64_MAX, &error), 1);
	assert_int_equal(wait(UINT64_MAX, &error), -ECANCELED);
	assert_int_equal(sleeps, 1);
	end(&it);
}

/* The time limit applies to the whole wait, including the spinning. */
static void test_adaptive_wait_times_out(void **unused)
{
	struct waiter it;
	struct error error;

	begin(&it, RDMA_ADAPTIVE);
	it.completion.spin_ns = HOUR_NS;
	assert_int_equal(wait(NS_PER_MS, &error), -ETIMEDOUT);
	assert_int_equal(sleeps, 0);
	it.completion.spin_ns = 1;
	assert_int_equal(wait(100 * NS_PER_MS, &error), -ETIMEDOUT);
	assert_true(sleeps > 0);
	assert_false(it.completion.armed);
	about_to_sleep = send_message;
	assert_int_equal(wait(UINT64_MAX, &error), 1);
	end(&it);
}

static struct ibv_modify_cq_attr modified;
static int modify_result;

static int modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	modified = *attr;
	return modify_result;
}

static int open_moderated(struct ibv_context *context, uint16_t count, struct error *error)
{
	struct completion completion = {
		.mode = RDMA_EVENT,
		.moderation = {count, 20},
	};
	int code;

	modified = (struct ibv_modify_cq_attr){0};
	*error = (struct error){0};
	code = completion_open(&completion, context, 16, NULL, error);
	assert_int_equal(completion_close(&completion), 0);
	return code;
}

static void test_moderated_events(void **unused)
{
	struct ibv_context *context = stage_open_device();
	struct error error;

	verbs_get_ctx(context)->modify_cq = modify;
	assert_int_equal(open_moderated(context, 7, &error), 0);
	assert_int_equal(modified.attr_mask, IBV_CQ_ATTR_MODERATE);
	assert_int_equal(modified.moderate.cq_count, 7);
	assert_int_equal(modified.moderate.cq_period, 20);
	assert_int_equal(open_moderated(context, 0, &error), 0);
	assert_int_equal(modified.attr_mask, 0);
	modify_result = EOPNOTSUPP;
	assert_int_equal(open_moderated(context, 1, &error), -EOPNOTSUPP);
	assert_string_equal(error.text,
			    "cannot moderate completion events: Operation not supported");
	assert_int_equal(ibv_close_device(context), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_is_taken_later),
		cmocka_unit_test(test_event_without_completion),
		cmocka_unit_test(test_alarm_ends_sleep),
		cmocka_unit_test(test_message_before_alarm),
		cmocka_unit_test(test_adaptive_wait_times_out),
		cmocka_unit_test(test_moderated_events),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
