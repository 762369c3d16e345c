/* SPDX-License-Identifier: MIT */
#include "bench/client/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/client/case_loop.h"
#include "bench/client/case_results.h"
#include "bench/client/cq_overflow.h"
#include "bench/client/trial.h"
#include "bench/control/auth.h"
#include "bench/control/dial.h"
#include "bench/control/protocol.h"
#include "bench/host/advice/advice.h"
#include "bench/host/advice/loss.h"
#include "bench/host/advice/threads.h"
#include "bench/host/device_support.h"
#include "bench/host/facts/facts.h"
#include "bench/host/inventory.h"
#include "bench/host/soft_device.h"
#include "core/base/printable.h"
#include "core/memory/memory.h"

/* Time limit for "noted": the server first destroys the resources of the case. */
#define NOTE_MS 180000

/* Returns whether no case to run uses rdma_cm: then the ends need no addresses. */
static bool is_by_hand(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (!plan->cases[i].skipped[0] && plan->cases[i].parameters.connect != CONNECT_QP)
			return false;
	return true;
}

static int pair_devices(const struct sweep *sweep, const struct plan *plan, json_t *welcome,
			struct result *result, struct error *error)
{
	const struct inventory_wish wish = {
		.device = plan->device,
		.device_port = plan->device_port,
		.server_device = plan->server_device,
		.host = sweep->host,
		.who = sweep->who,
		.is_by_hand = is_by_hand(plan),
	};
	struct device_list remote = {0};
	struct device_list local = {0};
	const char *host = "";
	json_t *devices = NULL;
	int code;

	json_unpack(welcome, "{s:s, s:o}", "host", &host, "devices", &devices);
	printable_copy(result->server.host, sizeof(result->server.host), host);
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
	const struct auth_server server = {sweep->who, sweep->host, sweep->port};
	json_t *message;
	int code = auth_say(&sweep->control, &sweep->secret, &server, &message, error);

	if (!code)
		code = pair_devices(sweep, plan, message, result, error);
	json_decref(message);
	return code;
}

/* Waits for the server's answer to a question outside of cases. */
static int await_answer(struct sweep *sweep, const char *type, json_t **answer,
			unsigned int timeout_ms, struct error *error)
{
	int code = control_await(&sweep->control, answer, timeout_ms, sweep->stop, error);

	if (code)
		return code;
	code = protocol_expect(*answer, type, sweep->who, error);
	if (code)
		json_decref(*answer);
	return code;
}

static int ask(struct sweep *sweep, json_t *question, const char *type, json_t **answer,
	       struct error *error)
{
	int code = control_send(&sweep->control, question, error);

	return code ? code : await_answer(sweep, type, answer, PROTOCOL_ANSWER_MS, error);
}

/* Collects the facts of both hosts, for the devices that were picked. */
static int describe(struct sweep *sweep, struct result *result, struct error *error)
{
	json_t *answer;
	int code =
		snapshot_open(&sweep->snapshot, result->client.device, result->client.port, error);

	if (code)
		return code;
	result->client.facts = json_incref(sweep->snapshot.facts);
	code = ask(sweep, protocol_describe(&result->server), "description", &answer, error);
	if (code)
		return code;
	result->server.facts = json_incref(json_object_get(answer, "facts"));
	sweep->server_before = json_incref(json_object_get(answer, "noise"));
	json_decref(answer);
	fingerprint_hard(result->client.facts, result->client.fingerprint);
	fingerprint_hard(result->server.facts, result->server.fingerprint);
	return 0;
}

static bool can_run(const struct device_support *support, const struct plan_case *wanted,
		    struct error *fault)
{
	const struct limits limits =
		lane_limits(&wanted->parameters, &wanted->op->shape, support->is_server);

	return !device_support_check(support, wanted->op, &wanted->parameters, &limits, fault);
}

/* Checks what only this host knows: drivers, and the size of files. */
static bool has_memory(const struct plan_case *wanted, const char *device, struct error *fault)
{
	return !lane_check_memory(&wanted->parameters, &wanted->op->shape, device, fault);
}

