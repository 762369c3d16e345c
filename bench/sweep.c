/* SPDX-License-Identifier: MIT */
#include "bench/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cost.h"
#include "bench/dial.h"
#include "bench/inventory.h"
#include "bench/protocol.h"
#include "core/address.h"

/* How long the server may take for each answer; it has nothing to do for the first. */
#define ANSWER_MS   15000
#define GREETING_MS 5000

/* Warm-up is extra: so many messages, and so long, at the least; and at the most. */
#define WARMUP_MESSAGES 100
#define WARMUP_BATCH    10
#define WARMUP_NS       (20 * NS_PER_MS)
#define WARMUP_MAX_NS   (2 * NS_PER_S)

static int pair_devices(const struct plan *plan, json_t *welcome, struct result *result,
			struct error *error)
{
	const struct inventory_wish wish = {
		.device = plan->device,
		.server_device = plan->server_device,
		.host = plan->host,
	};
	struct device_list remote = {0};
	struct device_list local = {0};
	const char *host = "";
	json_t *devices = NULL;
	int code;

	json_unpack(welcome, "{s:s, s:o}", "host", &host, "devices", &devices);
	wire_printable(result->server.host, sizeof(result->server.host), host);
	gethostname(result->client.host, sizeof(result->client.host) - 1);
	code = inventory_decode(&remote, devices, error);
	if (code)
		return code;
	code = device_list_open(&local, error);
	if (!code)
		code = inventory_pair(&local, &remote, &wish, &result->client, &result->server,
				      error);
	device_list_close(&local);
	device_list_close(&remote);
	return code;
}

static int greet(struct sweep *sweep, const struct plan *plan, struct result *result,
		 struct error *error)
{
	struct error ignored = {0};
	json_t *message;
	int code;

	/* One who takes no greeting may have said why. */
	control_send(&sweep->control, protocol_hello(), &ignored);
	code = control_receive(&sweep->control, &message, GREETING_MS, error);
	if (code)
		return error_wrap(error, "%s:%u", plan->host, plan->port);
	code = protocol_expect(message, "welcome", error);
	if (!code)
		code = pair_devices(plan, message, result, error);
	json_decref(message);
	return code;
}

static int make_cases(const struct plan *plan, struct result *result, struct error *error)
{
	result->cases = calloc(plan->n_cases, sizeof(*result->cases));
	if (!result->cases)
		return error_set_errno(error, -ENOMEM, "cannot keep the results");
	result->n_cases = plan->n_cases;
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct plan_case *wanted = &plan->cases[i];
		struct result_case *found = &result->cases[i];

		plan_case_id(wanted, found->id, sizeof(found->id));
		found->op = wanted->op->name;
		found->metric = plan->metric;
		found->cq = plan_mode_name(wanted->cq);
		found->server_cq = plan_mode_name(wanted->server_cq);
		found->size = wanted->size;
		found->kind = wanted->op->kind(wanted->cq, wanted->server_cq);
	}
	return 0;
}

int sweep_open(struct sweep *sweep, const struct plan *plan, struct result *result,
	       struct error *error)
{
	int code = device_require(error);
	int fd;

	if (code)
		return code;
	code = make_cases(plan, result, error);
	if (code)
		return code;
	fd = dial_connect(plan->host, plan->port, plan->wait_ms, error);
	if (fd < 0)
		return fd;
	code = control_open(&sweep->control, fd, error);
	if (code)
		return code;
	clock_init(&sweep->clock);
	result->clock = sweep->clock.kind;
	result->clock_hz = sweep->clock.hz;
	code = greet(sweep, plan, result, error);
	if (code)
		control_close(&sweep->control);
	return code;
}

/* Waits for an answer of that type, during a case. */
static int await(struct sweep *sweep, const char *type, json_t **message, struct error *error)
{
	int code = control_receive(&sweep->control, message, ANSWER_MS, error);

	if (code)
		return code;
	code = protocol_expect(*message, type, error);
	if (code) {
		json_decref(*message);
		*message = NULL;
	}
	return code;
}

/*
 * Several devices can share one address. What is measured must be what the result
 * says that it is.
 */
static int check_devices(const struct lane *lane, const json_t *ready, const struct result *result,
			 struct error *error)
{
	const char *far = json_string_value(json_object_get(ready, "device"));

	if (strcmp(lane_device(lane), result->client.device) != 0)
		return error_set(error, -ENODEV, "address %s leads to device %s, not to %s",
				 result->client.address, lane_device(lane), result->client.device);
	if (far && strcmp(far, result->server.device) != 0)
		return error_set(error, -ENODEV, "the server's address %s leads to device %.40s",
				 result->server.address, far);
	return 0;
}

/* Both ends build what the case needs and connect by RDMA. */
static int meet(struct sweep *sweep, struct lane *lane, const struct plan_case *wanted,
		const struct result *result, struct error *error)
{
	struct rdma_context *context = &lane->context;
	struct sockaddr_storage parsed;
	const char *address;
	json_t *message;
	int port = 0;
	int code =
		control_send(&sweep->control, protocol_case(wanted, result->server.address), error);

	if (!code)
		code = await(sweep, "listening", &message, error);
	if (code)
		return code;
	if (json_unpack(message, "{s:s, s:i}", "address", &address, "port", &port) ||
	    !address_parse(&parsed, address) || port < 1 || port > UINT16_MAX)
		code = error_set(error, -EPROTO, "the server does not say where it listens");
	else if (rdma_setup_client(context, address, (uint16_t)port, result->client.address))
		code = lane_failed(lane, error);
	json_decref(message);
	if (code)
		return code;
	if (rdma_connect_server(context))
		return lane_failed(lane, error);
	code = lane_start(lane, wanted->size, wanted->op->is_read, error);
	if (!code)
		code = await(sweep, "ready", &message, error);
	if (code)
		return code;
	code = check_devices(lane, message, result, error);
	json_decref(message);
	if (code)
		return code;
	/* From here on the server speaks only of a failure. */
	control_guard(&sweep->control, context);
	return 0;
}

