/* SPDX-License-Identifier: MIT */
#include "reports/document/case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/hdr.h"
#include "reports/finding/bounded.h"
#include "reports/finding/precision.h"
#include "reports/result/trials.h"

static json_t *make_bins(const struct hist *hist)
{
	json_t *bins = json_array();
	int failed = 0;

	for (size_t i = hist_first(hist), end = hist_end(hist); i < end; i++)
		if (hist->bins[i])
			failed |= json_array_append_new(
				bins, json_pack("[o, o, o]", document_number(hist_low(i)),
						document_number(hist_high(i)),
						document_number(hist->bins[i])));
	return document_whole(bins, failed);
}

/* Returns the placeholder of bins that are put aside, or NULL. */
static json_t *put_aside(struct document_bins *aside, const struct hist *hist)
{
	json_t *place;

	if (!aside || aside->count == ARRAY_LENGTH(aside->places))
		return NULL;
	place = json_object();
	aside->places[aside->count++] = (struct document_place){.json = place, .hist = hist};
	return place;
}

static json_t *make_plain_histogram(const struct hist *hist, const char *unit,
				    struct document_bins *aside)
{
	json_t *bins = put_aside(aside, hist);

	return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "scheme", "log2-linear",
			 "sub_bits", HIST_SUB_BITS, "unit", unit, "count",
			 document_number(hist->count), "sum", document_number(hist->sum), "min",
			 document_number(hist->count ? hist->min : 0), "max",
			 document_number(hist->max), "over", document_number(hist->over), "bins",
			 bins ? bins : make_bins(hist));
}

static json_t *make_histogram(const struct hist *hist, const char *unit,
			      struct document_bins *aside)
{
	json_t *histogram = make_plain_histogram(hist, unit, aside);
	struct error ignored = {0};
	char *hdr = hdr_encode(hist, &ignored);
	int failed = json_object_set_new(histogram, "hdr_v2", hdr ? json_string(hdr) : NULL);

	free(hdr);
	return document_whole(histogram, failed);
}

/* Adds the interval of a figure; null: unknown. */
static int add_interval(json_t *into, const char *name, const struct bounded *figure)
{
	return json_object_set_new(into, name,
				   isnan(figure->low) ? json_null()
						      : json_pack("{s:f, s:f}", "low", figure->low,
								  "high", figure->high));
}

static json_t *make_figures(const struct hist *hist)
{
	json_t *figures = json_pack("{s:o}", "count", document_number(hist->count));
	int failed = 0;

	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].is_known(hist, &statistics[i]))
			failed |= json_object_set_new(
				figures, statistics[i].key,
				json_real(statistics[i].value(hist, &statistics[i])));
	return document_whole(figures, failed);
}

/* Makes the figures of latencies without a histogram. */
static json_t *make_known_figures(const double values[static STATISTICS])
{
	json_t *figures = json_object();
	int failed = 0;

	for (size_t i = 0; i < STATISTICS; i++)
		if (!isnan(values[i]))
			failed |= json_object_set_new(figures, statistics[i].key,
						      json_real(values[i]));
	return document_whole(figures, failed);
}

static json_t *make_latency(const struct result_case *line, struct document_bins *aside)
{
	json_t *intervals = json_object();
	json_t *latency =
		line->latency ? make_figures(line->latency) : make_known_figures(line->figures);
	struct bounded figure;
	int failed = 0;

	for (size_t i = 0; i < STATISTICS; i++) {
		failed |= bounded_statistic(&figure, line, i);
		if (!isnan(figure.value) && statistics[i].has_interval)
			failed |= add_interval(intervals, statistics[i].key, &figure);
	}
	failed |= json_object_set_new(latency, "kind", json_string(result_kind_name(line->kind)));
	failed |= json_object_set_new(latency, "intervals", intervals);
	if (line->latency)
		failed |= json_object_set_new(latency, "histogram",
					      make_histogram(line->latency, "ns", aside));
	return document_whole(latency, failed);
}

