/* SPDX-License-Identifier: MIT */
#include "bench/client/measure.h"

#include <errno.h>
#include <inttypes.h>

#include "bench/client/merge_threads.h"
#include "bench/client/warmup.h"
#include "bench/lane/cpu_cost.h"
#include "bench/op/op.h"

/* Warm-up is extra: so many messages, and so long, at the least. */
#define WARMUP_MESSAGES 100
#define WARMUP_NS       (20 * NS_PER_MS)
/* It looks after each window of that time whether the last ones agree. */
#define WINDOW_NS (4 * NS_PER_MS)
/* Of a thread that is steady and waits for others: what it sends when they are is lost. */
#define WAITING_NS (200 * NS_PER_US)
/* As many messages, before it is known how long they take. */
#define FIRST_WINDOW 16
/* Throughput is counted in windows of that time, or longer for RATE_WINDOWS_MESSAGES. */
#define THROUGHPUT_NS (10 * NS_PER_MS)
/* A load that is behind is given at least that, after its end, to catch up. */
#define BEHIND_NS (500 * NS_PER_MS)

/* What all threads of a trial do. */
struct order {
	struct trial *trial;
	const struct plan_case *wanted;
};

bool measure_is_cause(int code)
{
	return code == -ECONNRESET || code == -ESHUTDOWN || code == -EINTR;
}

static int loop(struct trial *trial, const struct plan_case *wanted, const struct loop_run *run,
		struct error *error)
{
	struct lane *lane = &trial->lane;

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

static struct loop_run make_run(const struct trial *trial, const struct plan_case *wanted)
{
	const struct clock *clock = trial->clock;
	bool is_half = wanted->parameters.metric == METRIC_LAT && wanted->kind == RESULT_HALF;
	bool is_load = wanted->parameters.metric == METRIC_LOAD;

	return (struct loop_run){
		.messages = UINT64_MAX,
		.until = UINT64_MAX,
		.hist = trial->hist,
		.windows = trial->windows,
		.load = is_load ? &trial->pacing->load : NULL,
		.mult = is_half ? clock->mult / 2 : clock->mult,
		.is_counter = clock->is_counter,
	};
}

/* steady NULL: it waits for the others, and is to see soon that they are steady as well. */
static uint64_t window_ns(const struct trial *trial, const struct plan_case *wanted,
			  const struct warmup *steady)
{
	if (!steady)
		return WAITING_NS;
	if (wanted->parameters.metric != METRIC_LOAD)
		return WINDOW_NS;
	return pacing_window_ns(trial->pacing, WINDOW_NS,
				wanted->parameters.warmup_ns / WARMUP_WINDOWS);
}

/* What a load has for latency, where it is too much, depends on how long it lasts. */
static const struct hist *warm_hist(const struct trial *trial, const struct plan_case *wanted)
{
	return wanted->parameters.metric == METRIC_LOAD ? &trial->pacing->seen.uncorrected
							: trial->hist;
}

/* Runs one window of the warm-up and adds its figure, where that is wanted. */
static int warm_window(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		       struct warmup *steady, struct error *error)
{
	bool is_bw = wanted->parameters.metric == METRIC_BW;
	struct loop_run run = make_run(trial, wanted);
	uint64_t before = lane->result.messages;
	uint64_t start = clock_now_ns();
	uint64_t elapsed;
	uint64_t from;
	int code;

	hist_clear(trial->hist);
	rate_windows_init(trial->windows, THROUGHPUT_NS);
	pacing_clear(trial->pacing, wanted);
	from = clock_ticks(run.is_counter);
	/* A stream that is to be counted, or timed, begins with nothing under way. */
	if (is_bw &&
	    (wanted->parameters.iterations != PARAMETER_AUTO || wanted->parameters.latencies))
		run.messages = trial->window_messages;
	else
		run.until = from + ticks(trial->clock, window_ns(trial, wanted, steady));
	pacing_span(trial->pacing, wanted, from, run.until);
	code = loop(trial, wanted, &run, error);
	elapsed = clock_now_ns() - start;
	if (steady) {
		double messages = (double)(lane->result.messages - before);

		trial->window_messages = 1 + (uint64_t)(messages * WINDOW_NS / (double)elapsed);
		warmup_add(steady, is_bw ? messages / (double)elapsed
					 : hist_quantile(warm_hist(trial, wanted), 500000));
	}
	if (!is_bw && trial->warmup)
		hist_merge(trial->warmup, trial->hist);
	return code;
}

/* Nobody stops before all of them are: what the others still do is part of what it is like. */
static bool are_all_steady(struct trial *trial, struct result_warmup *warmup, bool is_steady)
{
	struct trial *whole = trial->whole;

	if (is_steady && !warmup->has_converged) {
		warmup->has_converged = true;
		atomic_fetch_add(&whole->n_steady, 1);
	}
	return atomic_load(&whole->n_steady) == whole->threads.n;
}

static int warm_up(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		   struct result_warmup *warmup, struct error *error)
{
	struct warmup steady = {0};
	uint64_t start = clock_now_ns();
	bool is_over = false;
	int code = 0;

	trial->window_messages = FIRST_WINDOW;
	pacing_begin(trial->pacing, wanted, trial->clock, true);
	if (trial->warmup)
		hist_clear(trial->warmup);
	while (!code && warmup->duration_ns < wanted->parameters.warmup_ns && !is_over) {
		code = warm_window(trial, lane, wanted, warmup->has_converged ? NULL : &steady,
				   error);
		warmup->messages = lane->result.messages;
		warmup->duration_ns = clock_now_ns() - start;
		is_over = are_all_steady(trial, warmup,
					 warmup->messages >= WARMUP_MESSAGES &&
						 warmup->duration_ns >= WARMUP_NS &&
						 warmup_agrees(&steady));
	}
	return code;
}

/* What the loop has left in hist or windows becomes figures. */
static int note(const struct trial *trial, const struct plan_case *wanted,
		struct result_trial *found, struct error *error)
{
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (trial_has_latency(wanted))
		statistic_fill(found->latency, trial->hist);
	if (wanted->parameters.metric == METRIC_LAT)
		return 0;
	if (wanted->parameters.metric == METRIC_LOAD)
		return pacing_note(trial->pacing, found, error);
	rate_windows_finish(trial->windows, found->duration_ns);
	rate_windows_coarsen(trial->windows, RATE_WINDOWS_MESSAGES);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)wanted->parameters.size;
	return 0;
}

