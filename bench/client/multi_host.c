/* SPDX-License-Identifier: MIT */
#include "bench/client/multi_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/client/case_results.h"
#include "bench/client/multi_host_merge.h"
#include "bench/control/auth.h"
#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "bench/host/advice/loss.h"
#include "bench/lane/lane.h"
#include "bench/lane/threads.h"
#include "reports/document/parse.h"

struct fleet {
	const struct plan *plan;
	struct result *result;
	struct hosts hosts;
	struct launch *launches; /* one server per host; NULL: they already run */
	struct secret secret;    /* zeroed: none */
	struct hosts_flow *pairs;
	const struct plan_case *wanted;
	struct threads threads;
	uint64_t went_ns;     /* when the flows were sent "go" */
	uint64_t spread_ns;   /* largest of the case's trials */
	pthread_mutex_t lock; /* protects the opening and closing of connections, and: */
	bool is_interrupted;
	struct multi_host_flow *flows; /* of the current case; changed by its thread only */
	size_t n_flows;
};

static int greet(const struct fleet *fleet, struct control *control, const struct host *host,
		 json_t **welcome, struct error *error)
{
	const struct auth_server server = {host->label, host->name, host->port};

	return auth_say(control, &fleet->secret, &server, welcome, error);
}

static bool is_interrupted(void *owner)
{
	struct fleet *fleet = owner;
	bool is;

	pthread_mutex_lock(&fleet->lock);
	is = fleet->is_interrupted;
	pthread_mutex_unlock(&fleet->lock);
	return is;
}

static int reach(struct fleet *fleet, struct control *control, const struct host *host,
		 struct error *error)
{
	const struct dial_stop stop = {is_interrupted, fleet};
	int fd = dial_until(host->name, host->port, fleet->plan->wait_ms, NULL, &stop, error);
	int code = fd < 0 ? fd : control_open(control, fd, error);

	if (code == -ECONNREFUSED && !fleet->launches)
		error_append(error, "run 'verbmark serve --drive' there or add --launch 'ssh %%h'");
	return code;
}

/* Makes the connection subject to multi_host_interrupt, unless that was called already. */
static int mark_open(struct fleet *fleet, struct multi_host_flow *flow, struct error *error)
{
	pthread_mutex_lock(&fleet->lock);
	flow->is_open = !fleet->is_interrupted;
	pthread_mutex_unlock(&fleet->lock);
	if (flow->is_open)
		return 0;
	control_close(&flow->control);
	return error_set(error, -EINTR, "interrupted");
}

static int open_flow(struct fleet *fleet, struct multi_host_flow *flow, struct error *error)
{
	json_t *welcome;
	int code = reach(fleet, &flow->control, flow->from, error);

	if (!code)
		code = mark_open(fleet, flow, error);
	if (!code)
		code = greet(fleet, &flow->control, flow->from, &welcome, error);
	if (!code)
		json_decref(welcome);
	return code;
}

static void close_flow(struct fleet *fleet, struct multi_host_flow *flow)
{
	struct error ignored = {0};
	bool was_open;

	if (flow->is_open)
		control_send(&flow->control, protocol_plain("bye"), &ignored);
	pthread_mutex_lock(&fleet->lock);
	was_open = flow->is_open;
	flow->is_open = false;
	pthread_mutex_unlock(&fleet->lock);
	if (was_open)
		control_close(&flow->control);
}

/* Returns whether the reported case is the requested one. */
static bool is_answer(const struct fleet *fleet, const struct result_case *line)
{
	const struct parameters *p = &fleet->wanted->parameters;

	return !strcmp(line->op, operation_names[p->op]) && line->size == p->size &&
	       !strcmp(line->metric, "bw") && line->n_trials == p->trials && line->windows;
}

/* Returns whether the sums over all flows fit into the counters. */
static bool is_countable(const struct fleet *fleet, const struct result_case *line)
{
	uint64_t most = (uint64_t)INT64_MAX / fleet->n_flows;

	return line->messages < most / line->size && line->duration_ns < most;
}

static bool has_time(const struct result_case *line)
{
	for (size_t i = 0; i < line->n_trials; i++)
		if (!line->trials[i].duration_ns || !line->trials[i].messages)
			return false;
	return true;
}