/* Makes a distribution that accompanies a measurement, such as warm-up latencies or lags. */
static json_t *make_beside(const struct hist *hist, struct document_bins *aside)
{
	json_t *beside = make_figures(hist);

	return document_whole(beside, json_object_set_new(beside, "histogram",
							  make_plain_histogram(hist, "ns", aside)));
}

static json_t *make_load(const struct result_case *line, struct document_bins *aside)
{
	const struct pace *pace = line->pace;
	json_t *load =
		json_pack("{s:f, s:f, s:o, s:o, s:o}", "rate", pace_rate(line), "messages_per_s",
			  pace_got(line), "unsent", document_number(pace_unsent(line)), "lag_ns",
			  make_beside(&pace->lag, aside), "uncorrected_ns",
			  make_beside(&pace->uncorrected, aside));
	int failed = 0;

	if (pace->maximum > 0)
		failed = json_object_set_new(load, "maximum",
					     json_pack("{s:s, s:f}", "case", pace->maximum_case,
						       "messages_per_s", pace->maximum));
	return document_whole(load, failed);
}

static json_t *make_breakdown(const struct breakdown *breakdown, struct document_bins *aside)
{
	json_t *parts = json_pack("{s:{s:f, s:f}}", "clock", "hz", breakdown->clock_hz, "error_ns",
				  breakdown->clock_error_ns);
	int failed = 0;

	for (size_t i = 0; i < BREAKDOWN_PARTS; i++)
		if (i != BREAKDOWN_WAKEUP || breakdown_has_wakeup(breakdown))
			failed |= json_object_set_new(parts, breakdown_names[i],
						      make_beside(&breakdown->parts[i], aside));
	return document_whole(parts, failed);
}

static json_t *make_windows(const struct result_case *line)
{
	json_t *rates = json_array();
	int failed = 0;

	for (size_t i = 0; i < line->windows->count; i++)
		failed |= json_array_append_new(
			rates, document_number(rate_windows_rate(line->windows, i, line->size)));
	return document_whole(rates, failed);
}

/* Adds the total of both directions, if the case is bidirectional. */
static int add_total(json_t *rates, const struct result_case *line)
{
	double rate = result_rate(line, true);
	bool has_far = false;

	for (size_t i = 0; i < line->n_trials; i++)
		has_far = has_far || line->trials[i].has_far;
	if (!has_far)
		return 0;
	return json_object_set_new(rates, "total",
				   json_pack("{s:f, s:f}", "bytes_per_s", rate * (double)line->size,
					     "messages_per_s", rate));
}

static json_t *make_rates_of_case(const struct result_case *line)
{
	double rate = result_rate(line, false);
	json_t *intervals = json_object();
	json_t *rates = json_pack("{s:o, s:o, s:o, s:f, s:f}", "bytes",
				  document_number(line->messages * line->size), "messages",
				  document_number(line->messages), "duration_ns",
				  document_number(line->duration_ns), "bytes_per_s",
				  rate * (double)line->size, "messages_per_s", rate);
	struct bounded figure;
	int failed = add_total(rates, line);

	failed |= bounded_rate(&figure, line);
	failed |= add_interval(intervals, "messages_per_s", &figure);
	bounded_scale(&figure, (double)line->size);
	failed |= add_interval(intervals, "bytes_per_s", &figure);
	failed |= json_object_set_new(rates, "intervals", intervals);
	return document_whole(rates, failed);
}

static json_t *make_bandwidth(const struct result_case *line)
{
	struct hist *hist = hist_create();
	json_t *bandwidth = hist ? make_rates_of_case(line) : NULL;
	int failed = 0;

	/* Imported results have no throughput windows. */
	if (bandwidth && !line->is_imported) {
		rate_windows_fill(line->windows, line->size, hist);
		failed |= json_object_set_new(bandwidth, "window_ns",
					      document_number(line->windows->window_ns));
		failed |= json_object_set_new(bandwidth, "windows", make_windows(line));
		failed |= json_object_set_new(bandwidth, "histogram",
					      make_histogram(hist, "bytes/s", NULL));
	}
	free(hist);
	return document_whole(bandwidth, failed);
}

