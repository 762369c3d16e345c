/* SPDX-License-Identifier: MIT */
/* A made-up bandwidth sweep for tests: one case for each number of queue pairs. */
#ifndef REPORTS_TEST_LIB_QP_SWEEPS_H
#define REPORTS_TEST_LIB_QP_SWEEPS_H

#include "reports/test/lib/sample.h"

/* A case of the sweep. */
struct qp_sweep_row {
	uint64_t qps;
	uint64_t messages; /* in each of two trials of 10 ms */
};

static inline void qp_sweep_case_init(struct result_case *line, const struct qp_sweep_row *row,
				      const char *end)
{
	struct rate_windows *windows = calloc(1, sizeof(*windows));
	struct error error = {0};
	char number[32] = "";
	char text[256];

	assert_non_null(windows);
	*line = (struct result_case){.op = "write",
				     .metric = "bw",
				     .cq = "poll",
				     .server_cq = "poll",
				     .transport = "RC",
				     .size = 64,
				     .kind = RESULT_COMPLETION,
				     .status = RESULT_COMPLETE};
	/* Ids omit the default of 1. */
	if (row->qps > 1)
		snprintf(number, sizeof(number), "/q%ju", (uintmax_t)row->qps);
	snprintf(line->id, sizeof(line->id), "write/bw/64/poll%s%s", number, end);
	snprintf(text, sizeof(text),
		 "{\"op\": \"write\", \"metric\": \"bw\", \"size\": 64, \"cq\": \"poll\","
		 " \"server-cq\": \"poll\", \"qps\": %ju, \"tx-depth\": 8, \"trials\": 2}",
		 (uintmax_t)row->qps);
	line->parameters = sample_json(text);
	rate_windows_init(windows, 10 * SAMPLE_MS);
	rate_windows_add(windows, 0, row->messages);
	rate_windows_finish(windows, 10 * SAMPLE_MS);
	for (int i = 0; i < 2; i++) {
		struct result_trial trial = {
			.warmup = {.messages = 100, .duration_ns = SAMPLE_MS},
			.messages = row->messages,
			.duration_ns = 10 * SAMPLE_MS,
			.messages_per_s = (double)row->messages * 100,
			.bytes_per_s = (double)row->messages * 6400,
			.client = {.messages = row->messages              },
			.server = {.messages = row->messages},
		};

		assert_int_equal(result_add_trial(line, &trial, NULL, windows, &error), 0);
	}
	free(windows);
}

static inline void qp_sweeps_init(struct result *result, const struct qp_sweep_row *rows,
				  size_t n_rows)
{
	sample_init_empty(result, n_rows);
	for (size_t i = 0; i < n_rows; i++)
		qp_sweep_case_init(&result->cases[i], &rows[i], "");
}

#endif
