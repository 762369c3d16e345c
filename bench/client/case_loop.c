/* SPDX-License-Identifier: MIT */
#include "bench/client/case_loop.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/client/budget.h"
#include "bench/client/case_results.h"
#include "bench/client/failure_hint.h"
#include "bench/client/needs.h"
#include "bench/control/protocol.h"
#include "bench/host/advice/advice.h"
#include "bench/host/soft_device.h"
#include "reports/finding/precision.h"
#include "reports/result/banner.h"

/* Documents with many more warnings than this are refused. */
#define WARNINGS_MOST 1000

/* Adds the shares of queue pairs and flows: how evenly they divided the throughput. */
static int note_shares(const struct trial *trial, const struct plan_case *wanted,
		       struct result_case *found, bool is_first, struct error *error)
{
	struct flows flows = {0};
	int code = result_add_shares(found, &trial->outcome.shares, is_first, error);

	if (!code)
		code = pattern_flows(&wanted->parameters, &trial->outcome.shares, &flows, error);
	if (!code)
		code = result_add_flows(found, &flows, is_first, error);
	flows_close(&flows);
	if (!code && trial->outcome.receivers.count)
		code = receivers_add(&found->receivers, &trial->outcome.receivers, error);
	return code;
}

static void write_samples(struct sample_file *file, const struct trial *trial,
			  const struct result_case *found)
{
	for (unsigned int i = 0; i < trial->threads.n; i++)
		sample_file_add(file, found->id, found->n_trials, i + 1, trial->lanes[i].samples);
}

/* Runs one trial and adds its results to the case. */
static int run_trial(const struct case_loop *loop, const struct plan_case *wanted,
		     struct result_case *found, struct error *error)
{
	struct trial *trial = loop->trial;
	bool is_bw = wanted->parameters.metric == METRIC_BW;
	bool is_first = !found->n_trials;
	struct result_trial seen;
	int code = trial_run(trial, &seen, error);

	if (!code)
		code = result_add_trial(found, &seen,
					trial_has_latency(wanted) ? trial->lanes->hist : NULL,
					is_bw ? trial->lanes->windows : NULL, error);
	if (!code && wanted->parameters.metric == METRIC_LOAD)
		code = pace_add(found, &trial->pacing->seen, error);
	if (!code && trial->lanes->timeline)
		code = breakdown_add(found, &trial->lanes->timeline->seen, error);
	if (!code)
		code = note_shares(trial, wanted, found, is_first, error);
	if (!code)
		code = result_add_warmup(found, trial->lanes->warmup, error);
	if (!code && loop->sweep->samples.file && trial_has_latency(wanted))
		write_samples(&loop->sweep->samples, trial, found);
	return code;
}

/* Returns the estimated part of the plan before this case. Cases with a budget run first. */
static uint64_t done_before(const struct plan *plan, size_t number)
{
	if (!plan->budget_ns)
		return plan_estimate_ns(plan, number);
	return plan_estimate_ns(plan, plan->n_cases) - plan_unbudgeted_ns(plan, number);
}

static void begin_case(const struct case_loop *loop, size_t number, uint64_t done_ns)
{
	if (loop->view)
		loop->view->begins(loop->view, loop->result, number, done_ns);
}

/* Runs `count` trials of one case, whose beginning was shown. */
static int run_trials(const struct case_loop *loop, size_t number, uint64_t count,
		      struct error *error)
{
	struct trial *trial = loop->trial;
	const struct plan_case *wanted = &loop->plan->cases[number];
	struct result_case *found = &loop->result->cases[number];
	int code = trial_open(trial, wanted, error);

	for (uint64_t i = 0; i < count && !code; i++) {
		if (i)
			begin_case(loop, number,
				   done_before(loop->plan, number) + i * plan_trial_ns(wanted));
		trial->has_next = i + 1 < count;
		code = run_trial(loop, wanted, found, error);
	}
	trial_close(trial);
	/* An earlier trial may have completed. */
	if (!code || !found->n_trials) {
		found->client_place = trial->outcome.client_place;
		found->server_place = trial->outcome.server_place;
		found->client_chosen = trial->outcome.client_chosen;
		found->server_chosen = trial->outcome.server_chosen;
	}
	return code;
}

