/* SPDX-License-Identifier: MIT */
/*
 * Prometheus text format, version 0.0.4, as read by node_exporter's textfile collector: samples
 * without timestamps, which it rejects, base units, and all samples of a metric together. It shows
 * one state of a client and a server, so only one result for each such pair.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/export/export.h"
#include "reports/finding/bounded.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"

enum metric {
	RUN_INFO,
	RUN_TIMESTAMP,
	CASE_STATUS,
	LATENCY,
	LATENCY_MIN,
	LATENCY_MAX,
	LATENCY_LOW,
	LATENCY_HIGH,
	BANDWIDTH,
	BANDWIDTH_LOW,
	BANDWIDTH_HIGH,
	MESSAGES,
	SENT,
	LOST,
	LOAD,
	SATURATED,
	CPU,
	METRICS,
};

struct row {
	const char *name;
	const char *type;
	const char *help;
};

static const struct row rows[METRICS] = {
	[RUN_INFO] = {"verbmark_run_info",                        "gauge",   "Hosts and version of the run; always 1."    },
	[RUN_TIMESTAMP] = {"verbmark_run_timestamp_seconds",           "gauge",
                      "End of the run, in seconds since 1970."                                                            },
	[CASE_STATUS] = {"verbmark_case_status",                     "gauge",
                      "Always 1; the status label is complete, failed, skipped or "
			 "interrupted."										   },
	[LATENCY] = {"verbmark_latency_seconds",                 "summary", "Message latency over all trials."           },
	[LATENCY_MIN] = {"verbmark_latency_min_seconds",             "gauge",   "Minimum latency."                           },
	[LATENCY_MAX] = {"verbmark_latency_max_seconds",             "gauge",   "Maximum latency."                           },
	[LATENCY_LOW] = {"verbmark_latency_median_low_seconds",      "gauge",
                      "Lower bound of the 95 % confidence interval of the median."                                        },
	[LATENCY_HIGH] = {"verbmark_latency_median_high_seconds",     "gauge",
                      "Upper bound of the 95 % confidence interval of the median."                                        },
	[BANDWIDTH] = {"verbmark_bandwidth_bytes_per_second",      "gauge",
                      "Payload throughput in one direction, the median over trials."                                      },
	[BANDWIDTH_LOW] = {"verbmark_bandwidth_low_bytes_per_second",  "gauge",
                      "Lower bound of the 95 % confidence interval of the throughput."                                    },
	[BANDWIDTH_HIGH] = {"verbmark_bandwidth_high_bytes_per_second", "gauge",
                      "Upper bound of the 95 % confidence interval of the throughput."                                    },
	[MESSAGES] = {"verbmark_messages_per_second",             "gauge",
		      "Message rate in one direction, the median over trials."                                            },
	[SENT] = {"verbmark_sent_messages",                   "gauge",
		      "Messages sent, including the warm-up, if the transport can lose messages."                         },
	[LOST] = {"verbmark_lost_messages",                   "gauge",   "Messages that were sent but did not arrive."},
	[LOAD] = {"verbmark_load_messages_per_second",        "gauge",   "Offered message rate of a load."            },
	[SATURATED] = {"verbmark_load_saturated",                  "gauge",
                      "1 if the schedule of a load was not kept."                                                         },
	[CPU] = {"verbmark_cpu_seconds_per_message",         "gauge",
		      "CPU time per message on the client or server."                                                     },
};

struct state {
	struct export_text text[METRICS];
	json_t *ends;  /* pairs of client and server that have a result */
	json_t *cases; /* by labels */
	bool is_soft;
};

/* The common labels of the samples of a case or a run. */
struct series {
	struct state *state;
	const char *labels;
};

static void close_prometheus(void *owner)
{
	struct state *state = owner;

	if (!state)
		return;
	for (size_t i = 0; i < METRICS; i++)
		export_text_close(&state->text[i]);
	json_decref(state->ends);
	json_decref(state->cases);
	free(state);
}

static void *open_prometheus(const struct export_choice *choice)
{
	struct state *state = calloc(1, sizeof(*state));
	int code = 0;

	if (!state)
		return NULL;
	state->ends = json_object();
	state->cases = json_object();
	for (size_t i = 0; i < METRICS && !code; i++)
		code = export_text_open(&state->text[i]);
	if (!code)
		return state;
	close_prometheus(state);
	return NULL;
}

