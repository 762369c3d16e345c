/* SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/crowd.h"
#include "reports/hdr.h"
#include "reports/knee.h"
#include "reports/save.h"
#include "reports/trials.h"
#include "reports/turns.h"

/* Everything here is well below 2^63, which is as far as JSON's integers go. */
static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *make_bins(const struct hist *hist)
{
	json_t *bins = json_array();
	json_t *bin;

	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++) {
		if (!hist->bins[i])
			continue;
		bin = json_array();
		json_array_append_new(bin, number(hist_low(i)));
		json_array_append_new(bin, number(hist_high(i)));
		json_array_append_new(bin, number(hist->bins[i]));
		json_array_append_new(bins, bin);
	}
	return bins;
}

static json_t *make_plain_histogram(const struct hist *hist, const char *unit)
{
	return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "scheme", "log2-linear",
			 "sub_bits", HIST_SUB_BITS, "unit", unit, "count", number(hist->count),
			 "sum", number(hist->sum), "min", number(hist->count ? hist->min : 0),
			 "max", number(hist->max), "over", number(hist->over), "bins",
			 make_bins(hist));
}

static json_t *make_histogram(const struct hist *hist, const char *unit)
{
	json_t *histogram = make_plain_histogram(hist, unit);
	struct error ignored = {0};
	char *hdr = hdr_encode(hist, &ignored);

	if (hdr)
		json_object_set_new(histogram, "hdr_v2", json_string(hdr));
	free(hdr);
	return histogram;
}

/* The median over trials of a figure, the first one's of which is first; NULL: not known. */
static json_t *make_interval(const struct result_case *line, const double *first)
{
	struct interval interval;
	struct error ignored = {0};

	if (trials_interval(&interval, line, first, &ignored))
		return NULL;
	return json_pack("{s:f, s:f, s:f, s:f}", "median", interval.median, "low", interval.low,
			 "high", interval.high, "confidence", interval.confidence);
}

static json_t *make_figures(const struct hist *hist)
{
	json_t *figures = json_pack("{s:o}", "count", number(hist->count));

	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].is_known(hist, &statistics[i]))
			json_object_set_new(figures, statistics[i].key,
					    json_real(statistics[i].value(hist, &statistics[i])));
	return figures;
}

/* Of latencies without a histogram. */
static json_t *make_known_figures(const double values[static STATISTICS])
{
	json_t *figures = json_object();

	for (size_t i = 0; i < STATISTICS; i++)
		if (!isnan(values[i]))
			json_object_set_new(figures, statistics[i].key, json_real(values[i]));
	return figures;
}

static json_t *make_latency(const struct result_case *line)
{
	json_t *intervals = json_object();
	json_t *latency =
		line->latency ? make_figures(line->latency) : make_known_figures(line->figures);

	for (size_t i = 0; i < STATISTICS; i++) {
		json_t *interval = make_interval(line, &line->trials->latency[i]);

		if (interval)
			json_object_set_new(intervals, statistics[i].key, interval);
	}
	json_object_set_new(latency, "kind", json_string(result_kind_name(line->kind)));
	json_object_set_new(latency, "intervals", intervals);
	if (line->latency)
		json_object_set_new(latency, "histogram", make_histogram(line->latency, "ns"));
	return latency;
}

/* Of the same kind, beside the measurement: to judge the warm-up, or a load, by. */
static json_t *make_beside(const struct hist *hist)
{
	json_t *beside = make_figures(hist);

	json_object_set_new(beside, "histogram", make_plain_histogram(hist, "ns"));
	return beside;
}

static json_t *make_load(const struct result_case *line)
{
	const struct pace *pace = line->pace;
	json_t *maximum = NULL;

	if (pace->maximum > 0)
		maximum = json_pack("{s:s, s:f}", "case", pace->maximum_case, "messages_per_s",
				    pace->maximum);
	return json_pack("{s:f, s:f, s:o, s:o*, s:o, s:o}", "rate", pace_rate(line),
			 "messages_per_s", pace_got(line), "unsent", number(pace_unsent(line)),
			 "maximum", maximum, "lag_ns", make_beside(&pace->lag), "uncorrected_ns",
			 make_beside(&pace->uncorrected));
}

static json_t *make_windows(const struct result_case *line)
{
	json_t *rates = json_array();

	for (size_t i = 0; i < line->windows->count; i++)
		json_array_append_new(rates, number(windows_rate(line->windows, i, line->size)));
	return rates;
}

