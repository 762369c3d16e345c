/* SPDX-License-Identifier: MIT */
/* Connected lanes of several threads on soft0, whose device is linked in. */
#ifndef BENCH_TEST_UNIT_D_SOFT_LANES_H
#define BENCH_TEST_UNIT_D_SOFT_LANES_H

#include "bench/client/merge_threads.h"
#include "bench/lane/connect.h"
#include "bench/plan/defaults.h"
#include "bench/test/unit.d/asked.h"

#define THREADS 5
#define QPS     3

static struct trial_lane *parts;
static struct lane *posts;
static struct parameters parameters;

static inline struct lane_wish wish_of(unsigned int number, bool is_server)
{
	return (struct lane_wish){
		.device = "soft0",
		.parameters = &parameters,
		.shape = &operations[parameters.op].shape,
		.is_server = is_server,
		.number = number,
		.signal_every = (unsigned int)parameters.cq_mod,
	};
}

static inline void open_as_wished(struct lane *lane, const struct lane_wish *wish)
{
	struct error error = {0};

	if (lane_open(lane, wish, &error))
		fail_msg("%s", error.text);
}

static inline void open_lane(struct lane *lane, unsigned int number, bool is_server)
{
	const struct lane_wish wish = wish_of(number, is_server);

	open_as_wished(lane, &wish);
}

static inline void connect_lanes(void)
{
	static const struct lane_end own = {.address = "", .port = 1};
	json_t *message = json_object();
	json_t *answer = json_object();
	struct error error = {0};

	for (unsigned int i = 0; i < THREADS; i++)
		if (lane_offer(&parts[i].lane, &own, message, &error))
			fail_msg("%s", error.text);
	for (unsigned int i = 0; i < THREADS; i++)
		if (lane_answer(&posts[i], &own, message, answer, &error))
			fail_msg("%s", error.text);
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(lane_connect(&parts[i].lane, &own, answer, &error), 0);
		assert_int_equal(lane_start(&parts[i].lane, &error), 0);
		assert_int_equal(lane_start(&posts[i], &error), 0);
	}
	json_decref(message);
	json_decref(answer);
}

static inline void set_up(const char *asked_for)
{
	parameters = asked(asked_for);
	parameters.threads = THREADS;
	parameters.qps = QPS;
	parameters.post_list = 4;
	parameters.latencies = 1;
	parameters.connect = CONNECT_QP;
	if (parameters.tx_depth == PARAMETER_AUTO)
		parameters.tx_depth = 9;
	defaults_choose(&operations[parameters.op], &parameters);
	parts = cacheline_calloc(THREADS, sizeof(*parts));
	posts = cacheline_calloc(THREADS, sizeof(*posts));
	for (unsigned int i = 0; i < THREADS; i++) {
		open_lane(&parts[i].lane, i, false);
		open_lane(&posts[i], i, true);
		assert_int_equal(merge_threads_open(&parts[i], false, &(struct error){0}), 0);
	}
	connect_lanes();
}

static inline void tear_down(void)
{
	for (unsigned int i = 0; i < THREADS; i++) {
		lane_close(&parts[i].lane);
		lane_close(&posts[i]);
		merge_threads_close(&parts[i]);
	}
	free(parts);
	free(posts);
}

#endif