/* Runs all trials of a case. Before that, if asked to, finds out which receives it needs. */
static int run_whole(const struct case_loop *loop, size_t number, struct error *error)
{
	struct trial *trial = loop->trial;
	const struct plan_case *wanted = &loop->plan->cases[number];
	struct error fault = {0};

	if (wanted->parameters.needs) {
		if (needs_find(trial, wanted, &loop->result->cases[number].needs, error))
			return error->code;
		/* These failures were provoked: do not attribute them to the device. */
		if (sweep_note(loop->sweep, NULL, &fault) == -ESHUTDOWN) {
			trial->is_lost = true;
			return error_set(error, fault.code, "%s", fault.text);
		}
	}
	return run_trials(loop, number, wanted->parameters.trials, error);
}

/* Sets the rate of a load, which may be a percentage of an earlier case's. */
static int aim(struct trial *trial, const struct plan *plan, size_t number,
	       const struct result *result, struct error *error)
{
	const struct plan_case *wanted = &plan->cases[number];

	if (wanted->parameters.metric != METRIC_LOAD)
		return 0;
	return pacing_aim(trial->pacing, plan, wanted, result, error);
}

/* Returns the MTU that the case requests, or the smaller MTU of the two ports. */
static unsigned int packet_size(const struct parameters *p, const struct result *result)
{
	unsigned int client = result->client.mtu;
	unsigned int server = result->server.mtu;

	if (p->mtu != PARAMETER_AUTO)
		return (unsigned int)p->mtu;
	return client < server ? client : server;
}

/* The server is reachable, but its soft0 is not the client's. */
static void explain_reach(const struct result *result, struct error *fault)
{
	if (banner_of(result) && fault->code == -ECONNREFUSED)
		error_append(fault, SOFT_DEVICE_NAME
			     " reaches only processes of the same user on the same machine");
}

/* Returns the first case from `next` on that is not skipped and has no budget, or n_cases. */
static size_t next_case(const struct plan *plan, size_t next)
{
	while (next < plan->n_cases &&
	       (plan->cases[next].skipped[0] || plan_is_budgeted(&plan->cases[next])))
		next++;
	return next;
}

/* Announces the next case while this one is saved. A load's rate may turn out to be unknown. */
static void announce(struct trial *trial, const struct plan *plan, size_t next)
{
	next = next_case(plan, next);
	if (next < plan->n_cases && plan->cases[next].parameters.metric != METRIC_LOAD)
		trial_announce(trial, &plan->cases[next]);
}

static void grow_case(const struct case_loop *loop)
{
	if (loop->view)
		loop->view->grows(loop->view, loop->result);
}

static void end_case(const struct case_loop *loop, size_t number)
{
	if (loop->view)
		loop->view->ends(loop->view, loop->result, number);
}

/* Adds what other cases and the devices tell about a failure. */
static void explain(const struct case_loop *loop, size_t number, struct error *fault)
{
	const struct parameters *p = &loop->plan->cases[number].parameters;

	failure_hint_size(loop->result, number, packet_size(p, loop->result), fault);
	explain_reach(loop->result, fault);
}

/* Sets the status of a case whose trials are complete, or one of whose trials failed. */
static void judge_case(const struct case_loop *loop, size_t number, struct error *fault)
{
	struct result_case *found = &loop->result->cases[number];

	/* The trials of a failed case are no measurement. */
	if (fault->code)
		result_drop_trials(found);
	explain(loop, number, fault);
	found->status = case_results_status(fault);
	snprintf(found->error, sizeof(found->error), "%s", fault->text);
}

/* Notes the counters. After the last case, a server that shuts down does not matter. */
static void note(const struct case_loop *loop, struct result_case *found, bool is_last,
		 struct error *error)
{
	struct error fault = {0};

	if (sweep_note(loop->sweep, found, &fault) != -ESHUTDOWN || is_last)
		return;
	loop->trial->is_lost = true;
	error_set(error, fault.code, "%s", fault.text);
}