static json_t *make_total(const struct result_case *line)
{
	double rate = result_rate(line, true);
	bool has_far = false;

	for (size_t i = 0; i < line->n_trials; i++)
		has_far = has_far || line->trials[i].has_far;
	if (!has_far)
		return NULL;
	return json_pack("{s:f, s:f}", "bytes_per_s", rate * (double)line->size, "messages_per_s",
			 rate);
}

static json_t *make_rates_of_case(const struct result_case *line)
{
	double rate = result_rate(line, false);

	return json_pack("{s:o, s:o, s:o, s:f, s:f, s:o*, s:{s:o*, s:o*}}", "bytes",
			 number(line->messages * line->size), "messages", number(line->messages),
			 "duration_ns", number(line->duration_ns), "bytes_per_s",
			 rate * (double)line->size, "messages_per_s", rate, "total",
			 make_total(line), "intervals", "bytes_per_s",
			 make_interval(line, &line->trials->bytes_per_s), "messages_per_s",
			 make_interval(line, &line->trials->messages_per_s));
}

static json_t *make_bandwidth(const struct result_case *line)
{
	struct hist *hist = hist_create();
	json_t *bandwidth = hist ? make_rates_of_case(line) : NULL;

	/* Other programs tell of no windows. */
	if (bandwidth && !line->is_imported) {
		windows_fill(line->windows, line->size, hist);
		json_object_set_new(bandwidth, "window_ns", number(line->windows->window_ns));
		json_object_set_new(bandwidth, "windows", make_windows(line));
		json_object_set_new(bandwidth, "histogram", make_histogram(hist, "bytes/s"));
	}
	free(hist);
	return bandwidth;
}

static json_t *make_cost(const struct result_cost *cost)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "messages", number(cost->messages),
			 "user_ns", number(cost->user_ns), "system_ns", number(cost->system_ns),
			 "voluntary_switches", number(cost->voluntary_switches),
			 "involuntary_switches", number(cost->involuntary_switches), "cq_events",
			 number(cost->cq_events), "completions", number(cost->completions));
}

static json_t *make_costs(const struct result_cost *client, const struct result_cost *server)
{
	return json_pack("{s:o, s:o}", "client", make_cost(client), "server", make_cost(server));
}

static json_t *make_rates(const struct result_trial *trial)
{
	json_t *rates = json_pack("{s:f, s:f}", "bytes_per_s", trial->bytes_per_s, "messages_per_s",
				  trial->messages_per_s);

	if (trial->has_far)
		json_object_set_new(rates, "far_messages_per_s",
				    json_real(trial->far_messages_per_s));
	return rates;
}

static json_t *make_loss(uint64_t sent, uint64_t lost)
{
	return json_pack("{s:o, s:o}", "sent", number(sent), "lost", number(lost));
}

static json_t *make_trial_load(const struct result_trial *trial)
{
	return json_pack("{s:f, s:f, s:o, s:b}", "rate", trial->pace.rate, "messages_per_s",
			 trial->messages_per_s, "unsent", number(trial->pace.unsent), "saturated",
			 trial->pace.is_saturated);
}

/* What another program has measured it tells less of. */
static json_t *make_effort(const struct result_case *line, const struct result_trial *trial)
{
	if (line->is_imported)
		return json_pack("{s:o, s:o*}", "messages", number(trial->messages), "duration_ns",
				 trial->duration_ns ? number(trial->duration_ns) : NULL);
	return json_pack("{s:{s:o, s:o, s:b}, s:o, s:o, s:o}", "warmup", "messages",
			 number(trial->warmup.messages), "duration_ns",
			 number(trial->warmup.duration_ns), "converged",
			 trial->warmup.has_converged, "messages", number(trial->messages),
			 "duration_ns", number(trial->duration_ns), "cpu",
			 make_costs(&trial->client, &trial->server));
}

static json_t *make_trial(const struct result_case *line, const struct result_trial *trial)
{
	json_t *object = make_effort(line, trial);

	if (result_has_latency(line))
		json_object_set_new(object, "latency_ns", make_known_figures(trial->latency));
	if (line->windows)
		json_object_set_new(object, "bandwidth", make_rates(trial));
	if (line->pace)
		json_object_set_new(object, "load", make_trial_load(trial));
	if (trial->sent)
		json_object_set_new(object, "loss", make_loss(trial->sent, trial->lost));
	return object;
}

static json_t *make_trials(const struct result_case *line)
{
	json_t *trials = json_array();

	for (size_t i = 0; i < line->n_trials; i++)
		json_array_append_new(trials, make_trial(line, &line->trials[i]));
	return trials;
}

