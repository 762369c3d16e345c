/* SPDX-License-Identifier: MIT */
#include "reports/document/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/document/parse.h"
#include "reports/result/sum_check.h"

static int check_text(const char *what, const char *before, const char *now, struct error *error)
{
	if (!strcmp(before, now))
		return 0;
	return error_set(error, -EINVAL, "%s is %s, but was %s before", what, now, before);
}

static int check_number(const char *what, uint64_t before, uint64_t now, struct error *error)
{
	if (before == now)
		return 0;
	return error_set(error, -EINVAL, "%s is %" PRIu64 ", but was %" PRIu64 " before", what, now,
			 before);
}

static const char *kind_of(const struct result_end *end)
{
	return end->kind ? end->kind : "unknown";
}

static int check_end(const char *which, const struct result_end *before,
		     const struct result_end *now, struct error *error)
{
	if (!check_text("host", before->host, now->host, error) &&
	    !check_text("device", before->device, now->device, error) &&
	    !check_number("port", before->port, now->port, error) &&
	    !check_text("kind", kind_of(before), kind_of(now), error) &&
	    !check_text("address", before->address, now->address, error) &&
	    !check_text("link_layer", before->link_layer, now->link_layer, error) &&
	    !check_number("rate_mbps", before->rate_mbps, now->rate_mbps, error) &&
	    !check_number("mtu", before->mtu, now->mtu, error))
		return 0;
	error_wrap(error, "%s", which);
	return -EINVAL;
}

static int check_circumstances(const struct result *before, const struct result *now,
			       struct error *error)
{
	int code = check_end("client", &before->client, &now->client, error);

	if (!code)
		code = check_end("server", &before->server, &now->server, error);
	if (!code)
		code = check_text("the version of verbmark", before->version, now->version, error);
	return code ? code : check_text("the clock", before->clock, now->clock, error);
}

static json_t *make_end(const struct result_end *end)
{
	return json_pack("[s, s, I, s, s, s, I, I]", end->host, end->device, (json_int_t)end->port,
			 kind_of(end), end->address, end->link_layer, (json_int_t)end->rate_mbps,
			 (json_int_t)end->mtu);
}

json_t *merge_circumstances(const struct result *result)
{
	if (result->imported)
		return json_null();
	return json_pack("[o, o, s, s]", make_end(&result->client), make_end(&result->server),
			 result->version, result->clock);
}

static int take_first(struct result *into, const struct result *from, struct error *error)
{
	into->texts = json_array();
	if (!into->texts)
		return error_set_errno(error, -ENOMEM, "cannot merge");
	into->version = from->version;
	into->clock = from->clock;
	into->clock_hz = from->clock_hz;
	into->clock_resolution_ns = from->clock_resolution_ns;
	into->client = from->client;
	into->server = from->server;
	json_incref(into->client.facts);
	json_incref(into->server.facts);
	into->command = json_incref(from->command);
	into->plan = json_incref(from->plan);
	memcpy(into->started, from->started, sizeof(into->started));
	memcpy(into->finished, from->finished, sizeof(into->finished));
	return 0;
}

/* Drops the fingerprint of a side if it differs between runs. */
static void widen_end(struct result_end *into, const struct result_end *from)
{
	if (strcmp(into->fingerprint, from->fingerprint) != 0)
		into->fingerprint[0] = '\0';
}

/* Extends the time of the run (ISO 8601 sorts as text) and the errors of the clock. */
static void widen(struct result *into, const struct result *from)
{
	widen_end(&into->client, &from->client);
	widen_end(&into->server, &from->server);
	if (strcmp(from->started, into->started) < 0)
		memcpy(into->started, from->started, sizeof(into->started));
	if (strcmp(from->finished, into->finished) > 0)
		memcpy(into->finished, from->finished, sizeof(into->finished));
	if (from->clock_cost_ns > into->clock_cost_ns)
		into->clock_cost_ns = from->clock_cost_ns;
	if (fabs(from->clock_drift_ppm) > fabs(into->clock_drift_ppm))
		into->clock_drift_ppm = from->clock_drift_ppm;
}

static struct result_case *find_case(struct result *into, const char *id)
{
	for (size_t i = 0; i < into->n_cases; i++)
		if (!strcmp(into->cases[i].id, id))
			return &into->cases[i];
	return NULL;
}

static int add_case(struct result *into, const struct result_case *like, struct result_case **added,
		    struct error *error)
{
	struct result_case *grown =
		reallocarray(into->cases, into->n_cases + 1, sizeof(*into->cases));
	json_t *parameters = json_copy(like->parameters);