static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else
			fprintf(out, strchr("\\\"", *value) ? "\\%c" : "%c", *value);
	}
	fputc('"', out);
}

static void print_end(FILE *out, const char *name, const struct result_end *end)
{
	char label[32];
	char text[96];

	print_label(out, name, end->host);
	snprintf(label, sizeof(label), ",%s_device", name);
	snprintf(text, sizeof(text), "%s/%u", end->device, end->port);
	print_label(out, label, text);
}

/* Prints labels for what is known of an imported result. */
static void print_imported_ends(FILE *out, const struct result *result)
{
	const struct {
		const char *name;
		const struct result_end *end;
	} ends[] = {
		{",client_device", &result->client},
		{",server_device", &result->server},
	};

	print_label(out, "imported", json_member_or_empty(result->imported, "format"));
	for (size_t i = 0; i < ARRAY_LENGTH(ends); i++)
		if (ends[i].end->device[0])
			print_label(out, ends[i].name, ends[i].end->device);
}

static void print_ends(FILE *out, const struct result *result)
{
	if (result->imported) {
		print_imported_ends(out, result);
	} else {
		print_end(out, "client", &result->client);
		fputc(',', out);
		print_end(out, "server", &result->server);
	}
	if (banner_of(result))
		fputs(",software_device=\"true\"", out);
}

/* Returns the labels, which the caller frees; NULL if memory runs out. */
static char *make_labels(const struct result *result, const struct result_case *line)
{
	struct export_text text;
	char size[24];

	if (export_text_open(&text))
		return NULL;
	print_ends(text.out, result);
	if (line) {
		const char *const pairs[][2] = {
			{",case",      line->id                                  },
			{",op",        line->op                                  },
			{",metric",    line->metric                              },
			{",size",      size				      },
			{",cq",        line->cq                                  },
			{",server_cq", line->is_imported ? NULL : line->server_cq},
			{",transport", line->transport                           },
		};

		snprintf(size, sizeof(size), "%" PRIu64, line->size);
		for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
			if (pairs[i][1])
				print_label(text.out, pairs[i][0], pairs[i][1]);
	}
	return export_text_take(&text);
}

/* Adds a sample. more: additional labels, each preceded by a comma. */
static void add_as(const struct series *series, enum metric metric, const char *suffix,
		   const char *more, double value)
{
	if (isfinite(value))
		fprintf(series->state->text[metric].out, "%s%s{%s%s} %.15g\n", rows[metric].name,
			suffix, series->labels, more, value);
}

static void prometheus_add(const struct series *series, enum metric metric, double value)
{
	add_as(series, metric, "", "", value);
}

/* Adds the known quantiles; a summary need not have any. */
static void add_quantiles(const struct series *series, const struct result_case *line,
			  const char *kind)
{
	for (size_t i = 0; i < STATISTICS; i++) {
		const struct statistic *statistic = &statistics[i];
		char more[64];

		if (!statistic->parts_per_million || isnan(result_statistic(line, i)))
			continue;
		snprintf(more, sizeof(more), "%s,quantile=\"%g\"", kind,
			 statistic->parts_per_million / 1e6);
		add_as(series, LATENCY, "", more, result_statistic(line, i) / 1e9);
	}
}

static void add_latency(const struct series *series, const struct result_case *line)
{
	struct bounded median;
	char kind[32];

	if (!result_has_latency(line) || (line->latency && !line->latency->count))
		return;
	snprintf(kind, sizeof(kind), ",kind=\"%s\"", result_kind_name(line->kind));
	add_quantiles(series, line, kind);
	if (line->latency)
		add_as(series, LATENCY, "_sum", kind, (double)line->latency->sum / 1e9);
	if (line->latency)
		add_as(series, LATENCY, "_count", kind, (double)line->latency->count);
	add_as(series, LATENCY_MIN, "", kind, result_named(line, "min") / 1e9);
	add_as(series, LATENCY_MAX, "", kind, result_named(line, "max") / 1e9);
	bounded_latency(&median, line, "p50");
	add_as(series, LATENCY_LOW, "", kind, median.low / 1e9);
	add_as(series, LATENCY_HIGH, "", kind, median.high / 1e9);
}