static int warm_up(struct lane *lane, const struct plan_case *wanted, struct loop_run run,
		   enum result_kind kind, struct error *error)
{
	uint64_t start = clock_now_ns();
	uint64_t elapsed_ns = 0;
	int code = 0;

	run.messages = WARMUP_BATCH;
	while (!code && elapsed_ns < WARMUP_MAX_NS &&
	       (lane->messages < WARMUP_MESSAGES || elapsed_ns < WARMUP_NS)) {
		code = wanted->op->latency(lane, kind, &run, error);
		elapsed_ns = clock_now_ns() - start;
	}
	return code;
}

static int measure(struct sweep *sweep, struct lane *lane, const struct plan_case *wanted,
		   struct result_case *found, struct error *error)
{
	const struct clock *clock = &sweep->clock;
	struct loop_run run = {
		.messages = wanted->messages,
		.hist = found->latency,
		.mult = found->kind == RESULT_HALF ? clock->mult / 2 : clock->mult,
		.is_counter = clock->is_counter,
	};
	struct result_cost before;
	uint64_t start;
	int code = warm_up(lane, wanted, run, found->kind, error);

	if (code)
		return code;
	found->warmup_messages = lane->messages;
	hist_init(found->latency);
	before = cost_now(lane);
	start = clock_now_ns();
	code = wanted->op->latency(lane, found->kind, &run, error);
	found->duration_ns = clock_now_ns() - start;
	found->client = cost_since(lane, &before);
	return code;
}

/* What was seen here comes of that: the other end has gone, or the user wants to. */
static bool is_cause(int code)
{
	return code == -ECONNRESET || code == -ESHUTDOWN || code == -EINTR;
}

/* Ends the case at the server as well. lost: it cannot be reached any more. */
static int settle(struct sweep *sweep, struct result_case *found, struct error *error, bool *lost)
{
	struct error ignored = {0};
	struct error fault = {0};
	json_t *message;
	int code = 0;

	/* What the server itself has called failed is over there: no answer would come. */
	*lost = error->code == -ESHUTDOWN;
	if (error->code == -EREMOTEIO || *lost)
		return error->code;
	/* One who takes no more may have said why. */
	control_send(&sweep->control, protocol_plain("stop"), &ignored);
	/* What came before the answer has crossed with the stop. */
	while (!code) {
		bool is_end;

		code = control_receive(&sweep->control, &message, ANSWER_MS, &fault);
		if (code)
			break;
		is_end = !protocol_is(message, "ready") && !protocol_is(message, "listening");
		if (is_end)
			code = protocol_read_done(message, &found->server, &fault);
		json_decref(message);
		if (is_end)
			break;
	}
	*lost = code && code != -EREMOTEIO;
	if (!code)
		return 0;
	/* A connection that broke is how a failure of the server looks from here. */
	if (is_cause(code) || error->code == -ECANCELED || error->code == -ECONNRESET)
		error->code = 0;
	return error_set(error, fault.code, "%s", fault.text);
}

static enum result_status status_of(const struct error *error)
{
	if (!error->code)
		return RESULT_COMPLETE;
	/* The user, or the server, has had enough: that is not the case's failure. */
	if (error->code == -EINTR || error->code == -ESHUTDOWN)
		return RESULT_INTERRUPTED;
	return RESULT_FAILED;
}

/* The error, if any, is left in the case as well. */
static int run_case(struct sweep *sweep, const struct plan_case *wanted,
		    const struct result *result, struct result_case *found, struct error *error,
		    bool *lost)
{
	struct lane lane;
	int code;

	found->latency = malloc(sizeof(*found->latency));
	if (!found->latency)
		return error_set_errno(error, -ENOMEM, "cannot keep the results");
	hist_init(found->latency);
	lane_init(&lane, wanted->size, wanted->cq);
	code = meet(sweep, &lane, wanted, result, error);
	if (!code)
		measure(sweep, &lane, wanted, found, error);
	control_guard(&sweep->control, NULL);
	settle(sweep, found, error, lost);
	rdma_close(&lane.context);
	return error->code;
}

static void drop_latency(struct result_case *found)
{
	free(found->latency);
	found->latency = NULL;
}

int sweep_run(struct sweep *sweep, const struct plan *plan, struct result *result,
	      sweep_report *report, void *argument, struct error *error)
{
	bool lost = false;

	for (size_t i = 0; i < plan->n_cases && !lost; i++) {
		struct result_case *found = &result->cases[i];
		struct error fault = {0};

		run_case(sweep, &plan->cases[i], result, found, &fault, &lost);
		/* What a case has that did not end well is no measurement. */
		if (fault.code)
			drop_latency(found);
		found->status = status_of(&fault);
		snprintf(found->error, sizeof(found->error), "%s", fault.text);
		report(argument, result, found);
		if (lost)
			error_set(error, fault.code, "%s", fault.text);
	}
	result->clock_drift_ppm = clock_drift_ppm(&sweep->clock);
	return error->code;
}

void sweep_close(struct sweep *sweep)
{
	struct error ignored = {0};

	control_send(&sweep->control, protocol_plain("bye"), &ignored);
	control_close(&sweep->control);
}
