/* SPDX-License-Identifier: MIT */
#include "bench/pacing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench/rate.h"

/* A window of the warm-up has so many messages. */
#define WINDOW_MESSAGES 16
/* A schedule was kept if it ended no later than by that part of it. */
#define LATE_PART 100
/* Who falls behind steadily has half of it half way; this much less is still the same. */
#define LATE_HALF 4
#define HICCUP_S  0.01

/* Slower than any schedule can be told. */
#define RATE_LEAST 1e-3

static int find_maximum(struct pace *seen, const struct result_case *most, struct error *error)
{
	double seconds = (double)most->duration_ns / (double)NS_PER_S;

	if (most->status != RESULT_COMPLETE || !most->messages)
		return error_set(error, -ENODATA, "nobody knows what 100 %% are: %.100s: %s",
				 most->id, result_status_name(most->status));
	memcpy(seen->maximum_case, most->id, sizeof(seen->maximum_case));
	seen->maximum = (double)most->messages / seconds;
	return 0;
}

int pacing_aim(struct pacing *pacing, const struct plan *plan, const struct plan_case *wanted,
	       const struct result *result, struct error *error)
{
	const struct parameters *p = &wanted->parameters;
	struct pace *seen = &pacing->seen;
	int code = 0;

	pacing->load.seen = seen;
	pacing->trial = 0;
	seen->maximum = 0;
	seen->maximum_case[0] = '\0';
	if (rate_unit(p->rate) == RATE_PER_CENT)
		code = find_maximum(seen, &result->cases[wanted->maximum], error);
	pacing->rate = rate_messages(p->rate, p->size, seen->maximum);
	if (pacing->rate < RATE_LEAST)
		pacing->rate = RATE_LEAST;
	return code;
}

uint64_t pacing_window_ns(const struct pacing *pacing, uint64_t least_ns, uint64_t most_ns)
{
	double window_ns = WINDOW_MESSAGES * (double)NS_PER_S / pacing->rate;

	if (window_ns > (double)most_ns)
		return most_ns;
	return window_ns > (double)least_ns ? (uint64_t)window_ns : least_ns;
}

void pacing_begin(struct pacing *pacing, const struct plan_case *wanted, const struct clock *clock,
		  bool is_warmup)
{
	const struct parameters *p = &wanted->parameters;
	struct load *load;

	if (p->metric != METRIC_LOAD)
		return;
	load = &pacing->load;
	schedule_init(&load->schedule, clock, pacing->rate, p->arrivals == ARRIVALS_POISSON);
	/* So that what is measured has the same gaps however long it takes to warm up. */
	schedule_seed(&load->schedule, p->seed, is_warmup ? ~pacing->trial : pacing->trial);
}

void pacing_clear(struct pacing *pacing, const struct plan_case *wanted)
{
	if (wanted->parameters.metric != METRIC_LOAD)
		return;
	hist_clear(&pacing->seen.lag);
	hist_clear(&pacing->seen.uncorrected);
}

void pacing_span(struct pacing *pacing, const struct plan_case *wanted, uint64_t from,
		 uint64_t give_up)
{
	if (wanted->parameters.metric != METRIC_LOAD)
		return;
	pacing->load.from = from;
	pacing->load.give_up = give_up;
}

int pacing_loop(struct pacing *pacing, struct lane *lane, const struct plan_case *wanted,
		const struct loop_run *run, struct error *error)
{
	/* The kernel lets a sleeper oversleep, to wake several at once: not this one. */
	int slack = prctl(PR_GET_TIMERSLACK);
	int code;

	pacing->load.stalled = (uint64_t)(((unsigned __int128)lane->stalled_ns << 32) / run->mult);
	prctl(PR_SET_TIMERSLACK, 1);
	code = wanted->op->load(lane, run, error);
	prctl(PR_SET_TIMERSLACK, slack);
	return code;
}

/*
 * It was not kept where its end came late, by a message at least and by more than a machine
 * hiccups, and half way through it was late already: a stall alone is made up for, if there
 * is as much time again.
 */
static bool is_saturated(const struct pacing *pacing, uint64_t messages)
{
	const struct load *load = &pacing->load;
	double each = load->schedule.ticks_per_message;
	double late = (double)load->late;
	double length = (double)messages * each;
	double hiccup = HICCUP_S * pacing->rate * each;

	if (load->unsent)
		return true;
	return late * LATE_PART > length && late >= each &&
	       (late > hiccup || late > length / LATE_HALF) &&
	       load->late_half > load->late / LATE_HALF;
}

int pacing_note(struct pacing *pacing, struct result_trial *found, struct error *error)
{
	const struct load *load = &pacing->load;

	if (!found->messages)
		return error_set(
			error, -ERANGE,
			"no message was due: %g of them a second are too few for that time",
			pacing->rate);
	found->messages_per_s =
		(double)found->messages * (double)NS_PER_S / (double)found->duration_ns;
	found->pace = (struct pace_trial){
		.rate = pacing->rate,
		.unsent = load->unsent,
		.is_saturated = is_saturated(pacing, found->messages),
	};
	pacing->trial++;
	return 0;
}
