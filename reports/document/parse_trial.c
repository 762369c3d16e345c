/* SPDX-License-Identifier: MIT */
#include "reports/document/parse_trial.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "reports/document/parse_pace.h"
#include "reports/io/json_member.h"

#define COST(member)                                          \
	{                                                     \
#member, offsetof(struct result_cost, member) \
	}

static const struct {
	const char *name;
	size_t offset;
} costs[] = {
	COST(messages),
	COST(user_ns),
	COST(system_ns),
	COST(voluntary_switches),
	COST(involuntary_switches),
	COST(cq_events),
	COST(completions),
};

static int parse_cost(struct result_cost *cost, const json_t *cpu, const char *end,
		      struct error *error)
{
	json_t *object;
	int code = json_member_object(cpu, end, &object, error);

	for (size_t i = 0; i < ARRAY_LENGTH(costs) && !code; i++)
		code = json_member_count(object, costs[i].name,
					 (uint64_t *)(void *)((char *)cost + costs[i].offset),
					 error);
	return code;
}

int parse_trial_costs(struct result_cost *client, struct result_cost *server, const json_t *from,
		      struct error *error)
{
	json_t *cpu;
	int code = json_member_object(from, "cpu", &cpu, error);

	if (!code)
		code = parse_cost(client, cpu, "client", error);
	return code ? code : parse_cost(server, cpu, "server", error);
}

static int parse_warmup(struct result_warmup *warmup, const json_t *trial, struct error *error)
{
	json_t *object;

	if (json_member_object(trial, "warmup", &object, error) ||
	    json_member_count(object, "messages", &warmup->messages, error) ||
	    json_member_count(object, "duration_ns", &warmup->duration_ns, error))
		return -EINVAL;
	return json_member_flag(object, "converged", &warmup->has_converged, error);
}

/* Missing figures stay unknown. */
static int parse_latencies(double *values, const json_t *trial, struct error *error)
{
	json_t *latency;
	int code = json_member_object(trial, "latency_ns", &latency, error);

	for (size_t i = 0; i < STATISTICS && !code; i++)
		if (json_object_get(latency, statistics[i].key))
			code = json_member_figure(latency, statistics[i].key, &values[i], error);
	return code;
}

static int parse_rates(struct result_trial *trial, const json_t *json, struct error *error)
{
	json_t *bandwidth;
	int code = json_member_object(json, "bandwidth", &bandwidth, error);

	if (!code)
		code = json_member_figure(bandwidth, "bytes_per_s", &trial->bytes_per_s, error);
	if (!code)
		code = json_member_figure(bandwidth, "messages_per_s", &trial->messages_per_s,
					  error);
	return code;
}

/* The message rate is computed from messages and duration. */
static int parse_load(struct result_trial *trial, const json_t *json, struct error *error)
{
	if (!trial->duration_ns)
		return error_set(error, -EINVAL, "duration is 0");
	trial->messages_per_s = (double)trial->messages * 1e9 / (double)trial->duration_ns;
	return parse_pace_trial(&trial->pace, json, error);
}

/* Parses losses on UC and UD, and rates of the reverse direction. */
static int parse_extras(struct result_trial *trial, const json_t *json, struct error *error)
{
	json_t *bandwidth = json_object_get(json, "bandwidth");
	json_t *loss = json_object_get(json, "loss");
	int code = 0;

	trial->has_far = json_object_get(bandwidth, "far_messages_per_s");
	if (trial->has_far)
		code = json_member_figure(bandwidth, "far_messages_per_s",
					  &trial->far_messages_per_s, error);
	if (!code && loss)
		code = json_member_count(loss, "sent", &trial->sent, error);
	if (!code && loss)
		code = json_member_count(loss, "lost", &trial->lost, error);
	return code;
}

int parse_trial(struct result_trial *trial, const json_t *json, const json_t *of_case,
		bool is_imported, struct error *error)
{
	int code = is_imported ? 0 : parse_warmup(&trial->warmup, json, error);

	for (size_t i = 0; i < STATISTICS; i++)
		trial->latency[i] = (double)NAN;
	if (!code)
		code = json_member_count(json, "messages", &trial->messages, error);
	if (!code && (!is_imported || json_object_get(json, "duration_ns")))
		code = json_member_count(json, "duration_ns", &trial->duration_ns, error);
	if (!code && !is_imported)
		code = parse_trial_costs(&trial->client, &trial->server, json, error);
	if (!code && json_object_get(of_case, "latency_ns"))
		code = parse_latencies(trial->latency, json, error);
	if (!code && json_object_get(of_case, "bandwidth"))
		code = parse_rates(trial, json, error);
	if (!code && json_object_get(of_case, "load"))
		code = parse_load(trial, json, error);
	return code ? code : parse_extras(trial, json, error);
}