static void run_case(const struct case_loop *loop, size_t number, struct error *error)
{
	struct trial *trial = loop->trial;
	struct result_case *found = &loop->result->cases[number];
	struct error fault = {0};
	bool was_lost;

	begin_case(loop, number, done_before(loop->plan, number));
	if (!aim(trial, loop->plan, number, loop->result, &fault))
		run_whole(loop, number, &fault);
	was_lost = trial->is_lost;
	/* Read the counters after each case, so that a case gets only its own packets. */
	if (!was_lost)
		note(loop, found, next_case(loop->plan, number + 1) == loop->plan->n_cases, error);
	if (!trial->is_lost)
		announce(trial, loop->plan, number + 1);
	judge_case(loop, number, &fault);
	end_case(loop, number);
	if (was_lost)
		error_set(error, fault.code, "%s", fault.text);
}

/* Cases whose trials are interleaved. */
struct turns {
	size_t first;
	size_t count;
	uint64_t budget_ns; /* 0: each case has its number of trials */
	uint64_t before_ns; /* estimates of what is done before these cases, and after them */
	uint64_t after_ns;
	uint64_t start_ns;
	struct budget budget;
};

static bool takes_turns(const struct turns *turns, const struct plan_case *wanted)
{
	return turns->budget_ns ? plan_is_budgeted(wanted) : !wanted->skipped[0];
}

static int open_turns(const struct case_loop *loop, struct turns *turns, struct error *error)
{
	struct budget *budget = &turns->budget;

	budget->n_cases = turns->count;
	budget->cases = calloc(turns->count, sizeof(*budget->cases));
	if (!budget->cases)
		return error_set_errno(error, -ENOMEM, "cannot store the results");
	for (size_t i = 0; i < turns->count; i++) {
		const struct plan_case *wanted = &loop->plan->cases[turns->first + i];
		bool takes_part = takes_turns(turns, wanted);

		budget->cases[i] = (struct budget_case){
			.minimum = wanted->parameters.trials,
			.precision = (double)wanted->parameters.precision / 100,
			.is_over = !takes_part,
			.trial_ns = takes_part ? plan_trial_ns(wanted) : 0,
			.width = (double)NAN,
		};
	}
	turns->start_ns = clock_now_ns();
	return 0;
}

/* Returns what is left of the budget. */
static uint64_t left_ns(const struct turns *turns)
{
	uint64_t elapsed_ns = clock_now_ns() - turns->start_ns;

	return elapsed_ns < turns->budget_ns ? turns->budget_ns - elapsed_ns : 0;
}

/* Returns the estimated part of the plan that is done. It follows the time that trials take. */
static uint64_t done_ns(const struct turns *turns)
{
	double elapsed = (double)(clock_now_ns() - turns->start_ns);
	double left = fmax((double)left_ns(turns), budget_missing_ns(&turns->budget));
	double all = (double)(turns->after_ns - turns->before_ns);

	return turns->before_ns + (uint64_t)(all * elapsed / (elapsed + left + 1));
}

/* Adds a warning about a trial that the case did not need. */
static void warn_of_trial(const struct case_loop *loop, size_t number, struct error *fault)
{
	struct result *result = loop->result;
	const struct result_case *found = &result->cases[number];
	char what[sizeof(found->id) + sizeof(fault->text) + 64];

	explain(loop, number, fault);
	if (!result->warnings)
		result->warnings = json_array();
	if (json_array_size(result->warnings) >= WARNINGS_MOST)
		return;
	snprintf(what, sizeof(what), "%s: trial %zu failed and is not counted: %s", found->id,
		 found->n_trials + 1, fault->text);
	json_array_append_new(
		result->warnings,
		advice_finding("failed-trial", true, result->client.host, what,
			       "the figures cover only the trials that succeeded; the case got "
			       "no further trials",
			       ""));
}

/* Returns whether a failure leaves the case its trials. Wrong data always fail the case. */
static bool is_optional(const struct budget_case *line, const struct plan_case *wanted)
{
	return line->n_trials >= line->minimum && !wanted->parameters.verify;
}