	if (grown)
		into->cases = grown;
	if (!grown || !parameters) {
		json_decref(parameters);
		return error_set_errno(error, -ENOMEM, "cannot keep the case");
	}
	*added = &grown[into->n_cases++];
	**added = (struct result_case){.op = like->op,
				       .metric = like->metric,
				       .cq = like->cq,
				       .server_cq = like->server_cq,
				       .transport = like->transport,
				       .size = like->size,
				       .parameters = parameters,
				       .by = like->by,
				       .needs = json_incref(like->needs),
				       .kind = like->kind,
				       .status = like->status};
	memcpy((*added)->id, like->id, sizeof(like->id));
	memcpy((*added)->beside, like->beside, sizeof(like->beside));
	memcpy((*added)->error, like->error, sizeof(like->error));
	return 0;
}

static bool is_scalar(const json_t *json)
{
	return !json_is_object(json) && !json_is_array(json);
}

static int complain(const char *name, const json_t *before, const json_t *now, struct error *error)
{
	char *texts[] = {before ? json_dumps(before, JSON_ENCODE_ANY) : NULL,
			 now ? json_dumps(now, JSON_ENCODE_ANY) : NULL};

	error_set(error, -EINVAL, "%s is %.64s, but was %.64s before", name,
		  texts[1] ? texts[1] : "not given", texts[0] ? texts[0] : "not given");
	free(texts[0]);
	free(texts[1]);
	return -EINVAL;
}

/*
 * Scalar parameters must be the same. Other members that differ are dropped, since they cannot be
 * added up.
 */
static int check_parameters(struct result_case *line, const struct result_case *from,
			    struct error *error)
{
	const char *name;
	json_t *now;
	json_t *before;
	void *next;

	json_object_foreach_safe(line->parameters, next, name, before)
	{
		now = json_object_get(from->parameters, name);
		if (now && json_equal(before, now))
			continue;
		if (is_scalar(before))
			return complain(name, before, now, error);
		json_object_del(line->parameters, name);
	}
	json_object_foreach(from->parameters, name, now)
	{
		if (is_scalar(now) && !json_object_get(line->parameters, name))
			return complain(name, NULL, now, error);
	}
	return 0;
}

/* Checks that both cases, which have trials, measured the same kind of figure. */
static int check_figures(const struct result_case *line, const struct result_case *from,
			 struct error *error)
{
	if (!line->latency != !from->latency || !line->windows != !from->windows ||
	    !line->pace != !from->pace || !line->breakdown != !from->breakdown)
		return error_set(error, -EINVAL, "one is a bandwidth and the other a latency");
	if (line->latency && line->kind != from->kind)
		return check_text("its latency", result_kind_name(line->kind),
				  result_kind_name(from->kind), error);
	return 0;
}

/* Placements that differ between trials become unknown. */
static void merge_place(struct result_place *into, const struct result_place *from, bool is_first)
{
	if (is_first)
		*into = *from;
	else if (strcmp(into->cpus, from->cpus) != 0)
		*into = (struct result_place){.numa_node = -1};
	else if (into->numa_node != from->numa_node)
		into->numa_node = -1;
}

static void merge_chosen(struct effective *into, const struct effective *from, bool is_first)
{
	if (is_first)
		*into = *from;
	else
		effective_merge(into, from);
}

/* Durations in nanoseconds do not match by chance. */
static bool is_same_trial(const struct result_trial *one, const struct result_trial *other)
{
	bool is_same = one->messages == other->messages && one->duration_ns == other->duration_ns &&
		       one->warmup.duration_ns == other->warmup.duration_ns;

	/* Figures that both lack are not a difference. */
	for (size_t i = 0; i < ARRAY_LENGTH(one->latency) && is_same; i++)
		is_same = !islessgreater(one->latency[i], other->latency[i]);
	return is_same;
}

static int add_trials(struct result_case *line, const struct result_case *from, struct error *error)
{
	int code = line->n_trials ? check_figures(line, from, error) : 0;

	if (!code && line->n_trials + from->n_trials > PARSE_TRIALS_MOST)
		code = error_set(error, -E2BIG, "more than %d trials", PARSE_TRIALS_MOST);
	if (!code && sum_check_case_is_beyond(line, from))
		code = error_set(error, -EOVERFLOW, "the sums overflow");
	if (!line->n_trials)
		line->kind = from->kind;
	merge_place(&line->client_place, &from->client_place, !line->n_trials);
	merge_place(&line->server_place, &from->server_place, !line->n_trials);
	merge_chosen(&line->client_chosen, &from->client_chosen, !line->n_trials);
	merge_chosen(&line->server_chosen, &from->server_chosen, !line->n_trials);
	if (!code)
		code = result_add_shares(line, &from->shares, !line->n_trials, error);
	if (!code)
		code = result_add_flows(line, &from->flows, !line->n_trials, error);
	if (!code && from->receivers.count)
		code = receivers_add(&line->receivers, &from->receivers, error);
	if (!code)
		code = result_add_warmup(line, from->warmup, error);
	if (!code && from->pace)
		code = pace_add(line, from->pace, error);
	if (!code && from->breakdown)
		code = breakdown_add(line, from->breakdown, error);
	/* The pooled histogram and windows are added with the first trial. */
	for (size_t i = 0; i < from->n_trials && !code; i++)
		code = result_add_trial(line, &from->trials[i], i ? NULL : from->latency,
					i ? NULL : from->windows, error);
	return code;
}

