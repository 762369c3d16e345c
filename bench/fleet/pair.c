/* SPDX-License-Identifier: MIT */
#include "bench/fleet/pair.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/watch.h"
#include "reports/document/hdr.h"
#include "reports/fleet/document.h"

#define RAIL_NAME (FLEET_NAME + 12)
/* The most of a pair: a message to rank 0 has room for it. */
#define HISTOGRAMS_BYTES (1 << 19)

struct pair {
	struct plan plan;
	struct result result;
	struct sweep sweep;
	struct dial_stop stop;
	struct pair_server server;
	char who[FLEET_NAME];
	char device[RAIL_NAME];
	char server_device[RAIL_NAME];
	bool with_histograms;
	pthread_t thread;
	int done;
	atomic_bool is_done;
	pthread_mutex_t lock; /* protects the members below */
	bool is_open;         /* the control connection may be ended */
	struct error stopped; /* why it was ended early */
	struct error fault;
};

static bool is_stopped(void *owner)
{
	struct pair *pair = owner;
	bool is;

	pthread_mutex_lock(&pair->lock);
	is = pair->stopped.code != 0;
	pthread_mutex_unlock(&pair->lock);
	return is;
}

static void set_open(struct pair *pair, bool is_open)
{
	pthread_mutex_lock(&pair->lock);
	pair->is_open = is_open;
	if (is_open && pair->stopped.code)
		control_fail(&pair->sweep.control, pair->stopped.code, pair->stopped.text);
	pthread_mutex_unlock(&pair->lock);
}

static void measure(struct pair *pair)
{
	struct error error = {0};
	int code = secret_take(&pair->sweep.secret, pair->server.token, &error);

	pair->sweep.secret.is_token = true;
	if (!code)
		code = sweep_open(&pair->sweep, &pair->plan, &pair->result, &error);
	if (!code) {
		set_open(pair, true);
		sweep_run(&pair->sweep, &pair->plan, &pair->result, NULL, &error);
		set_open(pair, false);
		sweep_close(&pair->sweep);
	}
	pthread_mutex_lock(&pair->lock);
	pair->fault = pair->stopped.code ? pair->stopped : error;
	pthread_mutex_unlock(&pair->lock);
}

static void *run(void *argument)
{
	struct pair *pair = argument;
	uint64_t one = 1;

	measure(pair);
	atomic_store(&pair->is_done, true);
	if (write(pair->done, &one, sizeof(one)) < 0)
		return NULL; /* fails only if the counter is full, and so readable anyway */
	return NULL;
}

/* Copies the plan: its cases are marked when the devices of this pair do not support them. */
static int copy_plan(struct pair *pair, const struct pair_settings *settings, struct error *error)
{
	const struct plan *plan = settings->plan;

	pair->plan = *plan;
	pair->plan.host = pair->server.host;
	pair->plan.port = pair->server.port;
	pair->plan.device = pair->device;
	pair->plan.server_device = pair->server_device;
	pair->plan.made = json_deep_copy(plan->made);
	pair->plan.cases = calloc(plan->n_cases, sizeof(*plan->cases));
	if (!pair->plan.cases || !pair->plan.made)
		return error_set_errno(error, -ENOMEM, "cannot copy the plan");
	memcpy(pair->plan.cases, plan->cases, plan->n_cases * sizeof(*plan->cases));
	return 0;
}

static void pair_destroy(struct pair *pair)
{
	plan_close(&pair->plan);
	result_finish(&pair->result);
	pthread_mutex_destroy(&pair->lock);
	free(pair);
}

int pair_start(struct pair **pair, const struct pair_settings *settings, int done,
	       struct error *error)
{
	struct pair *made = calloc(1, sizeof(*made));
	int code;

	if (!made)
		return error_set_errno(error, -ENOMEM, "cannot measure a pair");
	pthread_mutex_init(&made->lock, NULL);
	made->done = done;
	made->with_histograms = settings->with_histograms;
	made->server = *settings->server;
	made->result.version = VERBMARK_VERSION;
	snprintf(made->who, sizeof(made->who), "%s", settings->who);
	snprintf(made->device, sizeof(made->device), "%s/%u", settings->from->device,
		 settings->from->port);
	snprintf(made->server_device, sizeof(made->server_device), "%s/%u", settings->to->device,
		 settings->to->port);
	made->stop = (struct dial_stop){is_stopped, made};
	made->sweep.stop = &made->stop;
	code = copy_plan(made, settings, error);
	if (!code) {
		code = watch_start_thread(&made->thread, run, made);
		if (code)
			error_set_errno(error, code, "cannot start a thread");
	}
	if (code)
		pair_destroy(made);
	else
		*pair = made;
	return code;
}

bool pair_is_done(const struct pair *pair)
{
	return atomic_load(&pair->is_done);
}

void pair_stop(struct pair *pair, int code, const char *reason)
{
	pthread_mutex_lock(&pair->lock);
	if (!pair->stopped.code)
		error_set(&pair->stopped, code, "%s", reason);
	if (pair->is_open)
		control_fail(&pair->sweep.control, code, reason);
	pthread_mutex_unlock(&pair->lock);
}

