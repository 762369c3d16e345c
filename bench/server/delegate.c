/* SPDX-License-Identifier: MIT */
#include "bench/server/delegate.h"

#include <errno.h>
#include <stdlib.h>

#include "bench/cli/utc.h"
#include "bench/client/sweep.h"
#include "bench/control/protocol.h"
#include "bench/lane/lane.h"
#include "reports/document/document.h"

/* A "drive" in progress. */
struct drive {
	struct start_barrier barrier;
	struct control *control; /* to the client that requested it */
	unsigned int barrier_ms; /* time limit for the other flows to become ready */
	struct plan plan;
	struct result result;
	struct dial_stop stop;
	struct sweep sweep;
};

/* Guards the alarms from the start, so that nothing is measured for a client that is gone. */
static void barrier_enter(struct start_barrier *barrier, struct alarm *const *alarms, size_t count)
{
	const struct drive *drive = CONTAINER_OF(barrier, struct drive, barrier);

	control_guard_all(drive->control, alarms, count, true);
}

static void barrier_leave(struct start_barrier *barrier)
{
	const struct drive *drive = CONTAINER_OF(barrier, struct drive, barrier);

	control_guard(drive->control, NULL);
}

static int barrier_pass(struct start_barrier *barrier, struct error *error)
{
	const struct drive *drive = CONTAINER_OF(barrier, struct drive, barrier);
	json_t *message;
	int code = control_send(drive->control, protocol_plain("steady"), error);

	if (!code)
		code = control_receive(drive->control, &message, drive->barrier_ms, error);
	if (code)
		return code;
	code = protocol_expect(message, "go", "the client", error);
	json_decref(message);
	return code ? code : control_send(drive->control, protocol_plain("gone"), error);
}

/* Returns whether the connection to the client has ended, or this server is stopping. */
static bool is_over(void *owner)
{
	struct error ignored = {0};

	return control_ended(owner, &ignored);
}

static int measure(struct drive *drive, struct error *error)
{
	int code;

	drive->stop = (struct dial_stop){is_over, drive->control};
	drive->sweep.stop = &drive->stop;
	code = sweep_open(&drive->sweep, &drive->plan, &drive->result, error);
	if (code)
		return code;
	utc_stamp(drive->result.started);
	sweep_run(&drive->sweep, &drive->plan, &drive->result, NULL, error);
	utc_stamp(drive->result.finished);
	sweep_close(&drive->sweep);
	drive->result.status = result_status_of_cases(&drive->result);
	/* The outcome is in the case's status; a failed case is no failure here. */
	*error = (struct error){0};
	return 0;
}

static int run_drive(struct drive *drive, const struct responder_terms *terms,
		     const struct protocol_drive *wanted, struct error *error)
{
	unsigned int setup_ms = lane_setup_ms(&wanted->parameters, &wanted->op->shape);
	int code;

	drive->result = (struct result){.version = VERBMARK_VERSION, .command = json_pack("[]")};
	code = plan_open_case(&drive->plan, &wanted->parameters, wanted->host, wanted->port, error);
	drive->plan.wait_ms = wanted->wait_ms;
	drive->barrier_ms = protocol_drive_ms(&wanted->parameters, setup_ms, wanted->wait_ms);
	drive->plan.device = terms->device;
	drive->result.plan = json_incref(drive->plan.made);
	drive->sweep.secret = *terms->secret;
	drive->sweep.allowed = terms->allowed;
	drive->sweep.barrier = &drive->barrier;
	return code ? code : measure(drive, error);
}

/* Checks a "drive" message against the quota, as the case's client, and runs it. */
static int delegate_take(struct drive *drive, json_t *message, const struct responder_terms *terms,
			 struct error *error)
{
	struct protocol_drive wanted;
	struct protocol_case as_client;
	struct quota_share taken = {0};
	int code;

	if (!terms->drives)
		return error_set(error, -EOPNOTSUPP,
				 "this server does not drive others: start it as 'verbmark serve "
				 "--drive'");
	code = protocol_read_drive(message, &wanted, error);
	if (code)
		return code;
	as_client = (struct protocol_case){.op = wanted.op, .parameters = wanted.parameters};
	code = quota_take(terms->quota, &as_client, false, &taken, error);
	if (!code)
		code = run_drive(drive, terms, &wanted, error);
	quota_give(terms->quota, &taken);
	return code;
}

/* Drops details, possibly long, that the client does not need to merge the flows. */
static void drop_details(struct result_case *line)
{
	if (!line->windows)
		return;
	shares_close(&line->shares);
	free(line->latency);
	free(line->warmup);
	line->latency = line->warmup = NULL;
	line->has_figures = false;
}

static int report(struct drive *drive, struct error *error)
{
	struct error fault = {0};
	int code;

	for (size_t i = 0; i < drive->result.n_cases; i++)
		drop_details(&drive->result.cases[i]);
	code = control_send(drive->control,
			    json_pack("{s:s, s:o}", "type", "driven", "document",
				      document_make(&drive->result)),
			    &fault);
	if (code == -EMSGSIZE)
		return control_send(drive->control, protocol_failure(&fault), error);
	return code ? error_set(error, code, "%s", fault.text) : 0;
}

int delegate_run(struct control *control, json_t *message, const struct responder_terms *terms,
		 struct error *error)
{
	struct drive drive = {
		.barrier = {.enter = barrier_enter, .leave = barrier_leave, .pass = barrier_pass},
		.control = control,
	};
	struct error fault = {0};
	int code = delegate_take(&drive, message, terms, &fault);

	if (control_ended(control, error))
		code = error->code;
	else if (code)
		code = control_send(control, protocol_failure(&fault), error);
	else
		code = report(&drive, error);
	plan_close(&drive.plan);
	result_finish(&drive.result);
	secret_forget(&drive.sweep.secret);
	return code;
}
