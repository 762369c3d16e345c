/* SPDX-License-Identifier: MIT */
/* Writes documents of made-up results, one per line, for schema.py. */
#include "reports/document/document.h"
#include "reports/test/lib/loads.h"
#include "reports/test/lib/qp_sweeps.h"

static struct result sample;

static void plain(void)
{
}

/* Only the complete cases. */
static void complete(void)
{
	for (size_t i = SAMPLE_FAILED; i < SAMPLE_CASES; i++)
		json_decref(sample.cases[i].parameters);
	sample.n_cases = SAMPLE_FAILED;
	sample.status = RESULT_COMPLETE;
}

static void failed(void)
{
	sample.status = RESULT_FAILED;
	sample.cases[SAMPLE_NOT_RUN].status = RESULT_FAILED;
	snprintf(sample.cases[SAMPLE_NOT_RUN].error, sizeof(sample.cases[0].error), "no memory");
}

/* The document on disk during a run. */
static void unfinished(void)
{
	sample.finished[0] = '\0';
	sample.clock = "monotonic_raw";
	sample.clock_hz = 1000000000;
	sample.clock_resolution_ns = 0;
	sample.clock_cost_ns = 0;
	sample.clock_drift_ppm = 0;
}

static void one_trial(void)
{
	sample.cases[SAMPLE_LATENCY].n_trials = 1;
	sample.cases[SAMPLE_BANDWIDTH].n_trials = 1;
}

static void no_windows(void)
{
	rate_windows_finish(sample.cases[SAMPLE_BANDWIDTH].windows, 0);
}

static void no_plan(void)
{
	json_decref(sample.plan);
	sample.plan = NULL;
}

/* Enough samples for all percentiles. */
static void many_samples(void)
{
	struct result_case *line = &sample.cases[SAMPLE_LATENCY];

	hist_init(line->latency);
	for (uint64_t i = 0; i < 200000; i++)
		hist_add(line->latency, 900 + i % 5000);
	for (size_t i = 0; i < line->n_trials; i++)
		statistic_fill(line->trials[i].latency, line->latency);
}

/* A sweep over the load, with a knee. */
static void loads(void)
{
	static const struct load_row rows[] = {
		{100000, 1000, false},
		{200000, 1500, false},
		{300000, 2500, true },
		{400000, 2500, true },
	};

	result_finish(&sample);
	loads_init(&sample, rows, ARRAY_LENGTH(rows));
	hist_init(sample.cases[3].latency);
	hist_add(sample.cases[3].latency, 2500);
}

/* A sweep whose lowest rate is already too high. */
static void loads_beyond(void)
{
	static const struct load_row rows[] = {
		{100000, 1000, true},
		{200000, 1500, true},
		{300000, 2500, true},
	};

	result_finish(&sample);
	loads_init(&sample, rows, ARRAY_LENGTH(rows));
}

/* A sweep over the number of queue pairs, past the maximum throughput. */
static void qp_sweeps(void)
{
	static const struct qp_sweep_row rows[] = {
		{1,    40000},
                {64,   60000},
                {256,  50000},
                {1024, 30000}
        };

	result_finish(&sample);
	qp_sweeps_init(&sample, rows, ARRAY_LENGTH(rows));
}

static void several_threads(void)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];
	struct error error = {0};

	if (shares_open(&line->shares, 2, 2, &error))
		return;
	for (uint64_t i = 0; i < 4; i++)
		line->shares.messages[i] = i;
	line->shares.duration_ns[0] = line->shares.duration_ns[1] = 10;
	json_object_set_new(line->parameters, "threads", json_integer(2));
	json_object_set_new(line->parameters, "pin", json_string("0-6+2"));
}

static void pattern(void)
{
	struct result_case *line = &sample.cases[SAMPLE_BANDWIDTH];
	struct flow_share *flow;
	struct error error = {0};

	if (flows_open(&line->flows, 2, &error))
		return;
	flow = line->flows.flow;
	flow[0] = (struct flow_share){"client 0", "server 0", 5, 10};
	flow[1] = (struct flow_share){"client 1", "server 0", 7, 10};
	json_object_set_new(line->parameters, "pattern", json_string("many-to-one"));
}

int main(void)
{
	static void (*const changes[])(void) = {
		plain,      complete,  failed,       unfinished,   one_trial,
		no_windows, no_plan,   many_samples, loads_beyond, several_threads,
		pattern,    qp_sweeps, loads,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
		struct error error = {0};

		sample_init(&sample);
		changes[i]();
		if (document_write(&sample, "-", &error))
			return 1;
		result_finish(&sample);
	}
	return 0;
}