static json_t *make_cost(const struct result_cost *cost)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "messages",
			 document_number(cost->messages), "user_ns", document_number(cost->user_ns),
			 "system_ns", document_number(cost->system_ns), "voluntary_switches",
			 document_number(cost->voluntary_switches), "involuntary_switches",
			 document_number(cost->involuntary_switches), "cq_events",
			 document_number(cost->cq_events), "completions",
			 document_number(cost->completions));
}

static json_t *make_costs(const struct result_cost *client, const struct result_cost *server)
{
	return json_pack("{s:o, s:o}", "client", make_cost(client), "server", make_cost(server));
}

static json_t *make_rates(const struct result_trial *trial)
{
	json_t *rates = json_pack("{s:f, s:f}", "bytes_per_s", trial->bytes_per_s, "messages_per_s",
				  trial->messages_per_s);

	if (!trial->has_far)
		return rates;
	return document_whole(rates, json_object_set_new(rates, "far_messages_per_s",
							 json_real(trial->far_messages_per_s)));
}

static json_t *make_loss(uint64_t sent, uint64_t lost)
{
	return json_pack("{s:o, s:o}", "sent", document_number(sent), "lost",
			 document_number(lost));
}

static json_t *make_trial_load(const struct result_trial *trial)
{
	return json_pack("{s:f, s:f, s:o, s:b}", "rate", trial->pace.rate, "messages_per_s",
			 trial->messages_per_s, "unsent", document_number(trial->pace.unsent),
			 "saturated", trial->pace.is_saturated);
}

/* Makes what a trial cost; imported trials have less of it. */
static json_t *make_effort(const struct result_case *line, const struct result_trial *trial)
{
	if (line->is_imported && !trial->duration_ns)
		return json_pack("{s:o}", "messages", document_number(trial->messages));
	if (line->is_imported)
		return json_pack("{s:o, s:o}", "messages", document_number(trial->messages),
				 "duration_ns", document_number(trial->duration_ns));
	return json_pack("{s:{s:o, s:o, s:b}, s:o, s:o, s:o}", "warmup", "messages",
			 document_number(trial->warmup.messages), "duration_ns",
			 document_number(trial->warmup.duration_ns), "converged",
			 trial->warmup.has_converged, "messages", document_number(trial->messages),
			 "duration_ns", document_number(trial->duration_ns), "cpu",
			 make_costs(&trial->client, &trial->server));
}

static json_t *make_trial(const struct result_case *line, const struct result_trial *trial)
{
	json_t *object = make_effort(line, trial);
	int failed = 0;

	if (result_has_latency(line))
		failed |= json_object_set_new(object, "latency_ns",
					      make_known_figures(trial->latency));
	if (line->windows)
		failed |= json_object_set_new(object, "bandwidth", make_rates(trial));
	if (line->pace)
		failed |= json_object_set_new(object, "load", make_trial_load(trial));
	if (trial->sent)
		failed |= json_object_set_new(object, "loss", make_loss(trial->sent, trial->lost));
	return document_whole(object, failed);
}

static json_t *make_trials(const struct result_case *line)
{
	json_t *trials = json_array();
	int failed = 0;

	for (size_t i = 0; i < line->n_trials; i++)
		failed |= json_array_append_new(trials, make_trial(line, &line->trials[i]));
	return document_whole(trials, failed);
}

/* Adds parameters as members, with underscores in the names of options. */
static int add_parameters(json_t *object, json_t *parameters)
{
	const char *name;
	json_t *value;
	int failed = 0;

	json_object_foreach(parameters, name, value)
	{
		char key[64];

		snprintf(key, sizeof(key), "%s", name);
		for (char *dash = strchr(key, '-'); dash; dash = strchr(dash, '-'))
			*dash = '_';
		failed |= json_object_set(object, key, value);
	}
	return failed;
}

/* Adds the placement of one side, if it is known. */
static int add_place(json_t *into, const char *end, const struct result_place *place)
{
	json_t *json;
	int failed = 0;

	if (!place->cpus[0])
		return 0;
	json = json_pack("{s:s}", "cpus", place->cpus);
	if (place->numa_node >= 0)
		failed = json_object_set_new(json, "numa_node", json_integer(place->numa_node));
	return json_object_set_new(into, end, document_whole(json, failed));
}

