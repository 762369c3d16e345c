/* SPDX-License-Identifier: MIT */
/*
 * A comparison of runs, each with a few cases of known values, for tests of compare_judge. Register
 * tests with TEST, which calls reset before and close_all after each.
 */
#ifndef REPORTS_TEST_LIB_COMPARING_H
#define REPORTS_TEST_LIB_COMPARING_H

#include "reports/compare/compare.h"
#include "reports/test/lib/sample.h"

#define TRIALS 3

static struct comparison comparison;
static struct error error;
static int minute; /* start time of the next run */

/* A case of a run. */
struct row {
	const char *id;
	double value; /* median or rate */
	enum result_status status;
};

static inline int reset(void **unused)
{
	comparison = (struct comparison){0};
	error = (struct error){0};
	minute = 0;
	return 0;
}

static inline int close_all(void **unused)
{
	compare_close(&comparison);
	return 0;
}

/* Adds trials whose median is the value. */
static inline void fill(struct result_case *line, const struct row *row)
{
	static const double parts[TRIALS] = {1.5, 0.7, 1};

	snprintf(line->id, sizeof(line->id), "%s", row->id);
	line->op = "send";
	line->metric = strstr(row->id, "/bw/") ? "bw" : "lat";
	line->cq = line->server_cq = "poll";
	line->transport = "RC";
	line->size = 64;
	line->parameters = sample_json("{\"tx-depth\": 64, \"rx-depth\": 9, \"trials\": 3, "
				       "\"interleave\": false}");
	line->status = row->status;
	line->trials = calloc(TRIALS, sizeof(*line->trials));
	assert_non_null(line->trials);
	for (size_t i = 0; i < TRIALS && row->status == RESULT_COMPLETE; i++, line->n_trials++) {
		struct result_trial *trial = &line->trials[i];

		for (size_t j = 0; j < STATISTICS; j++)
			trial->latency[j] = (double)NAN;
		trial->latency[3] = row->value * parts[i];
		trial->messages_per_s = row->value * parts[i];
		trial->bytes_per_s = row->value * parts[i] * 64;
		trial->client = (struct result_cost){.messages = 10, .user_ns = 20};
	}
}

static inline void make(struct result *result, const struct row *rows, size_t n_rows)
{
	sample_init_empty(result, n_rows);
	for (size_t i = 0; i < n_rows; i++)
		fill(&result->cases[i], &rows[i]);
	snprintf(result->started, sizeof(result->started), "2001-02-03T04:%02d:06Z", minute);
	snprintf(result->finished, sizeof(result->finished), "2001-02-03T04:%02d:07Z", minute);
	minute++;
}

static inline int add(enum compare_side side, const struct row *rows, size_t n_rows)
{
	struct result result;

	make(&result, rows, n_rows);
	return compare_add(&comparison, side, &result, "a.json", &error);
}

/* Adds one run for each value, each with a single case. */
static inline void add_runs(enum compare_side side, const char *id, const double *values,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(add(side, &(struct row){id, values[i], RESULT_COMPLETE}, 1), 0);
}

static const double slow[] = {1000, 1020, 990};
static const double slower[] = {1100, 1130, 1090};

static inline void check_gap(size_t number, const char *id, const char *why, bool is_compared)
{
	assert_true(number < comparison.n_gaps);
	assert_string_equal(comparison.gaps[number].line->id, id);
	assert_string_equal(comparison.gaps[number].why, why);
	assert_int_equal(comparison.gaps[number].is_compared, is_compared);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, close_all)

#endif
