/* SPDX-License-Identifier: MIT */
/*
 * Completion timestamps. On a link they follow from the model alone: the tests look much later,
 * and allow only for the time that the post itself took.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/compiler.h"
#include "core/soft/link/settings.h"
#include "core/test/soft/stage.h"

#define US        UINT64_C(1000)
#define SECOND_NS UINT64_C(1000000000)
#define LATE_US   5000
#define ROUNDED   2 /* cycles */

static const struct stage_ways ways = {
	.wc_flags = IBV_WC_STANDARD_FLAGS | (uint64_t)IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
		    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
};

static uint64_t read_cycles(const struct stage *stage)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	assert_int_equal(ibv_query_rt_values_ex(stage->context, &values), 0);
	assert_int_equal(values.raw_clock.tv_sec, 0);
	return (uint64_t)values.raw_clock.tv_nsec;
}

static uint64_t khz(const struct stage *stage)
{
	struct ibv_device_attr_ex attr;

	assert_int_equal(ibv_query_device_ex(stage->context, NULL, &attr), 0);
	assert_true(attr.hca_core_clock);
	assert_true(attr.completion_timestamp_mask == UINT64_MAX);
	return attr.hca_core_clock;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	assert_int_equal(clock_gettime(clock, &now), 0);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct seen {
	uint64_t cycles;
	uint64_t wallclock_ns;
};

/* Takes one completion, which is successful. */
static struct seen take(struct ibv_cq *cq)
{
	struct ibv_cq_ex *extended = (struct ibv_cq_ex *)(void *)cq;
	struct ibv_poll_cq_attr nothing = {0};
	struct seen seen;

	while (ibv_start_poll(extended, &nothing))
		;
	assert_int_equal(extended->status, IBV_WC_SUCCESS);
	seen.cycles = ibv_wc_read_completion_ts(extended);
	seen.wallclock_ns = ibv_wc_read_completion_wallclock_ns(extended);
	ibv_end_poll(extended);
	return seen;
}

static void post(struct stage *stage, enum ibv_wr_opcode opcode, uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)stage->end[1].buffer;
		wr.wr.atomic.rkey = stage->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)stage->end[1].buffer;
		wr.wr.rdma.rkey = stage->mr->rkey;
	}
	assert_int_equal(stage_post(stage, &wr, length), 0);
}

/* 8000 bytes at 1 Gb/s take 64 us; each direction takes 20 us. */
static void test_link(void **unused)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t length;
		uint64_t there_us; /* completion at the target; 0: none */
		uint64_t back_us;  /* completion at the requester */
	} rows[] = {
		{IBV_WR_SEND,                 8000, 84, 104},
		{IBV_WR_RDMA_WRITE_WITH_IMM,  8000, 84, 104},
		{IBV_WR_RDMA_WRITE,           8000, 0,  104},
		{IBV_WR_RDMA_READ,            8000, 0,  104},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, 8,    0,  40 },
		{IBV_WR_SEND,                 0,    20, 40 },
	};

	assert_int_equal(setenv(SOFT_LINK_VARIABLE, "latency=20us,bandwidth=1gbit", 1), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const uint64_t after_us[] = {rows[i].back_us, rows[i].there_us};
		struct stage stage;
		uint64_t before;
		uint64_t after;
		uint64_t before_ns;

		stage_open(&stage, &ways);
		stage_receive(&stage, 16384, 0);
		before_ns = now_ns(CLOCK_REALTIME);
		before = read_cycles(&stage);
		post(&stage, rows[i].opcode, rows[i].length);
		after = read_cycles(&stage);
		usleep(LATE_US);
		for (size_t end = 0; end < ARRAY_LENGTH(after_us) && after_us[end]; end++) {
			uint64_t model = after_us[end] * US * khz(&stage) / 1000000;
			struct seen seen = take(stage.end[end].cq);

			assert_in_range(seen.cycles, before + model - ROUNDED,
					after + model + ROUNDED);
			assert_in_range(seen.wallclock_ns, before_ns + after_us[end] * US,
					now_ns(CLOCK_REALTIME));
		}
		stage_close(&stage);
	}
	unsetenv(SOFT_LINK_VARIABLE);
}

/* Without a link, an operation completes while it is posted. */
static void test_no_link(void **unused)
{
	struct stage stage;
	uint64_t before;
	uint64_t after;

	stage_open(&stage, &ways);
	stage_receive(&stage, 64, 0);
	before = read_cycles(&stage);
	post(&stage, IBV_WR_SEND, 64);
	after = read_cycles(&stage);
	for (size_t end = 0; end < ARRAY_LENGTH(stage.end); end++)
		assert_in_range(take(stage.end[end].cq).cycles, before, after);
	stage_close(&stage);
}

/* The clock runs at the rate that the device reports, whatever the host's clocks count. */
static void test_rate(void **unused)
{
	struct stage stage;
	uint64_t from[2];
	uint64_t to[2];
	uint64_t before_ns;
	uint64_t after_ns;

	stage_open(&stage, &ways);
	before_ns = now_ns(CLOCK_MONOTONIC);
	from[0] = read_cycles(&stage);
	from[1] = now_ns(CLOCK_MONOTONIC);
	usleep(LATE_US);
	to[0] = now_ns(CLOCK_MONOTONIC);
	to[1] = read_cycles(&stage);
	after_ns = now_ns(CLOCK_MONOTONIC);
	assert_in_range((to[1] - from[0]) * 1000000 / khz(&stage), to[0] - from[1],
			after_ns - before_ns + 1);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_no_link),
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
