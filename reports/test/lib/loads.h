/* SPDX-License-Identifier: MIT */
/* A made-up result of one sweep over the load, for tests. Release with result_finish. */
#ifndef REPORTS_TEST_LIB_LOADS_H
#define REPORTS_TEST_LIB_LOADS_H

#include "reports/test/lib/sample.h"

#define LOADS_MAXIMUM 1e6
#define LOADS_TRIALS  2

/* A case of the sweep. */
struct load_row {
	double rate;
	double took_ns; /* latency from the due time, of all messages but one */
	bool is_saturated;
};

static inline void add_load_trials(struct result_case *line, const struct load_row *row)
{
	struct pace *pace = calloc(1, sizeof(*pace));
	struct hist *hist = calloc(1, sizeof(*hist));
	struct error unused = {0};

	assert_non_null(pace);
	assert_non_null(hist);
	snprintf(pace->maximum_case, sizeof(pace->maximum_case), "send/bw/64/poll/latencies");
	pace->maximum = LOADS_MAXIMUM;
	hist_init(hist);
	hist_init(&pace->lag);
	hist_init(&pace->uncorrected);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = (uint64_t)row->took_ns - (i == 0);

		hist_add(hist, value);
		hist_add(&pace->uncorrected, value / 2);
		hist_add(&pace->lag, value - value / 2);
	}
	for (int i = 0; i < LOADS_TRIALS; i++) {
		struct result_trial trial = {
			.warmup = {.messages = 100,                     .duration_ns = 20 * SAMPLE_MS},
			.messages = 1000,
			.duration_ns = (uint64_t)(1000e9 / row->rate),
			.messages_per_s = row->rate,
			.pace = {.rate = row->rate,
				   .unsent = row->is_saturated ? 5 : 0,
				   .is_saturated = row->is_saturated},
			.client = {.messages = 1000},
			.server = {.messages = 1100                                  },
		};

		statistic_fill(trial.latency, hist);
		assert_int_equal(result_add_trial(line, &trial, hist, NULL, &unused), 0);
		assert_int_equal(pace_add(line, pace, &unused), 0);
	}
	free(hist);
	free(pace);
}

static inline void load_case_init(struct result_case *line, const struct load_row *row,
				  const char *cq)
{
	char text[256];

	*line = (struct result_case){
		.op = "send",
		.metric = "load",
		.cq = cq,
		.server_cq = cq,
		.transport = "RC",
		.size = 64,
		.kind = RESULT_COMPLETION,
		.status = RESULT_COMPLETE,
	};
	snprintf(line->id, sizeof(line->id), "send/load/64/%s/rate%.0f", cq, row->rate);
	snprintf(text, sizeof(text),
		 "{\"op\": \"send\", \"metric\": \"load\", \"size\": 64, \"cq\": \"%s\","
		 " \"server-cq\": \"%s\", \"rate\": \"%.0f\", \"arrivals\": \"fixed\","
		 " \"qps\": 1, \"trials\": 2}",
		 cq, cq, row->rate);
	line->parameters = sample_json(text);
	add_load_trials(line, row);
}

static inline void loads_init(struct result *result, const struct load_row *rows, size_t n_rows)
{
	sample_init_empty(result, n_rows);
	for (size_t i = 0; i < n_rows; i++)
		load_case_init(&result->cases[i], &rows[i], "poll");
}

#endif