/* How far it came: all that is left of a trial that failed. */
static int fail(const struct parameters *parameters, uint64_t messages, struct error *error)
{
	if (measure_is_cause(error->code))
		return error->code;
	if (parameters->iterations == PARAMETER_AUTO)
		return error_append(error, "after %" PRIu64 " messages", messages);
	return error_append(error, "%" PRIu64 " of %" PRIu64 " messages", messages,
			    parameters->iterations);
}

/* When to give up what was due: nobody waits much longer than was asked for. */
static uint64_t behind(const struct clock *clock, uint64_t until, uint64_t duration_ns)
{
	if (until == UINT64_MAX)
		return UINT64_MAX;
	return until + ticks(clock, duration_ns > BEHIND_NS ? duration_ns : BEHIND_NS);
}

/* The last of them has come. */
static void begin_together(void *whole)
{
	const struct order *order = whole;
	struct trial *trial = order->trial;

	trial->gate_fault = (struct error){0};
	if (trial->gate && trial->gate->open(trial->gate, &trial->gate_fault))
		return;
	trial->from_ns = clock_now_ns();
	trial->origin = clock_ticks(trial->clock->is_counter);
}

static int measure(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		   struct result_trial *found, struct error *error)
{
	const struct parameters *parameters = &wanted->parameters;
	struct loop_run run = make_run(trial, wanted);
	struct result_cost before;
	uint64_t received;
	int code = warm_up(trial, lane, wanted, &found->warmup, error);

	if (code)
		return measure_is_cause(code) ? code : error_append(error, "while it warmed up");
	hist_clear(trial->hist);
	rate_windows_init(trial->windows, THROUGHPUT_NS);
	pacing_clear(trial->pacing, wanted);
	run.messages = parameters->iterations;
	received = lane->result.received;
	before = cpu_cost_now(lane);
	pacing_begin(trial->pacing, wanted, trial->clock, false);
	code = threads_meet(&trial->whole->threads, begin_together, error);
	if (!code && trial->whole->gate_fault.code)
		code = error_set(error, trial->whole->gate_fault.code, "%s",
				 trial->whole->gate_fault.text);
	if (code)
		return code;
	run.origin = trial->whole->origin;
	if (parameters->duration_ns != PARAMETER_AUTO)
		run.until = run.origin + ticks(trial->clock, parameters->duration_ns);
	pacing_span(trial->pacing, wanted, run.origin,
		    behind(trial->clock, run.until, parameters->duration_ns));
	lane->result.first_tick = lane->result.last_tick = 0;
	run.has_waited = trial->whole->threads.n > 1 || trial->whole->gate;
	code = loop(trial, wanted, &run, error);
	trial->until_ns = clock_now_ns();
	if (!lane->result.last_tick)
		lane->result.last_tick = clock_ticks(run.is_counter);
	if (!lane->result.first_tick)
		lane->result.first_tick = run.origin;
	found->duration_ns =
		clock_to_ns(lane->result.last_tick - lane->result.first_tick, trial->clock->mult);
	trial->received_per_s = 0;
	if (found->duration_ns)
		trial->received_per_s = (double)(lane->result.received - received) *
					(double)NS_PER_S / (double)found->duration_ns;
	found->client = cpu_cost_since(lane, &before);
	found->messages = found->client.messages;
	return code ? fail(parameters, found->messages, error) : 0;
}

static int measure_part(void *whole, unsigned int number, struct error *error)
{
	const struct order *order = whole;
	struct trial *part = trial_part(order->trial, number);
	int code;

	part->seen = (struct result_trial){0};
	code = measure(part, &part->lane, order->wanted, &part->seen, error);
	if (code && !measure_is_cause(code) && order->trial->threads.n > 1)
		error_wrap(error, "thread %u", number);
	return code;
}

int measure_all(struct trial *trial, const struct plan_case *wanted, struct result_trial *found,
		struct error *error)
{
	struct order order = {trial, wanted};
	int code;

	atomic_store(&trial->n_steady, 0);
	code = threads_all(&trial->threads, measure_part, &order, error);
	if (!code)
		code = merge_threads_parts(trial, wanted, found, error);
	return code ? code : note(trial, wanted, found, error);
}

int measure_one(struct trial *trial, const struct plan_case *wanted, struct error *error)
{
	struct loop_run run = make_run(trial, wanted);

	rate_windows_init(trial->windows, THROUGHPUT_NS);
	run.messages = 1;
	return op_loops_of(wanted->op)->bandwidth(&trial->lane, &run, error);
}
