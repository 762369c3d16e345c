/* SPDX-License-Identifier: MIT */
/*
 * Bencher Metric Format: an object of benchmarks, each an object of measures. A benchmark is a
 * case. Bencher has built-in measures latency, in ns, and throughput, in operations per second;
 * others are created on first use.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reports/export/export.h"
#include "reports/finding/bounded.h"

struct state {
	json_t *benchmarks;
	json_t *seen;
};

struct measure {
	const char *slug;
	const char *key; /* of the latency statistic */
};

static const struct measure latencies[] = {
	{"latency",       "p50"  },
	{"latency-p99",   "p99"  },
	{"latency-p99-9", "p99_9"},
};

static void *open_bmf(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->benchmarks = json_object();
	state->seen = json_object();
	return state;
}

static void close_bmf(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	json_decref(state->benchmarks);
	json_decref(state->seen);
	free(state);
}

static int add_measure(json_t *benchmark, const char *slug, const struct bounded *figure)
{
	json_t *metric;

	if (!isfinite(figure->value))
		return 0;
	metric = json_pack("{s:f}", "value", figure->value);
	if (isfinite(figure->low) &&
	    (json_object_set_new(metric, "lower_value", json_real(figure->low)) ||
	     json_object_set_new(metric, "upper_value", json_real(figure->high)))) {
		json_decref(metric);
		return -ENOMEM;
	}
	return json_object_set_new(benchmark, slug, metric) ? -ENOMEM : 0;
}

static int fill(json_t *benchmark, const struct result_case *line)
{
	struct bounded figure;
	int code = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(latencies) && !code; i++) {
		bounded_latency(&figure, line, latencies[i].key);
		code = add_measure(benchmark, latencies[i].slug, &figure);
	}
	bounded_rate(&figure, line);
	if (!code)
		code = add_measure(benchmark, "throughput", &figure);
	bounded_scale(&figure, (double)line->size);
	return code ? code : add_measure(benchmark, "bandwidth", &figure);
}

static int add_case(struct state *state, const struct result *result,
		    const struct result_case *line, const char *name, struct error *error)
{
	json_t *benchmark = json_object();
	int code = fill(benchmark, line);

	if (code)
		export_no_memory(error);
	else if (json_object_size(benchmark))
		code = export_once(state->seen, line->id, result, name, error);
	if (!code && json_object_size(benchmark) &&
	    json_object_set(state->benchmarks, line->id, benchmark))
		code = export_no_memory(error);
	json_decref(benchmark);
	return code;
}

static int add_bmf(void *owner, const struct result *result, const char *name, struct error *error)
{
	int code = 0;

	for (size_t i = 0; i < result->n_cases && !code; i++)
		code = add_case(owner, result, &result->cases[i], name, error);
	return code;
}

static int finish_bmf(void *owner, char **text, struct error *error)
{
	struct state *state = owner;

	if (!json_object_size(state->benchmarks))
		return error_set(error, -ENODATA, "no case has a figure for Bencher");
	return export_dump(state->benchmarks, text, error);
}

const struct export_format export_bmf = {
	.name = "bmf",
	.open = open_bmf,
	.add = add_bmf,
	.finish = finish_bmf,
	.close = close_bmf,
};
