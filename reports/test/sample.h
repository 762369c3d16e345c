/* SPDX-License-Identifier: MIT */
/*
 * A made-up result for tests: one case that is complete, one that failed, one that
 * was not run. Its latencies are so few that every figure can be had by hand.
 */
#ifndef REPORTS_TEST_SAMPLE_H
#define REPORTS_TEST_SAMPLE_H

#include "reports/result.h"

struct sample {
	struct result result;
	struct result_case cases[3];
	struct hist latency;
};

/*
 * 1230 ns twelve times, 1250 ns eight times, and one of 2^37 ns, which is beyond
 * the bins: 21 samples.
 */
static inline void sample_latency(struct hist *hist)
{
	hist_init(hist);
	for (int i = 0; i < 12; i++)
		hist_add(hist, 1230);
	for (int i = 0; i < 8; i++)
		hist_add(hist, 1250);
	hist_add(hist, 1ULL << 37);
}

static inline void sample_init(struct sample *sample)
{
	*sample = (struct sample){
		.cases = {{.id = "send/lat/64/poll",
			   .op = "send",
			   .metric = "lat",
			   .cq = "poll",
			   .server_cq = "poll",
			   .size = 64,
			   .kind = RESULT_HALF,
			   .status = RESULT_COMPLETE,
			   .warmup_messages = 100,
			   .duration_ns = 123456,
			   .latency = &sample->latency,
			   .client = {.messages = 21,
				      .user_ns = 42000,
				      .system_ns = 21000,
				      .voluntary_switches = 1,
				      .involuntary_switches = 2,
				      .cq_events = 3,
				      .completions = 22},
			   .server = {.messages = 121, .user_ns = 60500}},
			  {.id = "write/lat/4k/event/server-poll",
			   .op = "write",
			   .metric = "lat",
			   .cq = "event",
			   .server_cq = "poll",
			   .size = 4096,
			   .kind = RESULT_COMPLETION,
			   .status = RESULT_FAILED,
			   .error = "no completion for 5 s"},
			  {.id = "read/lat/1m/adaptive",
			   .op = "read",
			   .metric = "lat",
			   .cq = "adaptive",
			   .server_cq = "adaptive",
			   .size = 1048576,
			   .kind = RESULT_FULL}},
		.result = { .version = "1.2.3",
                          .started = "2001-02-03T04:05:06Z",
                          .finished = "2001-02-03T04:05:07Z",
                          .status = RESULT_INTERRUPTED,
                          .clock = "tsc",
                          .clock_hz = 2500000000,
                          .clock_drift_ppm = -1.5,
                          .client = {.host = "n01",
				      .device = "mlx5_0",
				      .port = 1,
				      .address = "192.0.2.1",
				      .link_layer = "Ethernet",
				      .rate_mbps = 100000,
				      .mtu = 4096},
                          .server = {.host = "n02",
				      .device = "mlx5_1",
				      .port = 2,
				      .address = "192.0.2.2",
				      .link_layer = "Ethernet",
				      .rate_mbps = 2500,
				      .mtu = 1024},
                          .n_cases = 3},
	};
	sample->result.cases = sample->cases;
	sample->result.command = json_pack("[s, s, s]", "verbmark", "run", "n02");
	sample_latency(&sample->latency);
}

static inline void sample_finish(struct sample *sample)
{
	json_decref(sample->result.command);
}

#endif
