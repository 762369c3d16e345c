/* SPDX-License-Identifier: MIT */
#include "bench/plan/plan.h"
#include "bench/plan/rate.h"
#include "core/base/clock.h"

/* Warm-up and set-up of a trial on both sides. */
#define TRIAL_NS (30 * NS_PER_MS)
/* Assumed time per message if the plan gives no duration. */
#define MESSAGE_NS (10 * NS_PER_US)

/* Assumes 1 ns per byte (8 Gb/s); a load follows its schedule. */
static unsigned __int128 message_ns(const struct parameters *p)
{
	if (p->metric == METRIC_LOAD && rate_unit(p->rate) != RATE_PER_CENT)
		return (unsigned __int128)(1e9 / rate_messages(p->rate, p->size, 0));
	return MESSAGE_NS + p->size;
}

static uint64_t bounded(unsigned __int128 ns)
{
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* 128 bits hold a million cases with the largest number of messages. */
static unsigned __int128 trial_ns(const struct parameters *p)
{
	unsigned __int128 trial = p->duration_ns;
	uint64_t setup_ns = TRIAL_NS;

	if (p->duration_ns == PARAMETER_AUTO)
		trial = p->iterations * message_ns(p);
	return trial + setup_ns;
}

static unsigned __int128 estimate_ns(const struct plan_case *line)
{
	return line->skipped[0] ? 0 : line->parameters.trials * trial_ns(&line->parameters);
}

uint64_t plan_trial_ns(const struct plan_case *line)
{
	return bounded(trial_ns(&line->parameters));
}

uint64_t plan_unbudgeted_ns(const struct plan *plan, size_t from)
{
	unsigned __int128 sum = 0;

	for (size_t i = from; i < plan->n_cases; i++)
		if (!plan_is_budgeted(&plan->cases[i]))
			sum += estimate_ns(&plan->cases[i]);
	return bounded(sum);
}

uint64_t plan_estimate_ns(const struct plan *plan, size_t n_cases)
{
	unsigned __int128 sum = 0;

	for (size_t i = 0; i < n_cases; i++)
		sum += estimate_ns(&plan->cases[i]);
	if (n_cases == plan->n_cases && sum < plan->budget_ns)
		sum = plan->budget_ns;
	return bounded(sum);
}

/* Returns how much time the warm-ups add if no case ever stabilizes. */
static double warmups_s(const struct plan *plan)
{
	double sum = 0;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct parameters *p = &plan->cases[i].parameters;

		if (!plan->cases[i].skipped[0])
			sum += (double)p->trials * (double)p->warmup_ns / (double)NS_PER_S;
	}
	return sum;
}

/* Returns the estimated time of all trials without those that fill the budget. */
static double minimum_s(const struct plan *plan)
{
	double sum = 0;

	for (size_t i = 0; i < plan->n_cases; i++)
		sum += (double)estimate_ns(&plan->cases[i]) / (double)NS_PER_S;
	return sum;
}

void plan_print(const struct plan *plan, FILE *out)
{
	double seconds = (double)plan_estimate_ns(plan, plan->n_cases) / (double)NS_PER_S;
	double most = minimum_s(plan) + warmups_s(plan);
	size_t runs = 0;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct plan_case *line = &plan->cases[i];

		runs += !line->skipped[0];
		fprintf(out, "%s%s%s\n", line->id, line->skipped[0] ? ": skipped: " : "",
			line->skipped);
	}
	fprintf(out, "%zu %s, about %.0f s", runs, runs == 1 ? "case" : "cases", seconds);
	if (most > seconds)
		fprintf(out, ", up to %.0f s if they are slow to stabilize", most);
	fputc('\n', out);
}