/* Runs one trial. A case with a budget is complete as soon as it has a trial. */
static void run_turn(const struct case_loop *loop, struct turns *turns, size_t place,
		     struct error *error)
{
	struct trial *trial = loop->trial;
	size_t number = turns->first + place;
	const struct plan_case *wanted = &loop->plan->cases[number];
	struct result_case *found = &loop->result->cases[number];
	struct budget_case *line = &turns->budget.cases[place];
	struct error fault = {0};
	uint64_t start_ns;

	begin_case(loop, number, done_ns(turns));
	start_ns = clock_now_ns();
	run_trials(loop, number, 1, &fault);
	if (trial->is_lost)
		error_set(error, fault.code, "%s", fault.text);
	if (fault.code)
		line->is_over = true;
	else
		budget_add(line, clock_now_ns() - start_ns, precision_width(found));
	/* If the run ends early, a case keeps the trials that it has. */
	if (plan_is_budgeted(wanted) && trial->is_lost && found->n_trials)
		return;
	if (fault.code && is_optional(line, wanted)) {
		warn_of_trial(loop, number, &fault);
		return;
	}
	if (fault.code || plan_is_budgeted(wanted) || line->n_trials == line->minimum)
		judge_case(loop, number, &fault);
	if (plan_is_budgeted(wanted) && !fault.code)
		grow_case(loop);
}

/*
 * Without a budget, cases with missing trials have no figures if the server was lost. All cases are
 * finished before the first is shown, because the document written then contains all of them.
 */
static void finish_turns(const struct case_loop *loop, const struct turns *turns)
{
	for (size_t i = turns->first; i < turns->first + turns->count; i++)
		if (loop->result->cases[i].status == RESULT_INTERRUPTED)
			result_drop_trials(&loop->result->cases[i]);
	for (size_t i = turns->first; i < turns->first + turns->count; i++)
		if (takes_turns(turns, &loop->plan->cases[i]))
			end_case(loop, i);
}

/*
 * Interleaves the trials of these cases: the state of the machine affects all of them alike, so
 * that trials of the same round can be compared directly. is_last: no cases run after these.
 */
static void run_turns(const struct case_loop *loop, struct turns *turns, bool is_last,
		      struct error *error)
{
	struct budget *budget = &turns->budget;
	size_t place;

	if (open_turns(loop, turns, error))
		return;
	place = budget_next(budget, left_ns(turns));
	while (place < turns->count) {
		struct result_case *found = &loop->result->cases[turns->first + place];

		run_turn(loop, turns, place, error);
		if (loop->trial->is_lost)
			break;
		place = budget_next(budget, left_ns(turns));
		note(loop, found, is_last && place == turns->count, error);
		if (loop->trial->is_lost)
			break;
		if (place < turns->count)
			trial_announce(loop->trial, &loop->plan->cases[turns->first + place]);
	}
	finish_turns(loop, turns);
	free(budget->cases);
}

/* Runs all cases that have a budget. Time for the other cases is set aside. */
static void run_budget(const struct case_loop *loop, struct error *error)
{
	const struct plan *plan = loop->plan;
	uint64_t others_ns = plan_unbudgeted_ns(plan, 0);
	struct turns turns = {
		.count = plan->n_cases,
		.budget_ns = plan->budget_ns > others_ns ? plan->budget_ns - others_ns : 1,
		.after_ns = done_before(plan, 0),
	};

	run_turns(loop, &turns, next_case(plan, 0) == plan->n_cases, error);
}

static void run_interleaved(const struct case_loop *loop, size_t first, size_t count,
			    struct error *error)
{
	const struct plan *plan = loop->plan;
	struct turns turns = {
		.first = first,
		.count = count,
		.before_ns = done_before(plan, first),
		.after_ns = done_before(plan, first + count),
	};

	run_turns(loop, &turns, next_case(plan, first + count) == plan->n_cases, error);
}

int case_loop_run(const struct case_loop *loop, struct error *error)
{
	const struct plan *plan = loop->plan;
	size_t turns;

	if (plan->budget_ns)
		run_budget(loop, error);
	for (size_t i = next_case(plan, 0); i < plan->n_cases && !error->code;
	     i = next_case(plan, i + turns)) {
		turns = plan_turns(plan, i);
		if (turns > 1)
			run_interleaved(loop, i, turns, error);
		else
			run_case(loop, i, error);
	}
	return error->code;
}