/* Skips cases that a device cannot run. Returns an error if none is left. */
static int check_devices(const struct sweep *sweep, struct plan *plan, struct result *result,
			 struct error *error)
{
	struct device_support client;
	struct device_support server;

	device_support_read(&client, &result->client, false, "the client");
	device_support_read(&server, &result->server, true, sweep->who);
	for (size_t i = 0; i < plan->n_cases; i++) {
		struct plan_case *wanted = &plan->cases[i];
		struct error fault = {0};

		if (wanted->skipped[0])
			continue;
		if (can_run(&client, wanted, &fault) &&
		    has_memory(wanted, result->client.device, &fault))
			can_run(&server, wanted, &fault);
		snprintf(wanted->skipped, sizeof(wanted->skipped), "%s", fault.text);
	}
	plan_drop_maxima(plan);
	for (size_t i = 0; i < plan->n_cases; i++)
		case_results_note_skipped(&plan->cases[i], &result->cases[i]);
	return plan_check(plan, error);
}

static void say_goodbye(struct sweep *sweep)
{
	struct error ignored = {0};

	control_send(&sweep->control, protocol_plain("bye"), &ignored);
}

/* Adds up the counters of a case. With interleaved trials it gets them in several parts. */
static void keep_counters(struct sweep *sweep, struct result_case *found, json_t *client,
			  json_t *server)
{
	json_t *sums[] = {NULL, NULL};

	result_add_counters(&sweep->client_moved, client);
	result_add_counters(&sweep->server_moved, server);
	result_add_counters(&sums[0], json_object_get(found->counters, "client"));
	result_add_counters(&sums[0], client);
	/* The server may have no counters. */
	if (json_object_get(found->counters, "server"))
		result_add_counters(&sums[1], json_object_get(found->counters, "server"));
	if (server)
		result_add_counters(&sums[1], server);
	json_decref(found->counters);
	found->counters = json_pack("{s:o, s:o*}", "client", sums[0], "server", sums[1]);
}

int sweep_note(struct sweep *sweep, struct result_case *found, struct error *error)
{
	struct error ignored = {0};
	json_t *moved = NULL;
	json_t *answer;
	int code = control_send(&sweep->control, protocol_note(false), error);

	if (code)
		return code;
	snapshot_note(&sweep->snapshot, &moved, &ignored);
	code = await_answer(sweep, "noted", &answer, NOTE_MS, error);
	if (!code) {
		if (found && moved)
			keep_counters(sweep, found, moved, json_object_get(answer, "counters"));
		json_decref(answer);
	}
	json_decref(moved);
	return code;
}

/* Asks for the noise at the server, once all cases are over. */
static void note_noise(struct sweep *sweep)
{
	struct error ignored = {0};
	json_t *answer;

	if (ask(sweep, protocol_note(true), "noted", &answer, &ignored))
		return;
	sweep->server_after = json_incref(json_object_get(answer, "noise"));
	json_decref(answer);
}

/* Applies the doctor's rules to both ends and to everything that changed during the run. */
static void advise(struct sweep *sweep, struct result *result)
{
	json_t *after = facts_noise("");
	json_t *findings;
	const struct advice_end client = {.facts = result->client.facts,
					  .before = sweep->snapshot.before,
					  .after = after,
					  .counters = sweep->client_moved};
	const struct advice_end server = {.facts = result->server.facts,
					  .before = sweep->server_before,
					  .after = sweep->server_after,
					  .counters = sweep->server_moved};

	findings = advice_make(&client, &server);
	advice_threads(result, findings);
	advice_loss(result, findings);
	/* Trials may have failed. */
	if (!result->warnings)
		result->warnings = json_array();
	json_array_extend(result->warnings, findings);
	json_decref(findings);
	json_decref(after);
}

