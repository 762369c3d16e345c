/* SPDX-License-Identifier: MIT */
#include "bench/client/multi_host_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/host/advice/loss.h"
#include "core/base/clock.h"
#include "reports/document/document.h"
#include "reports/io/json_member.h"

static void add_trial(struct result_trial *into, const struct result_trial *from)
{
	result_join_warmup(&into->warmup, &from->warmup);
	into->messages += from->messages;
	into->sent += from->sent;
	into->lost += from->lost;
	result_add_cost(&into->client, &from->client);
	result_add_cost(&into->server, &from->server);
}

static const struct result_case *case_of(const struct multi_host_flow *flow)
{
	return flow->result.cases;
}

static double rate_of(const struct result_trial *trial)
{
	return (double)trial->messages * (double)NS_PER_S / (double)trial->duration_ns;
}

static int gather_trial(struct result_case *found, const struct multi_host_flow *flows,
			size_t count, size_t number, struct error *error)
{
	struct rate_windows *windows = calloc(1, sizeof(*windows));
	struct result_trial sum = case_of(&flows[0])->trials[number];
	double rate = rate_of(&sum);
	int code;

	if (!windows)
		return error_set_errno(error, -ENOMEM, "cannot store the results");
	for (size_t i = 1; i < count; i++) {
		add_trial(&sum, &case_of(&flows[i])->trials[number]);
		rate += rate_of(&case_of(&flows[i])->trials[number]);
	}
	/* The flows run at the same time: the duration is messages over the sum of rates. */
	sum.duration_ns = (uint64_t)((double)sum.messages * (double)NS_PER_S / rate);
	sum.messages_per_s = (double)sum.messages * (double)NS_PER_S / (double)sum.duration_ns;
	sum.bytes_per_s = sum.messages_per_s * (double)found->size;
	rate_windows_init(windows, 10 * NS_PER_MS);
	rate_windows_forget(windows, sum.messages);
	code = result_add_trial(found, &sum, NULL, windows, error);
	free(windows);
	return code;
}

static int gather_flows(struct result_case *found, const struct multi_host_flow *flows,
			size_t count, uint64_t spread_ns, struct error *error)
{
	int code = flows_open(&found->flows, count, error);

	for (size_t i = 0; i < count && !code; i++) {
		struct flow_share *flow = &found->flows.flow[i];

		snprintf(flow->from, sizeof(flow->from), "%s", flows[i].from->label);
		snprintf(flow->to, sizeof(flow->to), "%s", flows[i].to->label);
		flow->messages = case_of(&flows[i])->messages;
		flow->duration_ns = case_of(&flows[i])->duration_ns;
	}
	found->flows.spread_ns = spread_ns;
	return code;
}

/* Returns whether the throughput windows of all flows can be added up: same length, same count. */
static bool are_alike(const struct multi_host_flow *flows, size_t count)
{
	const struct rate_windows *first = case_of(&flows[0])->windows;

	for (size_t i = 0; i < count; i++) {
		const struct rate_windows *windows = case_of(&flows[i])->windows;

		if (!windows || windows->window_ns != first->window_ns ||
		    windows->count != first->count)
			return false;
	}
	return true;
}

/* Adds up the flows' throughput windows. If they do not line up, the case gets none. */
static void gather_windows(struct result_case *found, const struct multi_host_flow *flows,
			   size_t count, uint64_t spread_ns)
{
	if (!are_alike(flows, count) || spread_ns > case_of(&flows[0])->windows->window_ns)
		return;
	*found->windows = *case_of(&flows[0])->windows;
	for (size_t i = 1; i < count; i++) {
		const struct rate_windows *windows = case_of(&flows[i])->windows;

		for (size_t j = 0; j < windows->count; j++)
			found->windows->messages[j] += windows->messages[j];
		found->windows->rest += windows->rest;
	}
}

int multi_host_merge_case(struct result_case *found, const struct multi_host_flow *flows,
			  size_t count, uint64_t spread_ns, struct error *error)
{
	const struct result_case *first = case_of(&flows[0]);
	int code = 0;

	for (size_t i = 1; i < count; i++)
		if (case_of(&flows[i])->n_trials != first->n_trials)
			return error_set(error, -EPROTO,
					 "%s and %s ran different numbers of trials",
					 flows[i].from->label, flows[0].from->label);
	for (size_t i = 0; i < first->n_trials && !code; i++)
		code = gather_trial(found, flows, count, i, error);
	if (!code)
		gather_windows(found, flows, count, spread_ns);
	found->client_place = first->client_place;
	found->server_place = first->server_place;
	found->client_chosen = first->client_chosen;
	found->server_chosen = first->server_chosen;
	return code ? code : gather_flows(found, flows, count, spread_ns, error);
}

static bool has_party(const json_t *parties, const char *name)
{
	const json_t *party;
	size_t i;

	json_array_foreach(parties, i, party)
	{
		if (!strcmp(json_string_value(json_object_get(party, "name")), name))
			return true;
	}
	return false;
}

static int add_party(struct result *result, const struct host *host, const struct result_end *end,
		     struct error *error)
{
	json_t *party;

	if (has_party(result->parties, host->label))
		return 0;
	party = document_make_end(end);
	if (json_object_set_new(party, "name", json_string(host->label)) ||
	    json_array_append_new(result->parties, party))
		return error_set_errno(error, -ENOMEM, "cannot store the hosts");
	return 0;
}

static struct result_end copy_end(const struct result_end *end)
{
	struct result_end copy = *end;

	json_incref(copy.facts);
	return copy;
}

static bool is_known(const json_t *warnings, const json_t *warning)
{
	const json_t *known;
	size_t i;

	json_array_foreach(warnings, i, known)
	{
		if (!strcmp(json_member_or_empty(known, "code"),
			    json_member_or_empty(warning, "code")) &&
		    !strcmp(json_member_or_empty(known, "host"),
			    json_member_or_empty(warning, "host")))
			return true;
	}
	return false;
}

/*
 * Adds warnings that are not known yet: each flow of a host, and each case, repeats them. Losses
 * are judged later, over all flows together.
 */
static int add_warnings(struct result *result, const json_t *warnings, struct error *error)
{
	json_t *warning;
	size_t i;

	if (!result->warnings)
		result->warnings = json_array();
	json_array_foreach(warnings, i, warning)
	{
		if (strcmp(json_member_or_empty(warning, "code"), ADVICE_LOSS) != 0 &&
		    !is_known(result->warnings, warning) &&
		    json_array_append(result->warnings, warning))
			return error_set_errno(error, -ENOMEM, "cannot store the warnings");
	}
	return 0;
}

int multi_host_merge_ends(struct result *result, const struct multi_host_flow *flow,
			  struct error *error)
{
	const struct result *from = &flow->result;
	int code = 0;

	if (!result->server.device[0]) {
		result->client = copy_end(&from->client);
		result->server = copy_end(&from->server);
		/* The strings of both ends belong to these texts. */
		if (json_array_append(result->texts, from->texts))
			code = error_set_errno(error, -ENOMEM, "cannot store the hosts");
	}
	if (!code)
		code = add_party(result, flow->from, &from->client, error);
	if (!code)
		code = add_party(result, flow->to, &from->server, error);
	return code ? code : add_warnings(result, from->warnings, error);
}