/* Takes the result of the case from a "driven" message. */
static int multi_host_take(const struct fleet *fleet, struct multi_host_flow *flow,
			   const json_t *message, struct error *error)
{
	const struct result_case *line;

	if (parse_document(&flow->result, json_object_get(message, "document"), error))
		return error_wrap(error, "%s", flow->from->label);
	line = flow->result.cases;
	if (flow->result.n_cases != 1)
		return error_set(error, -EPROTO, "%s did not report exactly one case",
				 flow->from->label);
	switch (line->status) {
	case RESULT_COMPLETE:
		if (!is_answer(fleet, line))
			return error_set(error, -EPROTO, "%s ran a different case",
					 flow->from->label);
		if (!is_countable(fleet, line))
			return error_set(
				error, -EOVERFLOW,
				"%s reported more bytes than can be added up: use a shorter -D "
				"for the trials",
				flow->from->label);
		return has_time(line) ? 0
				      : error_set(error, -ETIMEDOUT,
						  "a trial completed no message: use a "
						  "longer -D");
	case RESULT_SKIPPED:
		return error_set(error, -EOPNOTSUPP, "%s", line->error);
	case RESULT_FAILED:
	case RESULT_INTERRUPTED:
		break;
	}
	return error_set(error, -EREMOTEIO, "%s",
			 line->error[0] ? line->error : "the server was interrupted");
}

/* Waits for a message of that type. If the case ends early, "driven" arrives in its place. */
static int await_message(struct fleet *fleet, struct multi_host_flow *flow, const char *type,
			 json_t **message, struct error *error)
{
	const struct parameters *p = &fleet->wanted->parameters;
	unsigned int setup_ms = lane_setup_ms(p, &fleet->wanted->op->shape);
	unsigned int timeout_ms = protocol_drive_ms(p, setup_ms, fleet->plan->wait_ms);
	int code = control_receive(&flow->control, message, timeout_ms, error);

	if (code)
		return code;
	if (protocol_is(*message, type))
		return 0;
	if (protocol_is(*message, "driven")) {
		code = multi_host_take(fleet, flow, *message, error);
		if (!code)
			code = error_set(error, -EPROTO, "%s ended the case early",
					 flow->from->label);
	} else {
		code = protocol_expect(*message, type, flow->from->label, error);
	}
	json_decref(*message);
	return code;
}

static int expect(struct fleet *fleet, struct multi_host_flow *flow, const char *type,
		  struct error *error)
{
	json_t *message;
	int code = await_message(fleet, flow, type, &message, error);

	if (!code)
		json_decref(message);
	return code;
}

/* Called when all flows wait. A connection that broke is noticed by the thread that reads it. */
static void send_go(void *whole)
{
	struct fleet *fleet = whole;
	struct error ignored = {0};

	fleet->went_ns = clock_now_ns();
	for (size_t i = 0; i < fleet->n_flows; i++)
		control_send(&fleet->flows[i].control, protocol_plain("go"), &ignored);
}

/* The trial started between "go" and its answer: the time between them bounds the spread. */
static void note_spread(struct fleet *fleet)
{
	uint64_t spread_ns = clock_now_ns() - fleet->went_ns;

	pthread_mutex_lock(&fleet->lock);
	if (spread_ns > fleet->spread_ns)
		fleet->spread_ns = spread_ns;
	pthread_mutex_unlock(&fleet->lock);
}

static int run_trial(struct fleet *fleet, struct multi_host_flow *flow, struct error *error)
{
	int code = expect(fleet, flow, "steady", error);

	if (!code)
		code = threads_meet(&fleet->threads, send_go, error);
	if (!code)
		code = expect(fleet, flow, "gone", error);
	if (!code)
		note_spread(fleet);
	return code;
}

static int finish_flow(struct fleet *fleet, struct multi_host_flow *flow, struct error *error)
{
	json_t *message;
	int code = await_message(fleet, flow, "driven", &message, error);

	if (code)
		return code;
	code = multi_host_take(fleet, flow, message, error);
	json_decref(message);
	return code;
}

/* Makes the "drive" message. Omits the pattern, which two hosts alone do not have. */
static json_t *order(const struct fleet *fleet, const struct multi_host_flow *flow)
{
	struct parameters parameters = fleet->wanted->parameters;
	unsigned int wait_ms = fleet->plan->wait_ms;

	/* Both servers were reachable before the first case started. */
	if (wait_ms > PROTOCOL_WAIT_MOST_MS)
		wait_ms = PROTOCOL_WAIT_MOST_MS;
	parameters.pattern = PARAMETER_AUTO;
	return protocol_drive(&parameters, flow->to->name, flow->to->port, wait_ms);
}