static void add_cost(const struct series *series, const char *more, const struct result_cost *cost)
{
	add_as(series, CPU, "", more, result_cpu_ns(cost) / 1e9);
}

static void add_figures(const struct series *series, const struct result_case *line)
{
	struct bounded rate;

	add_latency(series, line);
	bounded_rate(&rate, line);
	prometheus_add(series, MESSAGES, rate.value);
	bounded_scale(&rate, (double)line->size);
	prometheus_add(series, BANDWIDTH, rate.value);
	prometheus_add(series, BANDWIDTH_LOW, rate.low);
	prometheus_add(series, BANDWIDTH_HIGH, rate.high);
	if (line->sent) {
		prometheus_add(series, SENT, (double)line->sent);
		prometheus_add(series, LOST, (double)line->lost);
	}
	if (line->pace) {
		prometheus_add(series, LOAD, pace_rate(line));
		prometheus_add(series, SATURATED, pace_is_saturated(line));
	}
	add_cost(series, ",end=\"client\"", &line->client);
	add_cost(series, ",end=\"server\"", &line->server);
}

static int add_case(struct state *state, const struct result *result,
		    const struct result_case *line, const char *name, struct error *error)
{
	char *labels = make_labels(result, line);
	const struct series series = {state, labels};
	char status[64];
	int code;

	if (!labels)
		return export_no_memory(error);
	if (json_object_get(state->cases, labels))
		code = error_set(error, -EEXIST, "%s: duplicate case %s", name, line->id);
	else
		code = export_once(state->cases, labels, result, name, error);
	if (!code) {
		snprintf(status, sizeof(status), ",status=\"%s\"",
			 result_status_name(line->status));
		add_as(&series, CASE_STATUS, "", status, 1);
	}
	if (!code && line->status == RESULT_COMPLETE && line->n_trials)
		add_figures(&series, line);
	free(labels);
	return code;
}

static void add_run(const struct series *series, const struct result *result)
{
	struct export_text more;
	struct tm finished = {0};
	char *text = NULL;

	if (!export_text_open(&more)) {
		fputc(',', more.out);
		print_label(more.out, "version", result->version);
		fputc(',', more.out);
		print_label(more.out, "status", result_status_name(result->status));
		text = export_text_take(&more);
	}
	export_text_close(&more);
	add_as(series, RUN_INFO, "", text ? text : "", 1);
	free(text);
	if (strptime(result->finished, "%Y-%m-%dT%H:%M:%SZ", &finished))
		prometheus_add(series, RUN_TIMESTAMP, (double)timegm(&finished));
}

static int check_ends(struct state *state, const struct result *result, const char *name,
		      struct error *error)
{
	char pair[CELLS_ENDS];

	cells_pair(pair, result);
	return export_once(state->ends, pair, result, name, error);
}

static int add_prometheus(void *owner, const struct result *result, const char *name,
			  struct error *error)
{
	struct state *state = owner;
	char *labels = make_labels(result, NULL);
	const struct series series = {state, labels};
	int code = labels ? check_ends(state, result, name, error) : export_no_memory(error);

	if (!code) {
		state->is_soft = state->is_soft || banner_of(result);
		add_run(&series, result);
	}
	for (size_t i = 0; i < result->n_cases && !code; i++)
		code = add_case(state, result, &result->cases[i], name, error);
	free(labels);
	return code;
}

static int print_metrics(struct state *state, FILE *out)
{
	if (state->is_soft)
		fprintf(out, "# %s\n", BANNER_SOFT);
	for (size_t i = 0; i < METRICS; i++) {
		char *samples = export_text_take(&state->text[i]);

		if (!samples)
			return -ENOMEM;
		if (*samples)
			fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s", rows[i].name, rows[i].help,
				rows[i].name, rows[i].type, samples);
		free(samples);
	}
	return 0;
}

static int finish_prometheus(void *owner, char **text, struct error *error)
{
	struct export_text made;
	int code = export_text_open(&made);

	*text = NULL;
	if (!code)
		code = print_metrics(owner, made.out);
	if (!code)
		*text = export_text_take(&made);
	export_text_close(&made);
	return *text ? 0 : export_no_memory(error);
}

const struct export_format export_prometheus = {
	.name = "prometheus",
	.has_banner = true,
	.open = open_prometheus,
	.add = add_prometheus,
	.finish = finish_prometheus,
	.close = close_prometheus,
};