/* Returns the rate of received bytes in one direction, over all trials. */
static double bytes_per_s(const struct result_case *line, bool is_far)
{
	double messages = is_far ? result_far_rate(line) : result_rate(line, false);

	return messages * (double)line->size;
}

static bool has_far(const struct result_case *line)
{
	return line->n_trials && line->trials[0].has_far;
}

static void take_figures(const struct pair *pair, size_t number, double figures[static 2])
{
	const struct result_case *line = &pair->result.cases[number];
	const struct operation *op = pair->plan.cases[number].op;
	/* The client's READs carry data from the server. */
	size_t own = op->shape.is_read ? 1 : 0;

	if (result_has_latency(line) && pair->plan.cases[number].parameters.metric != METRIC_BW) {
		figures[0] = result_named(line, "p50");
		return;
	}
	figures[own] = bytes_per_s(line, false);
	if (has_far(line))
		figures[1 - own] = bytes_per_s(line, true);
}

/* Keeps the counters of errors that rose. */
static json_t *pick_errors(const json_t *moved)
{
	json_t *errors = NULL;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)moved, name, value)
	{
		enum counter_kind kind = counters_kind(name);

		if (json_integer_value(value) <= 0 ||
		    (kind != COUNTER_LOSS && kind != COUNTER_LINK))
			continue;
		if (!errors)
			errors = json_object();
		json_object_set(errors, name, value);
	}
	return errors;
}

static void take_errors(const struct result *result, struct fleet_pair *found)
{
	json_t *sums[] = {NULL, NULL};

	for (size_t i = 0; i < result->n_cases; i++) {
		const json_t *counters = result->cases[i].counters;
		json_t *client = pick_errors(json_object_get(counters, "client"));
		json_t *server = pick_errors(json_object_get(counters, "server"));

		if (client)
			result_add_counters(&sums[0], client);
		if (server)
			result_add_counters(&sums[1], server);
		json_decref(client);
		json_decref(server);
	}
	if (sums[0] || sums[1])
		found->errors = json_pack("{s:o*, s:o*}", "from", sums[0], "to", sums[1]);
}

static void fail(struct fleet_pair *found, const char *text)
{
	found->status = FLEET_FAILED;
	found->error = strdup(text);
}

/* Returns a histogram as text; null if it is empty or too long. */
static json_t *encode(const struct hist *hist)
{
	struct error ignored = {0};
	char *text = hist->count ? hdr_encode(hist, &ignored) : NULL;
	json_t *made = text && strlen(text) <= FLEET_HISTOGRAM ? json_string(text) : json_null();

	free(text);
	return made;
}

/* Returns the histogram of the windows that this end has measured, in bytes per second. */
static json_t *encode_windows(const struct result_case *line)
{
	struct hist *hist = line->windows ? hist_create() : NULL;
	json_t *made;

	if (!hist)
		return json_null();
	rate_windows_fill(line->windows, line->size, hist);
	made = encode(hist);
	free(hist);
	return made;
}

/* Adds the histograms of a case in the order of its figures. */
static void add_histograms(const struct pair *pair, size_t number, json_t *histograms)
{
	const struct result_case *line = &pair->result.cases[number];
	const struct plan_case *wanted = &pair->plan.cases[number];
	bool is_latency = wanted->parameters.metric != METRIC_BW;
	bool is_back = !is_latency && wanted->op->shape.is_read;

	if (is_back)
		json_array_append_new(histograms, json_null());
	if (!is_latency)
		json_array_append_new(histograms, encode_windows(line));
	else
		json_array_append_new(histograms,
				      line->latency ? encode(line->latency) : json_null());
	if (!is_back)
		json_array_append_new(histograms, json_null());
}

/* Returns NULL if the histograms would not fit into a message to rank 0. */
static json_t *make_histograms(const struct pair *pair)
{
	json_t *made = json_array();

	for (size_t i = 0; i < pair->result.n_cases; i++)
		add_histograms(pair, i, made);
	if (json_dumpb(made, NULL, 0, JSON_COMPACT) <= HISTOGRAMS_BYTES)
		return made;
	json_decref(made);
	return NULL;
}

static void take_result(const struct pair *pair, const struct fleet *fleet,
			struct fleet_pair *found)
{
	const struct result *result = &pair->result;

	if (fleet_add_figures(fleet, found)) {
		fail(found, "not enough memory for the figures");
		return;
	}
	found->status = FLEET_MEASURED;
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (line->status == RESULT_COMPLETE)
			take_figures(pair, i, &found->figures[2 * i]);
		else if (!found->error)
			fail(found, line->error[0] ? line->error : "interrupted");
	}
	take_errors(result, found);
	if (pair->with_histograms && found->status == FLEET_MEASURED)
		found->histograms = make_histograms(pair);
}

void pair_finish(struct pair *pair, const struct fleet *fleet, struct fleet_pair *found)
{
	if (!pair_is_done(pair)) {
		fail(found, "a call of the device's driver hangs");
		pthread_detach(pair->thread);
		return;
	}
	pthread_join(pair->thread, NULL);
	if (pair->fault.code)
		fail(found, pair->fault.text);
	else
		take_result(pair, fleet, found);
	pair_destroy(pair);
}
