/* SPDX-License-Identifier: MIT */
/* Events of a completion queue that ibv_modify_cq moderates. */
#include <errno.h>
#include <poll.h>

#include "core/test/soft/stage.h"

enum {
	NEVER_US = 0, /* no timer */
	PATIENCE_MS = 60000,
};

static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period_us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {count, period_us},
	};

	return ibv_modify_cq(cq, &attr);
}

static void open_stage(struct stage *stage, uint16_t count, uint16_t period_us)
{
	stage_open(stage, &(struct stage_ways){0});
	assert_int_equal(moderate(stage->end[1].cq, count, period_us), 0);
	assert_int_equal(ibv_req_notify_cq(stage->end[1].cq, 0), 0);
}

static void send_one(struct stage *stage, unsigned int flags)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = flags};

	stage_receive(stage, 8, 1);
	assert_int_equal(stage_post(stage, &wr, 8), 0);
}

/* Returns whether an event comes within that time, and takes it. */
static bool has_event(struct stage *stage, int patience_ms)
{
	struct pollfd readable = {.fd = stage->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (!poll(&readable, 1, patience_ms))
		return false;
	assert_int_equal(ibv_get_cq_event(stage->channel, &cq, &context), 0);
	assert_ptr_equal(cq, stage->end[1].cq);
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void test_limits(void **unused)
{
	struct ibv_modify_cq_attr other = {.attr_mask = IBV_CQ_ATTR_RESERVED};
	struct ibv_device_attr_ex attr;
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(ibv_query_device_ex(stage.context, NULL, &attr), 0);
	assert_int_equal(attr.cq_mod_caps.max_cq_count, 65535);
	assert_int_equal(attr.cq_mod_caps.max_cq_period, 4095);
	assert_int_equal(moderate(stage.end[1].cq, 65535, 4095), 0);
	assert_int_equal(moderate(stage.end[1].cq, 1, 4096), EINVAL);
	assert_int_equal(ibv_modify_cq(stage.end[1].cq, &other), EOPNOTSUPP);
	stage_close(&stage);
}

static void test_count(void **unused)
{
	struct stage stage;

	open_stage(&stage, 3, NEVER_US);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			assert_false(has_event(&stage, 0));
			send_one(&stage, 0);
		}
		assert_true(has_event(&stage, 0));
		/* These do not count: the queue is not armed. */
		send_one(&stage, 0);
		send_one(&stage, 0);
		for (int i = 0; i < 5; i++)
			stage_await(stage.end[1].cq);
		assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
	}
	stage_close(&stage);
}

static void test_period(void **unused)
{
	struct stage stage;

	open_stage(&stage, 1000, 50);
	for (int round = 0; round < 3; round++) {
		assert_false(has_event(&stage, 0));
		send_one(&stage, 0);
		send_one(&stage, 0);
		assert_true(has_event(&stage, PATIENCE_MS));
		assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
	}
	stage_close(&stage);
}

/* Without moderation, each event has one completion; an event that it has delayed is raised. */
static void test_end_of_moderation(void **unused)
{
	struct stage stage;

	for (uint16_t count = 0; count < 2; count++) {
		open_stage(&stage, 3, NEVER_US);
		send_one(&stage, 0);
		assert_false(has_event(&stage, 0));
		assert_int_equal(moderate(stage.end[1].cq, count, 100), 0);
		assert_true(has_event(&stage, 0));
		assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 0), 0);
		send_one(&stage, 0);
		assert_true(has_event(&stage, 0));
		stage_close(&stage);
	}
}

/* Only completions that would raise an event count. */
static void test_solicited(void **unused)
{
	struct stage stage;

	stage_open(&stage, &(struct stage_ways){0});
	assert_int_equal(moderate(stage.end[1].cq, 2, NEVER_US), 0);
	assert_int_equal(ibv_req_notify_cq(stage.end[1].cq, 1), 0);
	send_one(&stage, 0);
	send_one(&stage, 0);
	send_one(&stage, IBV_SEND_SOLICITED);
	assert_false(has_event(&stage, 0));
	send_one(&stage, IBV_SEND_SOLICITED);
	assert_true(has_event(&stage, 0));
	stage_close(&stage);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),    cmocka_unit_test(test_count),
		cmocka_unit_test(test_period),    cmocka_unit_test(test_end_of_moderation),
		cmocka_unit_test(test_solicited),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