static json_t *make_placement(const struct result_case *line)
{
	json_t *placement = json_object();
	int failed = add_place(placement, "client", &line->client_place);

	failed |= add_place(placement, "server", &line->server_place);
	return document_whole(placement, failed);
}

static int add_chosen(json_t *into, const struct result_case *line)
{
	bool has_client = effective_is_any(&line->client_chosen);
	bool has_server = effective_is_any(&line->server_chosen);
	json_t *chosen = json_object();
	int failed = 0;

	if (has_client)
		failed |= json_object_set_new(chosen, "client",
					      effective_encode(&line->client_chosen));
	if (has_server)
		failed |= json_object_set_new(chosen, "server",
					      effective_encode(&line->server_chosen));
	if (has_client || has_server)
		return json_object_set_new(into, "chosen", document_whole(chosen, failed));
	json_decref(chosen);
	return 0;
}

/* Adds the measured figures. */
static int add_figures(json_t *object, const struct result_case *line, struct document_bins *aside)
{
	int failed = 0;

	if (result_has_latency(line))
		failed |= json_object_set_new(object, "latency_ns", make_latency(line, aside));
	if (line->warmup)
		failed |= json_object_set_new(object, "warmup_latency_ns",
					      make_beside(line->warmup, aside));
	if (line->breakdown)
		failed |= json_object_set_new(object, "breakdown_ns",
					      make_breakdown(line->breakdown, aside));
	if (line->windows)
		failed |= json_object_set_new(object, "bandwidth", make_bandwidth(line));
	if (line->pace) {
		failed |= json_object_set_new(object, "saturated",
					      json_boolean(pace_is_saturated(line)));
		failed |= json_object_set_new(object, "load", make_load(line, aside));
	}
	if (line->sent)
		failed |= json_object_set_new(object, "loss", make_loss(line->sent, line->lost));
	if (line->shares.threads)
		failed |= json_object_set_new(object, "shares",
					      shares_encode(&line->shares, line->size));
	if (line->flows.count)
		failed |= json_object_set_new(object, "flows",
					      flows_encode(&line->flows, line->size));
	if (line->receivers.count)
		failed |= json_object_set_new(object, "receivers",
					      receivers_encode(&line->receivers));
	if (!isnan(precision_wanted(line)))
		failed |= json_object_set_new(
			object, "precise",
			json_boolean(precision_width(line) <= precision_wanted(line)));
	if (!line->is_imported)
		failed |= json_object_set_new(object, "cpu",
					      make_costs(&line->client, &line->server));
	return failed;
}

json_t *document_make_case(const struct result_case *line, struct document_bins *aside)
{
	json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:s, s:s}", "id", line->id, "op", line->op,
				   "metric", line->metric, "size", document_number(line->size),
				   "cq", line->cq, "transport", line->transport);
	int failed = add_parameters(object, line->parameters);

	if (!line->is_imported)
		failed |= json_object_set_new(object, "server_cq", json_string(line->server_cq));
	failed |= json_object_set_new(object, "trials",
				      line->status == RESULT_COMPLETE ? make_trials(line)
								      : json_array());
	failed |= json_object_set_new(object, "status",
				      json_string(result_status_name(line->status)));
	if (line->error[0])
		failed |= json_object_set_new(object, "error", json_string(line->error));
	if (line->by)
		failed |= json_object_set_new(
			object, "beside",
			json_pack("{s:s, s:s}", "case", line->beside, "by", line->by));
	if (line->counters)
		failed |= json_object_set(object, "counters", line->counters);
	if (line->needs)
		failed |= json_object_set(object, "semantics", line->needs);
	if (line->client_place.cpus[0] || line->server_place.cpus[0])
		failed |= json_object_set_new(object, "placement", make_placement(line));
	failed |= add_chosen(object, line);
	if (line->n_trials && line->status == RESULT_COMPLETE)
		failed |= add_figures(object, line, aside);
	return document_whole(object, failed);
}
