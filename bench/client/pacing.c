/* SPDX-License-Identifier: MIT */
#include "bench/client/pacing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench/op/op.h"
#include "bench/plan/rate.h"

/* Messages per warm-up window. */
#define WINDOW_MESSAGES 16
/* The schedule was kept if some message near its end was late by less than 1/LATE_PART of it. */
#define LATE_PART 200
/*
 * A sender that falls behind steadily is at least two thirds as late in the third quarter as in the
 * last one. If it was less late than 1/LATE_BEFORE, it may have fallen behind only at the end.
 */
#define LATE_BEFORE 4

/* Lower bound of the rate; a schedule cannot represent a slower one. */
#define RATE_LEAST 1e-3

static int find_maximum(struct pace *seen, const struct result_case *most, struct error *error)
{
	if (most->status != RESULT_COMPLETE || !most->messages)
		return error_set(error, -ENODATA,
				 "--rate: 100 %% is unknown: case %.100s has status %s", most->id,
				 result_status_name(most->status));
	memcpy(seen->maximum_case, most->id, sizeof(seen->maximum_case));
	seen->maximum = result_rate(most, false);
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
	arrival_init(&load->arrival, clock, pacing->rate, p->arrivals == ARRIVALS_POISSON);
	if (p->burst != PARAMETER_AUTO)
		arrival_burst(&load->arrival, p->burst);
	/* The measured gaps must not depend on the length of the warm-up. */
	arrival_seed(&load->arrival, p->seed, is_warmup ? ~pacing->trial : pacing->trial);
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
	/* Timer slack lets the kernel delay wakeups to batch them; a load must wake up on time. */
	int slack = prctl(PR_GET_TIMERSLACK);
	int code;

	pacing->load.stalled =
		(uint64_t)(((unsigned __int128)lane->settings.stalled_ns << 32) / run->mult);
	prctl(PR_SET_TIMERSLACK, 1);
	code = op_loops_of(wanted->op)->load(lane, run, error);
	prctl(PR_SET_TIMERSLACK, slack);
	return code;
}

/*
 * The schedule was not kept if the sender never caught up in the last quarter and was further
 * behind than in the quarter before. After a stall, however long, lateness shrinks while the sender
 * catches up; only under overload does it keep growing.
 */
static bool is_saturated(const struct pacing *pacing, uint64_t messages)
{
	const struct load *load = &pacing->load;
	double each = load->arrival.ticks_per_message;
	double least = (double)load->least;
	double before = (double)load->least_before;

	if (load->unsent)
		return true;
	return least >= each && least * LATE_PART > (double)messages * each && before < least &&
	       before * LATE_BEFORE >= least;
}

int pacing_note(struct pacing *pacing, struct result_trial *found, struct error *error)
{
	const struct load *load = &pacing->load;

	if (!found->messages)
		return error_set(
			error, -ERANGE,
			"no message was due: %g messages per second is too slow for a trial this "
			"short; use a longer -D or a higher --rate",
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
