/* SPDX-License-Identifier: MIT */
/*
 * A made-up result for tests: complete latency and bandwidth cases, and cases that failed, were
 * skipped and were not run. It has so few samples that all figures can be checked by hand;
 * sample.json is its document.
 */
#ifndef REPORTS_TEST_LIB_SAMPLE_H
#define REPORTS_TEST_LIB_SAMPLE_H

#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/result/result.h"

enum sample_case {
	SAMPLE_LATENCY,
	SAMPLE_BANDWIDTH,
	SAMPLE_FAILED,
	SAMPLE_SKIPPED,
	SAMPLE_NOT_RUN,
	SAMPLE_CASES,
};

#define SAMPLE_MS 1000000ULL

static inline json_t *sample_json(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

/* Adds twenty samples of a value, and optionally one beyond the bins. */
static inline void sample_fill(struct hist *hist, uint64_t value, bool with_over)
{
	hist_init(hist);
	for (int i = 0; i < 20; i++)
		hist_add(hist, value);
	if (with_over)
		hist_add(hist, 1ULL << HIST_MAX_BITS);
}

/* Adds three trials of 1230, 1250 and 1240 ns, the last with a sample of 2^37 ns. */
static inline void sample_latency(struct result_case *line)
{
	static const uint64_t values[] = {1230, 1250, 1240};
	struct hist *hist = malloc(sizeof(*hist));
	struct error error = {0};

	assert_non_null(hist);
	for (uint64_t i = 0; i < ARRAY_LENGTH(values); i++) {
		struct result_trial trial = {
			.warmup = {.messages = 100 + i,
				   .duration_ns = 20 * SAMPLE_MS,
				   .has_converged = i > 0},
			.duration_ns = 50000 + i,
			.client = {.user_ns = 42000,
				   .system_ns = 21000,
				   .voluntary_switches = 1,
				   .involuntary_switches = 2,
				   .cq_events = 3,
				   .completions = 22},
			.server = {.messages = 120 + 2 * i, .user_ns = 60500    },
		};

		sample_fill(hist, values[i], i == 2);
		trial.messages = hist->count;
		trial.client.messages = hist->count;
		statistic_fill(trial.latency, hist);
		assert_int_equal(result_add_trial(line, &trial, hist, NULL, &error), 0);
	}
	sample_fill(hist, 1500, false);
	assert_int_equal(result_add_warmup(line, hist, &error), 0);
	free(hist);
}

/*
 * Adds six trials of 25 ms. Trial k has windows of 100 k and 200 k messages of 1000 bytes, and ten
 * messages outside of the windows.
 */
static inline void sample_bandwidth(struct result_case *line)
{
	struct rate_windows *windows = malloc(sizeof(*windows));
	struct error error = {0};

	assert_non_null(windows);
	for (uint64_t k = 1; k <= 6; k++) {
		struct result_trial trial = {
			.warmup = {.messages = 1000 * k,
				   .duration_ns = 30 * SAMPLE_MS,
				   .has_converged = true},
			.messages = 300 * k + 10,
			.duration_ns = 25 * SAMPLE_MS,
			.messages_per_s = (double)(300 * k + 10) * 40,
			.bytes_per_s = (double)(300 * k + 10) * 40000,
			.client = {.messages = 300 * k + 10,    .system_ns = 500, .completions = k},
			.server = {.messages = 300 * k + 10},
		};

		rate_windows_init(windows, 10 * SAMPLE_MS);
		rate_windows_add(windows, 0, 100 * k);
		rate_windows_add(windows, 10 * SAMPLE_MS, 200 * k);
		rate_windows_add(windows, 20 * SAMPLE_MS, 10);
		rate_windows_finish(windows, trial.duration_ns);
		assert_int_equal(result_add_trial(line, &trial, NULL, windows, &error), 0);
	}
	free(windows);
}

/* Sets each member at least once, for the client or the server. */
static inline void sample_chosen(struct result_case *line)
{
	struct row {
		enum effective_member member;
		uint64_t value;
	};
	static const struct row client[] = {
		{EFFECTIVE_POST_CALL,          EFFECTIVE_IBV_WR     },
		{EFFECTIVE_INLINE,             true                 },
		{EFFECTIVE_INLINE_LIMIT_BYTES, 256                  },
		{EFFECTIVE_SEND_DEPTH,         128                  },
		{EFFECTIVE_RECEIVE_DEPTH,      512                  },
		{EFFECTIVE_CQ_DEPTH,           639                  },
		{EFFECTIVE_INITIATOR_DEPTH,    16                   },
		{EFFECTIVE_RESPONDER_DEPTH,    8                    },
		{EFFECTIVE_PATH_MTU_BYTES,     1024                 },
		{EFFECTIVE_GID_INDEX,          3                    },
		{EFFECTIVE_GID_TYPE,           EFFECTIVE_GID_ROCE_V2},
		{EFFECTIVE_PKEY_INDEX,         2                    },
		{EFFECTIVE_SL,                 0                    },
		{EFFECTIVE_TRAFFIC_CLASS,      104                  },
		{EFFECTIVE_FLOW_LABEL,         65535                },
		{EFFECTIVE_ACK_TIMEOUT_NS,     67108864             },
		{EFFECTIVE_RETRIES,            6                    },
		{EFFECTIVE_RNR_RETRIES,        7                    },
		{EFFECTIVE_PAGE_BYTES,         4096                 },
		{EFFECTIVE_BUFFER_BYTES,       12288                },
		{EFFECTIVE_PLACES,             64                   },
	};
	static const struct row server[] = {
		{EFFECTIVE_SHARED_RECEIVE_DEPTH, 1024   },
		{EFFECTIVE_SPIN_NS,              50000  },
		{EFFECTIVE_COMPLETION_VECTOR,    1      },
		{EFFECTIVE_PAGE_BYTES,           2097152},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(client); i++)
		effective_set(&line->client_chosen, client[i].member, client[i].value);
	for (size_t i = 0; i < ARRAY_LENGTH(server); i++)
		effective_set(&line->server_chosen, server[i].member, server[i].value);
}

static inline void sample_cases(struct result_case cases[static SAMPLE_CASES])
{
	const struct result_case plain[SAMPLE_CASES] = {
		{.id = "send/lat/64/poll",
		 .op = "send",
		 .metric = "lat",
		 .cq = "poll",
		 .server_cq = "poll",
		 .size = 64,
		 .kind = RESULT_HALF,
		 .status = RESULT_COMPLETE},
		{.id = "write/bw/1000/event/server-poll/t16",
		 .op = "write",
		 .metric = "bw",
		 .cq = "event",
		 .server_cq = "poll",
		 .size = 1000,
		 .kind = RESULT_COMPLETION,
		 .status = RESULT_COMPLETE},
		{.id = "write/lat/4k/event/server-poll",
		 .op = "write",
		 .metric = "lat",
		 .cq = "event",
		 .server_cq = "poll",
		 .size = 4096,
		 .kind = RESULT_COMPLETION,
		 .status = RESULT_FAILED,
		 .error = "no completion for 5 s"},
		{.id = "read/bw/64/poll/t4/Q5",
		 .op = "read",
		 .metric = "bw",
		 .cq = "poll",
		 .server_cq = "poll",
		 .size = 64,
		 .kind = RESULT_FULL,
		 .status = RESULT_SKIPPED,
		 .error = "--cq-mod exceeds --tx-depth"},
		{.id = "read/lat/1m/adaptive",
		 .op = "read",
		 .metric = "lat",
		 .cq = "adaptive",
		 .server_cq = "adaptive",
		 .size = 1048576,
		 .kind = RESULT_FULL},
	};

	for (size_t i = 0; i < SAMPLE_CASES; i++) {
		cases[i] = plain[i];
		cases[i].transport = "RC";
	}
	cases[SAMPLE_LATENCY].parameters = sample_json(
		"{\"op\": \"send\", \"metric\": \"lat\", \"size\": 64, \"cq\": \"poll\","
		" \"server-cq\": \"poll\", \"tx-depth\": 64, \"server-pin\": 2, \"numa\": 1, \"hugepages\": false,"
		" \"iterations\": 20, \"trials\": 3}");
	cases[SAMPLE_BANDWIDTH].parameters = sample_json(
		"{\"op\": \"write\", \"metric\": \"bw\", \"size\": 1000, \"cq\": \"event\","
		" \"server-cq\": \"poll\", \"tx-depth\": 16, \"pin\": \"off\", \"duration_ns\": 25000000,"
		" \"trials\": 6}");
	cases[SAMPLE_LATENCY].client_place = (struct result_place){.cpus = "0-3,8", .numa_node = 1};
	cases[SAMPLE_LATENCY].server_place = (struct result_place){.cpus = "2", .numa_node = -1};
	sample_chosen(&cases[SAMPLE_LATENCY]);
	sample_latency(&cases[SAMPLE_LATENCY]);
	sample_bandwidth(&cases[SAMPLE_BANDWIDTH]);
}

/* Makes the sample. The caller releases it with result_finish. */
static inline void sample_init(struct result *result)
{
	*result = (struct result){
		.version = "1.2.3",
		.started = "2001-02-03T04:05:06Z",
		.finished = "2001-02-03T04:05:07Z",
		.status = RESULT_INTERRUPTED,
		.clock = "tsc",
		.clock_hz = 2500000000,
		.clock_resolution_ns = 0.5,
		.clock_cost_ns = 8,
		.clock_drift_ppm = -1.5,
		.client = {.host = "n01",
			   .device = "mlx5_0",
			   .port = 1,
			   .kind = "hardware",
			   .address = "192.0.2.1",
			   .link_layer = "Ethernet",
			   .rate_mbps = 100000,
			   .mtu = 4096,
			   .fingerprint = "0123456789abcdef"},
		.server = {.host = "n02",
			   .device = "mlx5_1",
			   .port = 2,
			   .address = "192.0.2.2",
			   .link_layer = "Ethernet",
			   .rate_mbps = 2500,
			   .mtu = 1024},
		.n_cases = SAMPLE_CASES,
		.cases = calloc(SAMPLE_CASES, sizeof(*result->cases)),
	};
	assert_non_null(result->cases);
	result->command = sample_json("[\"verbmark\", \"run\", \"n02\"]");
	result->plan = sample_json("[{\"op\": [\"send\", \"write\", \"read\"], \"size\": [64]}]");
	sample_cases(result->cases);
}

/* Makes the sample, but complete and with n_cases zeroed cases for the caller to fill in. */
static inline void sample_init_empty(struct result *result, size_t n_cases)
{
	sample_init(result);
	for (size_t i = 0; i < result->n_cases; i++) {
		result_drop_trials(&result->cases[i]);
		json_decref(result->cases[i].parameters);
	}
	free(result->cases);
	result->status = RESULT_COMPLETE;
	result->cases = calloc(n_cases, sizeof(*result->cases));
	assert_non_null(result->cases);
	result->n_cases = n_cases;
}

#endif