static int drive_flow(void *whole, unsigned int number, struct error *error)
{
	struct fleet *fleet = whole;
	struct multi_host_flow *flow = &fleet->flows[number];
	int code = open_flow(fleet, flow, error);

	if (!code)
		code = control_send(&flow->control, order(fleet, flow), error);
	for (uint64_t i = 0; i < fleet->wanted->parameters.trials && !code; i++)
		code = run_trial(fleet, flow, error);
	if (!code)
		code = finish_flow(fleet, flow, error);
	close_flow(fleet, flow);
	if (code && code != -EINTR)
		error_wrap(error, "%s to %s", flow->from->label, flow->to->label);
	return code;
}

/* Creates the flows of a case, without connections. */
static int make_flows(struct fleet *fleet, struct error *error)
{
	enum pattern pattern = (enum pattern)fleet->wanted->parameters.pattern;
	size_t count = hosts_flows(pattern, fleet->hosts.count, fleet->pairs);
	struct multi_host_flow *flows = calloc(count, sizeof(*flows));

	if (!flows)
		return error_set_errno(error, -ENOMEM, "cannot store the flows");
	for (size_t i = 0; i < count; i++) {
		flows[i].from = &fleet->hosts.host[fleet->pairs[i].from];
		flows[i].to = &fleet->hosts.host[fleet->pairs[i].to];
	}
	pthread_mutex_lock(&fleet->lock);
	fleet->flows = flows;
	fleet->n_flows = count;
	pthread_mutex_unlock(&fleet->lock);
	return 0;
}

static void drop_flows(struct fleet *fleet)
{
	struct multi_host_flow *flows = fleet->flows;
	size_t count = fleet->n_flows;

	pthread_mutex_lock(&fleet->lock);
	fleet->flows = NULL;
	fleet->n_flows = 0;
	pthread_mutex_unlock(&fleet->lock);
	for (size_t i = 0; i < count; i++)
		result_finish(&flows[i].result);
	free(flows);
}

static int run_flows(struct fleet *fleet, struct result_case *found, struct error *error)
{
	int code = make_flows(fleet, error);

	fleet->spread_ns = 0;
	if (!code)
		code = threads_open(&fleet->threads, (unsigned int)fleet->n_flows, error);
	if (code)
		return code;
	code = threads_all(&fleet->threads, drive_flow, fleet, error);
	threads_close(&fleet->threads);
	if (!code)
		code = multi_host_merge_case(found, fleet->flows, fleet->n_flows, fleet->spread_ns,
					     error);
	for (size_t i = 0; i < fleet->n_flows && !code; i++)
		code = multi_host_merge_ends(fleet->result, &fleet->flows[i], error);
	return code;
}

static bool is_named_before(const struct hosts *hosts, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (!strcmp(hosts->host[i].label, hosts->host[number].label))
			return true;
	return false;
}

/* Sorts the parties into the order in which the hosts were named. */
static void order_parties(struct fleet *fleet)
{
	json_t *ordered = json_array();
	json_t *party;
	size_t number;

	for (size_t i = 0; i < fleet->hosts.count && ordered; i++) {
		if (is_named_before(&fleet->hosts, i))
			continue;
		json_array_foreach(fleet->result->parties, number, party)
		{
			if (!strcmp(json_string_value(json_object_get(party, "name")),
				    fleet->hosts.host[i].label))
				json_array_append(ordered, party);
		}
	}
	if (!ordered)
		return;
	json_decref(fleet->result->parties);
	fleet->result->parties = ordered;
}

static void run_case(struct fleet *fleet, size_t number, struct sweep_view *view,
		     struct error *fault)
{
	struct result_case *found = &fleet->result->cases[number];

	fleet->wanted = &fleet->plan->cases[number];
	view->begins(view, fleet->result, number, plan_estimate_ns(fleet->plan, number));
	if (run_flows(fleet, found, fault))
		result_drop_trials(found);
	drop_flows(fleet);
	order_parties(fleet);
	found->status = case_results_status(fault);
	if (fault->code != -EINTR)
		snprintf(found->error, sizeof(found->error), "%s", fault->text);
	view->ends(view, fleet->result, number);
}

int multi_host_run(struct fleet *fleet, struct sweep_view *view, struct error *error)
{
	struct error fault = {0};

	for (size_t i = 0; i < fleet->plan->n_cases && fault.code != -EINTR; i++) {
		if (fleet->plan->cases[i].skipped[0])
			continue;
		fault = (struct error){0};
		run_case(fleet, i, view, &fault);
	}
	if (fleet->result->warnings)
		advice_loss(fleet->result, fleet->result->warnings);
	/* If no host has reported anything, the error is the whole result. */
	if (fault.code == -EINTR || (fault.code && !fleet->result->server.device[0]))
		error_set(error, fault.code, "%s", fault.text);
	return error->code;
}

