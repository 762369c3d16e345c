/* SPDX-License-Identifier: MIT */
#include "bench/client/case_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/client/case_results.h"
#include "bench/client/failure_hint.h"
#include "bench/client/needs.h"
#include "bench/control/protocol.h"
#include "bench/host/soft_device.h"
#include "reports/result/banner.h"

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
	return code;
}

/* Runs one trial and adds its results to the case. */
static int run_trial(struct trial *trial, const struct plan_case *wanted, struct result_case *found,
		     struct error *error)
{
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
	if (!code)
		code = note_shares(trial, wanted, found, is_first, error);
	if (!code)
		code = result_add_warmup(found, trial->lanes->warmup, error);
	return code;
}

/* Runs `count` trials of one case. */
static int run_trials(struct trial *trial, const struct plan_case *wanted, uint64_t count,
		      struct result_case *found, struct error *error)
{
	int code = trial_open(trial, wanted, error);

	for (uint64_t i = 0; i < count && !code; i++) {
		trial->has_next = i + 1 < count;
		code = run_trial(trial, wanted, found, error);
	}
	trial_close(trial);
	found->client_place = trial->outcome.client_place;
	found->server_place = trial->outcome.server_place;
	found->client_chosen = trial->outcome.client_chosen;
	found->server_chosen = trial->outcome.server_chosen;
	return code;
}

/* Runs all trials of a case. Before that, if asked to, finds out which receives it needs. */
static int run_whole(struct sweep *sweep, struct trial *trial, const struct plan_case *wanted,
		     struct result_case *found, struct error *error)
{
	struct error fault = {0};

	if (wanted->parameters.needs) {
		if (needs_find(trial, wanted, &found->needs, error))
			return error->code;
		/* These failures were provoked: do not attribute them to the device. */
		if (sweep_note(sweep, NULL, &fault) == -ESHUTDOWN) {
			trial->is_lost = true;
			return error_set(error, fault.code, "%s", fault.text);
		}
	}
	return run_trials(trial, wanted, wanted->parameters.trials, found, error);
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

/* Returns the first case from `next` on that is not skipped, or n_cases. */
static size_t next_case(const struct plan *plan, size_t next)
{
	while (next < plan->n_cases && plan->cases[next].skipped[0])
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

static void begin_case(const struct case_loop *loop, size_t number, uint64_t done_ns)
{
	if (loop->view)
		loop->view->begins(loop->view, loop->result, number, done_ns);
}

static void end_case(const struct case_loop *loop, size_t number)
{
	if (loop->view)
		loop->view->ends(loop->view, loop->result, number);
}

/* Sets the status of a case whose trials are complete, or one of whose trials failed. */
static void judge_case(const struct case_loop *loop, size_t number, struct error *fault)
{
	const struct plan_case *wanted = &loop->plan->cases[number];
	struct result_case *found = &loop->result->cases[number];

	/* The trials of a failed case are no measurement. */
	if (fault->code)
		result_drop_trials(found);
	failure_hint_size(loop->result, number, packet_size(&wanted->parameters, loop->result),
			  fault);
	explain_reach(loop->result, fault);
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
	const struct plan_case *wanted = &loop->plan->cases[number];
	struct result_case *found = &loop->result->cases[number];
	struct error fault = {0};
	bool was_lost;

	begin_case(loop, number, plan_estimate_ns(loop->plan, number));
	if (!aim(trial, loop->plan, number, loop->result, &fault))
		run_whole(loop->sweep, trial, wanted, found, &fault);
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
struct interleaved {
	size_t first;
	size_t count;
	uint64_t rounds;
	struct error *faults; /* by case; a case that failed has no further trials */
};

/* Returns the estimated part of the plan that is done before this trial. */
static uint64_t done_ns(const struct case_loop *loop, const struct interleaved *turns,
			uint64_t round, size_t number)
{
	uint64_t before = plan_estimate_ns(loop->plan, turns->first);
	uint64_t all = plan_estimate_ns(loop->plan, turns->first + turns->count) - before;
	uint64_t n_done = round * turns->count + number;

	return before +
	       (uint64_t)((double)all * (double)n_done / (double)(turns->rounds * turns->count));
}

static bool has_ended(const struct case_loop *loop, const struct interleaved *turns, size_t i)
{
	const struct plan_case *wanted = &loop->plan->cases[turns->first + i];

	return !wanted->skipped[0] &&
	       (turns->faults[i].code ||
		loop->result->cases[turns->first + i].n_trials == wanted->parameters.trials);
}

/* Returns whether no later case or trial needs the server. */
static bool are_last(const struct case_loop *loop, const struct interleaved *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		if (!loop->plan->cases[turns->first + i].skipped[0] && !has_ended(loop, turns, i))
			return false;
	return next_case(loop->plan, turns->first + turns->count) == loop->plan->n_cases;
}

/* Runs one trial of each case, in reverse order in every other round. */
static void run_round(const struct case_loop *loop, const struct interleaved *turns, uint64_t round,
		      struct error *error)
{
	struct trial *trial = loop->trial;

	for (size_t i = 0; i < turns->count && !trial->is_lost; i++) {
		size_t place = round % 2 ? turns->count - 1 - i : i;
		size_t number = turns->first + place;
		const struct plan_case *wanted = &loop->plan->cases[number];
		struct result_case *found = &loop->result->cases[number];
		struct error *fault = &turns->faults[place];

		if (wanted->skipped[0] || fault->code || round >= wanted->parameters.trials)
			continue;
		begin_case(loop, number, done_ns(loop, turns, round, i));
		run_trials(trial, wanted, 1, found, fault);
		if (trial->is_lost)
			error_set(error, fault->code, "%s", fault->text);
		else
			note(loop, found, are_last(loop, turns), error);
	}
}

/*
 * If the server was lost, cases with missing trials have no figures. All cases are finished before
 * the first is shown, because the document written then contains all of them.
 */
static void finish_turns(const struct case_loop *loop, const struct interleaved *turns)
{
	for (size_t i = 0; i < turns->count; i++)
		if (has_ended(loop, turns, i))
			judge_case(loop, turns->first + i, &turns->faults[i]);
		else
			result_drop_trials(&loop->result->cases[turns->first + i]);
	for (size_t i = 0; i < turns->count; i++)
		if (has_ended(loop, turns, i))
			end_case(loop, turns->first + i);
}

/*
 * Interleaves the trials of these cases: the state of the machine affects all of them alike, so
 * that trials of the same round can be compared directly.
 */
static void run_turns(const struct case_loop *loop, size_t first, size_t count, struct error *error)
{
	struct interleaved turns = {
		.first = first, .count = count, .faults = calloc(count, sizeof(*turns.faults))};

	if (!turns.faults) {
		error_set_errno(error, -ENOMEM, "cannot store the results");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t trials = loop->plan->cases[first + i].parameters.trials;

		turns.rounds = trials > turns.rounds ? trials : turns.rounds;
	}
	for (uint64_t round = 0; round < turns.rounds && !loop->trial->is_lost; round++)
		run_round(loop, &turns, round, error);
	finish_turns(loop, &turns);
	free(turns.faults);
}

int case_loop_run(const struct case_loop *loop, struct error *error)
{
	const struct plan *plan = loop->plan;
	size_t turns;

	for (size_t i = 0; i < plan->n_cases && !error->code; i += turns) {
		turns = plan_turns(plan, i);
		if (turns > 1)
			run_turns(loop, i, turns, error);
		else if (!plan->cases[i].skipped[0])
			run_case(loop, i, error);
	}
	return error->code;
}
