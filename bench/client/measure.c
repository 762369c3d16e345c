/* SPDX-License-Identifier: MIT */
#include "bench/client/measure.h"

#include <errno.h>
#include <inttypes.h>

#include "bench/client/merge_threads.h"
#include "bench/client/warmup.h"
#include "bench/lane/cpu_cost.h"
#include "bench/op/op.h"

/* The warm-up, which is not measured, lasts at least this many messages and this long. */
#define WARMUP_MESSAGES 100
#define WARMUP_NS       (20 * NS_PER_MS)
/* Length of a warm-up window. After each, the last few are checked for agreement. */
#define WINDOW_NS (4 * NS_PER_MS)
/* The window of a thread that waits for others to converge: a long one would delay them. */
#define WAITING_NS (200 * NS_PER_US)
/* Messages of the first window, before the time of one is known. */
#define FIRST_WINDOW 16
/* Length of a throughput window. It grows if there are fewer than RATE_WINDOWS_MESSAGES in it. */
#define THROUGHPUT_NS (10 * NS_PER_MS)
/* Minimum time for a load that has fallen behind to catch up after its end. */
#define BEHIND_NS (500 * NS_PER_MS)

bool measure_is_cause(int code)
{
	return code == -ECONNRESET || code == -ESHUTDOWN || code == -EINTR;
}

static int run_loop(struct trial *trial, struct lane *lane, const struct loop_run *run,
		    struct error *error)
{
	const struct plan_case *wanted = trial->wanted;

	if (wanted->parameters.metric == METRIC_LOAD)
		return pacing_loop(trial->pacing, lane, wanted, run, error);
	if (wanted->parameters.metric == METRIC_BW)
		return op_loops_of(wanted->op)->bandwidth(lane, run, error);
	return op_latency(wanted->op, wanted->kind)(lane, run, error);
}

static uint64_t ticks(const struct clock *clock, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / clock->mult);
}

static struct loop_run make_run(const struct trial *trial, const struct trial_lane *own)
{
	const struct clock *clock = trial->settings->clock;
	const struct plan_case *wanted = trial->wanted;
	bool is_half = wanted->parameters.metric == METRIC_LAT && wanted->kind == RESULT_HALF;
	bool is_load = wanted->parameters.metric == METRIC_LOAD;

	return (struct loop_run){
		.messages = UINT64_MAX,
		.until = UINT64_MAX,
		.hist = own->hist,
		.timeline = own->timeline,
		.windows = own->windows,
		.load = is_load ? &trial->pacing->load : NULL,
		.mult = is_half ? clock->mult / 2 : clock->mult,
		.is_counter = clock->is_counter,
	};
}

static void measure_clear(struct trial *trial, struct trial_lane *own)
{
	hist_clear(own->hist);
	if (own->timeline)
		timeline_clear(own->timeline);
	rate_windows_init(own->windows, THROUGHPUT_NS);
	pacing_clear(trial->pacing, trial->wanted);
}

/* A thread that has converged waits for others in short windows. */
static uint64_t window_ns(const struct trial *trial, bool has_converged)
{
	if (has_converged)
		return WAITING_NS;
	if (trial->wanted->parameters.metric != METRIC_LOAD)
		return WINDOW_NS;
	return pacing_window_ns(trial->pacing, WINDOW_NS,
				trial->wanted->parameters.warmup_ns / WARMUP_WINDOWS);
}

/* Under overload, corrected latencies grow with the duration; uncorrected ones do not. */
static const struct hist *warm_hist(const struct trial *trial, const struct trial_lane *own)
{
	return trial->wanted->parameters.metric == METRIC_LOAD ? &trial->pacing->seen.uncorrected
							       : own->hist;
}

/*
 * Runs one window of the warm-up and adds its figure to warmup, which is NULL once the thread has
 * converged. count: in, the messages of this window; out, those of the next.
 */
static int warm_window(struct trial *trial, struct trial_lane *own, struct warmup *warmup,
		       uint64_t *count, struct error *error)
{
	const struct parameters *p = &trial->wanted->parameters;
	bool is_bw = p->metric == METRIC_BW;
	struct loop_run run = make_run(trial, own);
	uint64_t before = own->lane.result.messages;
	uint64_t start = clock_now_ns();
	uint64_t elapsed;
	uint64_t from;
	int code;

	measure_clear(trial, own);
	from = clock_ticks(run.is_counter);
	/* With -n or --latencies, a stream of messages begins with nothing in flight. */
	if (is_bw && (p->iterations != PARAMETER_AUTO || p->latencies))
		run.messages = *count;
	else
		run.until = from + ticks(trial->settings->clock, window_ns(trial, !warmup));
	pacing_span(trial->pacing, trial->wanted, from, run.until);
	code = run_loop(trial, &own->lane, &run, error);
	elapsed = clock_now_ns() - start;
	if (warmup) {
		double messages = (double)(own->lane.result.messages - before);

		*count = 1 + (uint64_t)(messages * WINDOW_NS / (double)elapsed);
		warmup_add(warmup, is_bw ? messages / (double)elapsed
					 : hist_quantile(warm_hist(trial, own), 500000));
	}
	if (!is_bw)
		hist_merge(own->warmup, own->hist);
	return code;
}

/* A thread that has converged goes on until all have: its load is part of what they measure. */
static bool have_all_converged(struct trial *trial, struct result_warmup *seen, bool has_converged)
{
	if (has_converged && !seen->has_converged) {
		seen->has_converged = true;
		atomic_fetch_add(&trial->n_converged, 1);
	}
	return atomic_load(&trial->n_converged) == trial->threads.n;
}