/* Starts the servers with one token for all, so that they accept each other too. */
static int launch(struct fleet *fleet, struct error *error)
{
	struct launch_server server = {.device = fleet->plan->device, .drives = true};
	int code = 0;

	fleet->launches = calloc(fleet->hosts.count, sizeof(*fleet->launches));
	if (!fleet->launches)
		return error_set_errno(error, -ENOMEM, "cannot start servers");
	for (size_t i = 0; i < fleet->hosts.count && !code; i++) {
		struct host *host = &fleet->hosts.host[i];

		server.port = host->port;
		server.token = i ? fleet->launches[0].token : NULL;
		code = launch_start(&fleet->launches[i], fleet->plan->launch, host->name, &server,
				    error);
		host->port = fleet->launches[i].port;
	}
	return code ? code : secret_take(&fleet->secret, fleet->launches[0].token, error);
}

static bool drives(const struct fleet *fleet, size_t number)
{
	for (size_t i = 0; i < fleet->plan->n_cases; i++) {
		const struct plan_case *wanted = &fleet->plan->cases[i];
		size_t n_flows;

		if (wanted->skipped[0])
			continue;
		n_flows = hosts_flows((enum pattern)wanted->parameters.pattern, fleet->hosts.count,
				      fleet->pairs);
		for (size_t j = 0; j < n_flows; j++)
			if (fleet->pairs[j].from == number)
				return true;
	}
	return false;
}

/* Checks before the first case that a host is reachable, and that it can drive if it has to. */
static int visit(struct fleet *fleet, size_t number, struct error *error)
{
	const struct host *host = &fleet->hosts.host[number];
	struct error ignored = {0};
	struct control control;
	json_t *welcome = NULL;
	int code = reach(fleet, &control, host, error);

	if (code)
		return code;
	code = greet(fleet, &control, host, &welcome, error);
	if (!code && drives(fleet, number) && !json_is_true(json_object_get(welcome, "drives")))
		code = error_set(
			error, -EOPNOTSUPP,
			"%s does not drive other servers: run 'verbmark serve --drive' there",
			host->label);
	json_decref(welcome);
	control_send(&control, protocol_plain("bye"), &ignored);
	control_close(&control);
	return code;
}

/* Notes the clock of this process, which is not the one that measures. */
static void note_clock(struct result *result)
{
	struct clock clock;

	clock_init(&clock);
	result->clock = clock.kind;
	result->clock_hz = clock.hz;
}

static int prepare(struct fleet *fleet, struct error *error)
{
	const struct plan *plan = fleet->plan;
	int code = case_results_make(plan, fleet->result, error);

	if (!code)
		code = hosts_parse(&fleet->hosts, plan->host,
				   plan->launch ? plan->port : plan_port(plan), error);
	if (!code && plan->secret_file)
		code = secret_read(&fleet->secret, plan->secret_file, error);
	if (!code && plan->launch)
		code = launch(fleet, error);
	for (size_t i = 0; i < fleet->hosts.count && !code; i++)
		code = visit(fleet, i, error);
	note_clock(fleet->result);
	return code;
}

int multi_host_open(struct fleet **fleet, const struct plan *plan, struct result *result,
		    struct error *error)
{
	struct fleet *made = calloc(1, sizeof(*made));
	int code;

	*fleet = NULL;
	if (!made)
		return error_set_errno(error, -ENOMEM, "cannot store the hosts");
	made->plan = plan;
	made->result = result;
	pthread_mutex_init(&made->lock, NULL);
	made->pairs = calloc(HOSTS_FLOWS, sizeof(*made->pairs));
	result->texts = json_array();
	result->parties = json_array();
	code = made->pairs && result->texts && result->parties
		       ? prepare(made, error)
		       : error_set_errno(error, -ENOMEM, "cannot store the hosts");
	if (code)
		multi_host_close(made);
	else
		*fleet = made;
	return code;
}

void multi_host_interrupt(struct fleet *fleet)
{
	pthread_mutex_lock(&fleet->lock);
	fleet->is_interrupted = true;
	for (size_t i = 0; i < fleet->n_flows; i++)
		if (fleet->flows[i].is_open)
			control_fail(&fleet->flows[i].control, -EINTR, "interrupted");
	pthread_mutex_unlock(&fleet->lock);
}

void multi_host_close(struct fleet *fleet)
{
	if (!fleet)
		return;
	for (size_t i = 0; i < fleet->hosts.count && fleet->launches; i++)
		launch_stop(&fleet->launches[i]);
	free(fleet->launches);
	free(fleet->pairs);
	secret_forget(&fleet->secret);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet);
}
