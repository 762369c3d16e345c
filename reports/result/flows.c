/* SPDX-License-Identifier: MIT */
#include "reports/result/flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/io/json_member.h"
#include "reports/result/fairness.h"
#include "reports/result/shares.h"

#define NS_PER_S 1e9

int flows_open(struct flows *flows, size_t count, struct error *error)
{
	flows_close(flows);
	flows->flow = calloc(count, sizeof(*flows->flow));
	if (!flows->flow)
		return error_set_errno(error, -ENOMEM, "cannot store the results of each flow");
	flows->count = count;
	return 0;
}

void flows_close(struct flows *flows)
{
	free(flows->flow);
	*flows = (struct flows){0};
}

static bool are_alike(const struct flows *one, const struct flows *other)
{
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->flow[i].from, other->flow[i].from) != 0 ||
		    strcmp(one->flow[i].to, other->flow[i].to) != 0)
			return false;
	return true;
}

int flows_add(struct flows *into, const struct flows *from, struct error *error)
{
	if (!into->count) {
		if (flows_open(into, from->count, error))
			return error->code;
		memcpy(into->flow, from->flow, from->count * sizeof(*from->flow));
		return 0;
	}
	if (into->count != from->count || !are_alike(into, from))
		return error_set(error, -EINVAL, "its flows are between different threads");
	for (size_t i = 0; i < into->count; i++) {
		into->flow[i].messages += from->flow[i].messages;
		into->flow[i].duration_ns += from->flow[i].duration_ns;
	}
	return 0;
}

double flows_rate(const struct flow_share *flow)
{
	return flow->duration_ns ? (double)flow->messages * NS_PER_S / (double)flow->duration_ns
				 : 0;
}

double flows_fairness(const struct flows *flows)
{
	struct fairness fairness = {0};

	for (size_t i = 0; i < flows->count; i++)
		fairness_take(&fairness, flows_rate(&flows->flow[i]));
	return fairness_index(&fairness);
}

double flows_slowest(const struct flows *flows)
{
	double least = (double)INFINITY;

	for (size_t i = 0; i < flows->count; i++)
		least = fmin(least, flows_rate(&flows->flow[i]));
	return least;
}

double flows_fastest(const struct flows *flows)
{
	double most = 0;

	for (size_t i = 0; i < flows->count; i++)
		most = fmax(most, flows_rate(&flows->flow[i]));
	return most;
}

static json_t *encode_flow(const struct flow_share *flow, uint64_t message_bytes)
{
	double rate = flows_rate(flow);

	return json_pack("{s:s, s:s, s:I, s:I, s:f, s:f}", "from", flow->from, "to", flow->to,
			 "messages", (json_int_t)flow->messages, "duration_ns",
			 (json_int_t)flow->duration_ns, "messages_per_s", rate, "bytes_per_s",
			 rate * (double)message_bytes);
}

json_t *flows_encode(const struct flows *flows, uint64_t message_bytes)
{
	double fairness = flows_fairness(flows);
	json_t *list = json_array();
	json_t *made;
	int failed = 0;

	for (size_t i = 0; i < flows->count; i++)
		failed |= json_array_append_new(list, encode_flow(&flows->flow[i], message_bytes));
	made = json_pack("{s:o}", "flows", list);
	if (!isnan(fairness))
		failed |= json_object_set_new(made, "fairness", json_real(fairness));
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

static int decode_flow(struct flow_share *flow, const json_t *json, struct error *error)
{
	int code = json_member_text(json, "from", flow->from, sizeof(flow->from), error);

	if (!code)
		code = json_member_text(json, "to", flow->to, sizeof(flow->to), error);
	if (!code)
		code = json_member_count(json, "messages", &flow->messages, error);
	return code ? code : json_member_count(json, "duration_ns", &flow->duration_ns, error);
}

int flows_decode(struct flows *flows, const json_t *json, struct error *error)
{
	json_t *list;
	int code = json_member_array(json, "flows", &list, error);

	if (code)
		return code;
	if (!json_array_size(list) || json_array_size(list) > SHARES_MOST)
		return error_set(error, -EINVAL, "invalid number of flows");
	code = flows_open(flows, json_array_size(list), error);
	for (size_t i = 0; i < flows->count && !code; i++)
		code = decode_flow(&flows->flow[i], json_array_get(list, i), error);
	return code;
}
