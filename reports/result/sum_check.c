/* SPDX-License-Identifier: MIT */
#include "reports/result/sum_check.h"

bool sum_check_are_beyond(uint64_t one, uint64_t other)
{
	return (unsigned __int128)one + other > INT64_MAX;
}

static bool are_costs_beyond(const struct result_cost *one, const struct result_cost *other)
{
	return sum_check_are_beyond(one->messages, other->messages) ||
	       sum_check_are_beyond(one->user_ns, other->user_ns) ||
	       sum_check_are_beyond(one->system_ns, other->system_ns) ||
	       sum_check_are_beyond(one->voluntary_switches, other->voluntary_switches) ||
	       sum_check_are_beyond(one->involuntary_switches, other->involuntary_switches) ||
	       sum_check_are_beyond(one->cq_events, other->cq_events) ||
	       sum_check_are_beyond(one->completions, other->completions);
}

bool sum_check_trial_is_beyond(const struct result_case *line, const struct result_trial *trial)
{
	return sum_check_are_beyond(line->messages, trial->messages) ||
	       sum_check_are_beyond(line->duration_ns, trial->duration_ns) ||
	       sum_check_are_beyond(line->sent, trial->sent) ||
	       sum_check_are_beyond(line->lost, trial->lost) ||
	       sum_check_are_beyond(pace_unsent(line), trial->pace.unsent) ||
	       are_costs_beyond(&line->client, &trial->client) ||
	       are_costs_beyond(&line->server, &trial->server);
}

static bool are_hists_beyond(const struct hist *one, const struct hist *other)
{
	return one && other &&
	       (sum_check_are_beyond(one->count, other->count) ||
		sum_check_are_beyond(one->sum, other->sum));
}

static bool are_paces_beyond(const struct result_case *line, const struct result_case *from)
{
	return line->pace && from->pace &&
	       (are_hists_beyond(&line->pace->lag, &from->pace->lag) ||
		are_hists_beyond(&line->pace->uncorrected, &from->pace->uncorrected) ||
		sum_check_are_beyond(pace_unsent(line), pace_unsent(from)));
}

static bool are_breakdowns_beyond(const struct breakdown *one, const struct breakdown *other)
{
	for (size_t i = 0; i < BREAKDOWN_PARTS && one && other; i++)
		if (are_hists_beyond(&one->parts[i], &other->parts[i]))
			return true;
	return false;
}

/* Only equal numbers of threads are added. Messages are checked as part of the case's total. */
static bool are_shares_beyond(const struct shares *one, const struct shares *other)
{
	for (unsigned int i = 0; i < one->threads && i < other->threads; i++)
		if (sum_check_are_beyond(one->duration_ns[i], other->duration_ns[i]))
			return true;
	return false;
}

static bool are_flows_beyond(const struct flows *one, const struct flows *other)
{
	for (size_t i = 0; i < one->count && i < other->count; i++)
		if (sum_check_are_beyond(one->flow[i].duration_ns, other->flow[i].duration_ns))
			return true;
	return false;
}

bool sum_check_case_is_beyond(const struct result_case *line, const struct result_case *from)
{
	const struct result_trial all = {
		.messages = from->messages,
		.duration_ns = from->duration_ns,
		.sent = from->sent,
		.lost = from->lost,
		.client = from->client,
		.server = from->server,
	};

	return sum_check_trial_is_beyond(line, &all) ||
	       (from->windows && line->size &&
		line->messages + from->messages > INT64_MAX / line->size) ||
	       are_hists_beyond(line->latency, from->latency) ||
	       are_hists_beyond(line->warmup, from->warmup) || are_paces_beyond(line, from) ||
	       are_breakdowns_beyond(line->breakdown, from->breakdown) ||
	       are_shares_beyond(&line->shares, &from->shares) ||
	       are_flows_beyond(&line->flows, &from->flows) ||
	       receivers_are_beyond(&line->receivers, &from->receivers);
}