/* A known status takes precedence over an unknown one, and a failure over all others. */
static int rank(enum result_status status)
{
	static const int ranks[] = {
		[RESULT_INTERRUPTED] = 0,
		[RESULT_SKIPPED] = 1,
		[RESULT_COMPLETE] = 2,
		[RESULT_FAILED] = 3,
	};

	return ranks[status];
}

/* Adds up the counters of all runs, for each side that has them. */
static int merge_counters(struct result_case *line, const json_t *counters, struct error *error)
{
	const char *end;
	json_t *moved;

	if (!counters)
		return 0;
	if (!line->counters)
		line->counters = json_object();
	json_object_foreach((json_t *)(uintptr_t)counters, end, moved)
	{
		json_t *sum = json_incref(json_object_get(line->counters, end));

		result_add_counters(&sum, moved);
		if (json_object_set_new(line->counters, end, sum))
			return error_set_errno(error, -ENOMEM, "cannot add up counters");
	}
	return 0;
}

/* Adds warnings that are not yet in the result. */
static int merge_warnings(struct result *into, const json_t *warnings, struct error *error)
{
	const json_t *warning;
	size_t i;

	if (!warnings)
		return 0;
	if (!into->warnings)
		into->warnings = json_array();
	json_array_foreach(warnings, i, warning)
	{
		const json_t *known;
		bool is_known = false;
		size_t j;

		json_array_foreach(into->warnings, j, known) is_known =
			is_known || json_equal(known, warning);
		if (!is_known && json_array_size(into->warnings) == PARSE_WARNINGS_MOST)
			return error_set(error, -E2BIG, "more than %d warnings",
					 PARSE_WARNINGS_MOST);
		if (!is_known && json_array_append(into->warnings, (json_t *)(uintptr_t)warning))
			return error_set_errno(error, -ENOMEM, "cannot keep the warnings");
	}
	return 0;
}

static int merge_case(struct result *into, const struct result_case *from, struct error *error)
{
	struct result_case *line = find_case(into, from->id);
	int code = line ? check_parameters(line, from, error) : add_case(into, from, &line, error);

	if (!code && from->n_trials && line->status != RESULT_FAILED)
		code = add_trials(line, from, error);
	if (!code)
		code = merge_counters(line, from->counters, error);
	if (code) {
		error_wrap(error, "%.120s", from->id);
		return code;
	}
	if (rank(from->status) > rank(line->status)) {
		line->status = from->status;
		memcpy(line->error, from->error, sizeof(line->error));
	}
	if (line->status == RESULT_FAILED)
		result_drop_trials(line);
	return 0;
}

static int check_new(const struct result_case *line, const struct result_case *from,
		     struct error *error)
{
	for (size_t i = 0; i < from->n_trials; i++)
		for (size_t j = 0; j < line->n_trials; j++)
			if (is_same_trial(&from->trials[i], &line->trials[j]))
				return error_set(error, -EEXIST,
						 "trial %zu is a duplicate: the same run "
						 "twice, or one that was merged before",
						 i + 1);
	return 0;
}

int merge_check_new(const struct result *into, const struct result *from, struct error *error)
{
	for (size_t i = 0; i < from->n_cases; i++)
		for (size_t j = 0; j < into->n_cases; j++)
			if (!strcmp(into->cases[j].id, from->cases[i].id) &&
			    check_new(&into->cases[j], &from->cases[i], error))
				return error_wrap(error, "%.120s", from->cases[i].id);
	return 0;
}

int merge_add(struct result *into, const struct result *from, struct error *error)
{
	int code;

	if (from->imported)
		return error_set(
			error, -EINVAL,
			"imported results cannot be merged; import the files of all runs at once");
	code = into->texts ? check_circumstances(into, from, error) : take_first(into, from, error);

	if (!code && from->texts && json_array_append(into->texts, from->texts))
		code = error_set_errno(error, -ENOMEM, "cannot merge");
	for (size_t i = 0; i < from->n_cases && !code; i++)
		code = merge_case(into, &from->cases[i], error);
	if (!code)
		code = merge_warnings(into, from->warnings, error);
	if (code)
		return code;
	if (!into->overflow)
		into->overflow = json_incref(from->overflow);
	widen(into, from);
	into->status = result_status_of_cases(into);
	return 0;
}