/* Finds the address of the server, starting it if the plan says so. */
static int find_server(struct sweep *sweep, const struct plan *plan, struct error *error)
{
	/* With soft0 on one machine, the launched server uses soft0 too. */
	const struct launch_server server = {
		.port = plan->port,
		.device = soft_device_is_soft() ? SOFT_DEVICE_NAME : NULL,
	};
	bool is_here = !plan->host;
	int code = 0;

	sweep->host = is_here ? "127.0.0.1" : plan->host;
	sweep->who = is_here ? "the server" : plan->host;
	sweep->port = plan_port(plan);
	if (plan->secret_file)
		code = secret_read(&sweep->secret, plan->secret_file, error);
	if (!code && (is_here || plan->launch))
		code = launch_start(&sweep->launch, plan->launch, plan->host, &server, error);
	/* A launched server serves only this run and got its token through a pipe. */
	if (sweep->launch.pid && !code) {
		code = secret_take(&sweep->secret, sweep->launch.token, error);
		if (code)
			launch_stop(&sweep->launch);
	}
	if (sweep->launch.port)
		sweep->port = sweep->launch.port;
	return code;
}

/* Closes the connection and drops the answers received over it. */
static void disconnect(struct sweep *sweep)
{
	control_close(&sweep->control);
	snapshot_close(&sweep->snapshot);
	json_decref(sweep->server_before);
	json_decref(sweep->server_after);
	json_decref(sweep->client_moved);
	json_decref(sweep->server_moved);
	sweep->server_before = sweep->server_after = NULL;
	sweep->client_moved = sweep->server_moved = NULL;
}

/* Connects to the server, authenticates, and fills in both ends of the result. */
static int reach(struct sweep *sweep, struct plan *plan, struct result *result, struct error *error)
{
	int fd = dial_until(sweep->host, sweep->port, plan->wait_ms, sweep->stop, error);
	int code = fd < 0 ? fd : control_open(&sweep->control, fd, error);

	if (code == -ECONNREFUSED && !sweep->launch.port)
		return error_append(error, "run 'verbmark serve' there or add --launch 'ssh %%h'");
	if (code)
		return code;
	code = greet(sweep, plan, result, error);
	if (!code)
		code = describe(sweep, result, error);
	if (!code) {
		code = check_devices(sweep, plan, result, error);
		if (code)
			say_goodbye(sweep);
	}
	if (code)
		disconnect(sweep);
	return code;
}

int sweep_open(struct sweep *sweep, struct plan *plan, struct result *result, struct error *error)
{
	int code = device_require(error);

	clock_begin(&sweep->clock);
	if (!code)
		code = case_results_make(plan, result, error);
	if (!code)
		code = find_server(sweep, plan, error);
	if (code)
		return code;
	clock_finish(&sweep->clock);
	result->clock = sweep->clock.kind;
	result->clock_hz = sweep->clock.hz;
	result->clock_resolution_ns = clock_resolution_ns(&sweep->clock);
	result->clock_cost_ns = sweep->clock.cost_ns;
	code = reach(sweep, plan, result, error);
	if (code)
		launch_stop(&sweep->launch);
	return code;
}

int sweep_run(struct sweep *sweep, const struct plan *plan, struct result *result,
	      struct sweep_view *view, struct error *error)
{
	const struct trial_settings settings = {
		.control = &sweep->control,
		.clock = &sweep->clock,
		.result = result,
		.who = sweep->who,
		.stop = sweep->stop,
		.payload = sweep->payload.bytes ? &sweep->payload : NULL,
		.has_samples = sweep->samples.file,
	};
	struct trial trial = {
		.settings = &settings,
		.pacing = cacheline_calloc(1, sizeof(*trial.pacing)),
	};
	const struct case_loop loop = {sweep, &trial, plan, result, view};

	if (trial.pacing)
		case_loop_run(&loop, error);
	else
		error_set_errno(error, -ENOMEM, "cannot store the results");
	sweep->is_lost = trial.is_lost;
	if (!error->code && plan->preset && !strcmp(plan->preset, "tips"))
		cq_overflow_note(&result->client, &result->overflow);
	if (!sweep->is_lost)
		note_noise(sweep);
	memory_close(&trial.spare);
	free(trial.pacing);
	advise(sweep, result);
	result->clock_drift_ppm = clock_drift_ppm(&sweep->clock);
	return error->code;
}

void sweep_close(struct sweep *sweep)
{
	/* A server that was given up must see a broken connection if it recovers, not a goodbye. */
	if (!sweep->is_lost)
		say_goodbye(sweep);
	disconnect(sweep);
	launch_stop(&sweep->launch);
	secret_forget(&sweep->secret);
}