/* Names of options, as members of documents. */
static void add_parameters(json_t *object, json_t *parameters)
{
	const char *name;
	json_t *value;

	json_object_foreach(parameters, name, value)
	{
		char key[64];

		snprintf(key, sizeof(key), "%s", name);
		for (char *dash = strchr(key, '-'); dash; dash = strchr(dash, '-'))
			*dash = '_';
		json_object_set(object, key, value);
	}
}

/* NULL: not known. */
static json_t *make_place(const struct result_place *place)
{
	json_t *node = place->numa_node < 0 ? NULL : json_integer(place->numa_node);

	if (place->cpus[0])
		return json_pack("{s:s, s:o*}", "cpus", place->cpus, "numa_node", node);
	json_decref(node);
	return NULL;
}

static json_t *make_placement(const struct result_case *line)
{
	return json_pack("{s:o*, s:o*}", "client", make_place(&line->client_place), "server",
			 make_place(&line->server_place));
}

/* NULL: nothing is known of either. */
static json_t *make_chosen(const struct result_case *line)
{
	json_t *client = chosen_encode(&line->client_chosen);
	json_t *server = chosen_encode(&line->server_chosen);

	return client || server ? json_pack("{s:o*, s:o*}", "client", client, "server", server)
				: NULL;
}

static json_t *make_case(const struct result_case *line)
{
	json_t *chosen = make_chosen(line);
	json_t *object = json_pack(
		"{s:s, s:s, s:s, s:o, s:s, s:s*, s:s}", "id", line->id, "op", line->op, "metric",
		line->metric, "size", number(line->size), "cq", line->cq, "server_cq",
		line->is_imported ? NULL : line->server_cq, "transport", line->transport);

	add_parameters(object, line->parameters);
	json_object_set_new(object, "trials", make_trials(line));
	json_object_set_new(object, "status", json_string(result_status_name(line->status)));
	if (line->error[0])
		json_object_set_new(object, "error", json_string(line->error));
	if (line->by)
		json_object_set_new(object, "beside",
				    json_pack("{s:s, s:s}", "case", line->beside, "by", line->by));
	if (line->counters)
		json_object_set(object, "counters", line->counters);
	if (line->needs)
		json_object_set(object, "semantics", line->needs);
	if (line->client_place.cpus[0] || line->server_place.cpus[0])
		json_object_set_new(object, "placement", make_placement(line));
	if (chosen)
		json_object_set_new(object, "chosen", chosen);
	if (!line->n_trials)
		return object;
	if (result_has_latency(line))
		json_object_set_new(object, "latency_ns", make_latency(line));
	if (line->warmup)
		json_object_set_new(object, "warmup_latency_ns", make_beside(line->warmup));
	if (line->windows)
		json_object_set_new(object, "bandwidth", make_bandwidth(line));
	if (line->pace) {
		json_object_set_new(object, "saturated", json_boolean(pace_is_saturated(line)));
		json_object_set_new(object, "load", make_load(line));
	}
	if (line->sent)
		json_object_set_new(object, "loss", make_loss(line->sent, line->lost));
	if (line->shares.threads)
		json_object_set_new(object, "shares", shares_encode(&line->shares, line->size));
	if (line->flows.count)
		json_object_set_new(object, "flows", flows_encode(&line->flows, line->size));
	if (!line->is_imported)
		json_object_set_new(object, "cpu", make_costs(&line->client, &line->server));
	return object;
}

json_t *document_make_end(const struct result_end *end)
{
	return json_pack("{s:s, s:s, s:i, s:s*, s:s, s:s, s:o, s:i, s:O*, s:s*}", "host", end->host,
			 "device", end->device, "port", (int)end->port, "kind", end->kind,
			 "address", end->address, "link_layer", end->link_layer, "rate_mbps",
			 number(end->rate_mbps), "mtu", (int)end->mtu, "facts", end->facts,
			 "hard_fingerprint", end->fingerprint[0] ? end->fingerprint : NULL);
}

/* The end that another program has told of: what it tells. */
static json_t *make_imported_end(const struct result_end *end)
{
	if (!end->device[0])
		return NULL;
	return json_pack("{s:s, s:s*, s:o*}", "device", end->device, "link_layer", end->link_layer,
			 "mtu", end->mtu ? json_integer(end->mtu) : NULL);
}

/* Neither how it was called, nor by what clock; and when it ran if somebody has said so. */
static json_t *make_imported_head(const struct result *result)
{
	return json_pack(
		"{s:s, s:{s:s, s:s}, s:O, s:{s:s*, s:s}, s:{s:o*, s:o*}}", "schema",
		DOCUMENT_SCHEMA, "tool", "name", "verbmark", "version", result->version, "imported",
		result->imported, "run", "started", result->started[0] ? result->started : NULL,
		"status", result_status_name(result->status), "hosts", "client",
		make_imported_end(&result->client), "server", make_imported_end(&result->server));
}

