/* SPDX-License-Identifier: MIT */
/*
 * Format of github-action-benchmark: an array of {name, unit, value, range, extra} in which either
 * less is better (customSmallerIsBetter) or more is better (customBiggerIsBetter), hence the choice
 * of one metric. Host names are omitted, because the output is meant to be published.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/export/export.h"
#include "reports/finding/bounded.h"
#include "reports/result/banner.h"

struct state {
	enum export_metric metric;
	json_t *entries;
	json_t *seen;
};

/* A figure of a case: name follows the case's id. */
struct entry {
	const char *name;
	const char *unit;
	const char *key; /* of the latency statistic; NULL: a rate */
};

static const struct entry latencies[] = {
	{"p50", "ns", "p50"},
	{"p99", "ns", "p99"},
};

static void *open_github(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->metric = choice->metric;
	state->entries = json_array();
	state->seen = json_object();
	return state;
}

static void close_github(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	json_decref(state->entries);
	json_decref(state->seen);
	free(state);
}

/* Makes the tooltip of a value. */
static json_t *make_extra(const struct result *result, const struct result_case *line)
{
	const char *banner = banner_of(result);

	return json_sprintf("trials: %zu%s%s%s%s", line->n_trials,
			    result_has_latency(line) ? ", latency: " : "",
			    result_has_latency(line) ? result_kind_name(line->kind) : "",
			    banner ? "\n" : "", banner ? banner : "");
}

static int add_entry(struct state *state, const struct entry *entry, const struct bounded *figure,
		     const struct result_case *line, json_t *extra)
{
	json_t *range = NULL;
	json_t *name;

	if (!isfinite(figure->value))
		return 0;
	name = json_sprintf("%s %s", line->id, entry->name);
	if (isfinite(figure->low))
		range = json_sprintf("%.15g..%.15g", figure->low, figure->high);
	return json_array_append_new(state->entries,
				     json_pack("{s:o, s:s, s:f, s:o*, s:O}", "name", name, "unit",
					       entry->unit, "value", figure->value, "range", range,
					       "extra", extra))
		       ? -ENOMEM
		       : 0;
}

static int add_latencies(struct state *state, const struct result_case *line, json_t *extra)
{
	struct bounded figure;
	int code = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(latencies) && !code; i++) {
		bounded_latency(&figure, line, latencies[i].key);
		code = add_entry(state, &latencies[i], &figure, line, extra);
	}
	return code;
}

static int add_rates(struct state *state, const struct result_case *line, json_t *extra)
{
	static const struct entry bandwidth = {.name = "bandwidth", .unit = "Gb/s"};
	static const struct entry messages = {.name = "messages", .unit = "msg/s"};
	struct bounded rate;
	struct bounded bits;
	int code;

	bounded_rate(&rate, line);
	bits = rate;
	bounded_scale(&bits, (double)line->size * 8 / 1e9);
	code = add_entry(state, &bandwidth, &bits, line, extra);
	return code ? code : add_entry(state, &messages, &rate, line, extra);
}

static int add_case(struct state *state, const struct result *result,
		    const struct result_case *line, const char *name, struct error *error)
{
	size_t before = json_array_size(state->entries);
	json_t *extra = make_extra(result, line);
	int code = -ENOMEM;

	if (extra)
		code = (state->metric == EXPORT_BANDWIDTH ? add_rates : add_latencies)(state, line,
										       extra);
	json_decref(extra);
	if (code)
		return export_no_memory(error);
	if (json_array_size(state->entries) == before)
		return 0;
	return export_once(state->seen, line->id, result, name, error);
}

static int add_github(void *owner, const struct result *result, const char *name,
		      struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < result->n_cases && !code; i++)
		code = add_case(owner, result, &result->cases[i], name, error);
	return code;
}

static int finish_github(void *owner, char **text, struct error *error)
{
	struct state *state = owner;

	if (!json_array_size(state->entries))
		return error_set(error, -ENODATA, "no case has a %s",
				 state->metric == EXPORT_BANDWIDTH ? "bandwidth" : "latency");
	return export_dump(state->entries, text, error);
}

const struct export_format export_github = {
	.name = "github-benchmark",
	.has_banner = true,
	.open = open_github,
	.add = add_github,
	.finish = finish_github,
	.close = close_github,
};