static int warm_up(struct trial *trial, struct trial_lane *own, struct error *error)
{
	struct result_warmup *seen = &own->seen.warmup;
	struct warmup warmup = {0};
	uint64_t count = FIRST_WINDOW;
	uint64_t start = clock_now_ns();
	bool is_over = false;
	int code = 0;

	pacing_begin(trial->pacing, trial->wanted, trial->settings->clock, true);
	hist_clear(own->warmup);
	while (!code && seen->duration_ns < trial->wanted->parameters.warmup_ns && !is_over) {
		code = warm_window(trial, own, seen->has_converged ? NULL : &warmup, &count, error);
		seen->messages = own->lane.result.messages;
		seen->duration_ns = clock_now_ns() - start;
		is_over = have_all_converged(trial, seen,
					     seen->messages >= WARMUP_MESSAGES &&
						     seen->duration_ns >= WARMUP_NS &&
						     warmup_agrees(&warmup));
	}
	return code;
}

/* Turns the hist or windows of all threads, which the first lane has, into figures. */
static int fill_figures(const struct trial *trial, struct result_trial *found, struct error *error)
{
	const struct plan_case *wanted = trial->wanted;
	const struct trial_lane *first = trial->lanes;
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (trial_has_latency(wanted))
		statistic_fill(found->latency, first->hist);
	if (wanted->parameters.metric == METRIC_LAT)
		return 0;
	if (wanted->parameters.metric == METRIC_LOAD)
		return pacing_note(trial->pacing, found, error);
	rate_windows_finish(first->windows, found->duration_ns);
	rate_windows_coarsen(first->windows, RATE_WINDOWS_MESSAGES);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)wanted->parameters.size;
	return 0;
}

/* Appends how many messages a failed trial completed: its other figures are discarded. */
static int fail(const struct parameters *parameters, uint64_t messages, struct error *error)
{
	if (measure_is_cause(error->code))
		return error->code;
	if (parameters->iterations == PARAMETER_AUTO)
		return error_append(error, "after %" PRIu64 " messages", messages);
	return error_append(error, "%" PRIu64 " of %" PRIu64 " messages", messages,
			    parameters->iterations);
}

/* Returns the tick at which messages that are still due are given up. */
static uint64_t behind(const struct clock *clock, uint64_t until, uint64_t duration_ns)
{
	if (until == UINT64_MAX)
		return UINT64_MAX;
	return until + ticks(clock, duration_ns > BEHIND_NS ? duration_ns : BEHIND_NS);
}

/* Called once, when the last thread is ready. */
static void begin_together(void *whole)
{
	struct trial *trial = whole;

	trial->outcome.from_ns = clock_now_ns();
	trial->origin = clock_ticks(trial->settings->clock->is_counter);
}

static int measure_lane(struct trial *trial, struct trial_lane *own, struct error *error)
{
	const struct parameters *parameters = &trial->wanted->parameters;
	const struct clock *clock = trial->settings->clock;
	struct loop_run run = make_run(trial, own);
	struct result_trial *found = &own->seen;
	struct lane *lane = &own->lane;
	struct result_cost before;
	uint64_t received;
	int code = warm_up(trial, own, error);

	if (code)
		return measure_is_cause(code) ? code : error_append(error, "during warm-up");
	measure_clear(trial, own);
	run.messages = parameters->iterations;
	run.samples = own->samples;
	if (run.samples)
		run.samples->count = 0;
	received = lane->result.received;
	before = cpu_cost_now(lane);
	pacing_begin(trial->pacing, trial->wanted, clock, false);
	code = threads_meet(&trial->threads, begin_together, error);
	if (code)
		return code;
	run.origin = trial->origin;
	if (parameters->duration_ns != PARAMETER_AUTO)
		run.until = run.origin + ticks(clock, parameters->duration_ns);
	pacing_span(trial->pacing, trial->wanted, run.origin,
		    behind(clock, run.until, parameters->duration_ns));
	lane->result.first_tick = lane->result.last_tick = 0;
	run.has_waited = trial->threads.n > 1;
	code = run_loop(trial, lane, &run, error);
	own->until_ns = clock_now_ns();
	if (!lane->result.last_tick)
		lane->result.last_tick = clock_ticks(run.is_counter);
	if (!lane->result.first_tick)
		lane->result.first_tick = run.origin;
	found->duration_ns =
		clock_to_ns(lane->result.last_tick - lane->result.first_tick, clock->mult);
	own->received_per_s = 0;
	if (found->duration_ns)
		own->received_per_s = (double)(lane->result.received - received) *
				      (double)NS_PER_S / (double)found->duration_ns;
	found->client = cpu_cost_since(lane, &before);
	found->messages = found->client.messages;
	return code ? fail(parameters, found->messages, error) : 0;
}

static int thread_measure(void *whole, unsigned int number, struct error *error)
{
	struct trial *trial = whole;
	struct trial_lane *own = &trial->lanes[number];
	int code;

	own->seen = (struct result_trial){0};
	code = measure_lane(trial, own, error);
	if (code && !measure_is_cause(code) && trial->threads.n > 1)
		error_wrap(error, "thread %u", number);
	return code;
}

int measure_all(struct trial *trial, struct result_trial *found, struct error *error)
{
	int code;

	atomic_store(&trial->n_converged, 0);
	code = threads_all(&trial->threads, thread_measure, trial, error);
	if (!code)
		code = merge_threads_parts(trial, found, error);
	return code ? code : fill_figures(trial, found, error);
}

int measure_one(struct trial *trial, struct error *error)
{
	struct loop_run run = make_run(trial, trial->lanes);

	rate_windows_init(trial->lanes->windows, THROUGHPUT_NS);
	run.messages = 1;
	return op_loops_of(trial->wanted->op)->bandwidth(&trial->lanes->lane, &run, error);
}