static json_t *make_clock(const struct result *result)
{
	json_t *clock = json_pack("{s:s, s:o, s:f}", "kind", result->clock, "hz",
				  number(result->clock_hz), "drift_ppm", result->clock_drift_ppm);

	if (result->clock_resolution_ns > 0)
		json_object_set_new(clock, "resolution_ns", json_real(result->clock_resolution_ns));
	if (result->clock_cost_ns)
		json_object_set_new(clock, "cost_ns", number(result->clock_cost_ns));
	return clock;
}

/* All but the cases, and what comes behind them. */
static json_t *make_head(const struct result *result)
{
	if (result->imported)
		return make_imported_head(result);
	return json_pack("{s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:O, s:O*, s:o}, "
			 "s:{s:o, s:o}}",
			 "schema", DOCUMENT_SCHEMA, "tool", "name", "verbmark", "version",
			 result->version, "run", "started", result->started, "finished",
			 result->finished, "status", result_status_name(result->status), "command",
			 result->command, "plan", result->plan, "clock", make_clock(result),
			 "hosts", "client", document_make_end(&result->client), "server",
			 document_make_end(&result->server));
}

json_t *document_make(const struct result *result)
{
	json_t *document = make_head(result);
	json_t *knees = knees_make(result);
	json_t *crowds = crowds_make(result);
	json_t *turns = turns_make(result);
	json_t *cases = json_array();

	for (size_t i = 0; i < result->n_cases; i++)
		json_array_append_new(cases, make_case(&result->cases[i]));
	if (knees)
		json_object_set_new(document, "knees", knees);
	if (crowds)
		json_object_set_new(document, "crowds", crowds);
	if (turns)
		json_object_set_new(document, "turns", turns);
	if (result->overflow)
		json_object_set(document, "overflow", result->overflow);
	if (result->parties)
		json_object_set(document, "parties", result->parties);
	if (json_object_set_new(document, "cases", cases) ||
	    (result->warnings && json_object_set(document, "warnings", result->warnings))) {
		json_decref(document);
		return NULL;
	}
	return document;
}

static char *case_text(const struct result_case *line)
{
	json_t *json = make_case(line);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	return text;
}

void document_keep(struct result_case *line)
{
	free(line->text);
	line->text = case_text(line);
}

static int write_case(FILE *out, const struct result_case *line)
{
	char *text = line->text ? NULL : case_text(line);

	if (!line->text && !text)
		return -ENOMEM;
	fputs(line->text ? line->text : text, out);
	free(text);
	return 0;
}

static void write_member(FILE *out, const char *name, const json_t *value)
{
	fprintf(out, ",\"%s\":", name);
	json_dumpf(value, out, JSON_COMPACT);
}

/* The cases are long, and most of them are there as text: the rest goes around them. */
static int write_parts(FILE *out, const char *head, const struct result *result)
{
	json_t *turns = turns_make(result);
	json_t *knees = knees_make(result);
	json_t *crowds = crowds_make(result);
	int code = 0;

	fprintf(out, "%.*s,\"cases\":[", (int)strlen(head) - 1, head);
	for (size_t i = 0; i < result->n_cases && !code; i++) {
		if (i)
			fputc(',', out);
		code = write_case(out, &result->cases[i]);
	}
	fputc(']', out);
	if (knees)
		write_member(out, "knees", knees);
	json_decref(knees);
	if (crowds)
		write_member(out, "crowds", crowds);
	json_decref(crowds);
	if (turns)
		write_member(out, "turns", turns);
	json_decref(turns);
	if (result->overflow)
		write_member(out, "overflow", result->overflow);
	if (result->parties)
		write_member(out, "parties", result->parties);
	if (result->warnings)
		write_member(out, "warnings", result->warnings);
	fputs("}\n", out);
	return code;
}

static int write_result(FILE *out, const void *result)
{
	json_t *head = make_head(result);
	char *text = head ? json_dumps(head, JSON_COMPACT) : NULL;
	int code = -ENOMEM;

	errno = 0;
	if (text)
		code = write_parts(out, text, result);
	free(text);
	json_decref(head);
	return code ? code : save_finish(out);
}

static int write_json(FILE *out, const void *document)
{
	errno = 0;
	json_dumpf(document, out, JSON_COMPACT);
	fputc('\n', out);
	return save_finish(out);
}

int document_save(const json_t *document, const char *path, struct error *error)
{
	return save_path(path, write_json, document, error);
}

int document_write(const struct result *result, const char *path, struct error *error)
{
	return save_path(path, write_result, result, error);
}
