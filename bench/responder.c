/* SPDX-License-Identifier: MIT */
#include "bench/responder.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "bench/cost.h"
#include "bench/inventory.h"
#include "bench/protocol.h"

#define GREETING_MS 5000

/* Sends a reason as that type of message; a client that is gone does not matter. */
static void tell(struct control *control, const char *type, const struct error *why)
{
	struct error ignored = {0};

	control_send(control, protocol_reason(type, why->text), &ignored);
}

static int welcome(struct control *control, struct error *error)
{
	struct device_list devices;
	char host[64] = "";
	int code = device_list_open(&devices, error);

	if (code)
		return code;
	gethostname(host, sizeof(host) - 1);
	code = control_send(control,
			    json_pack("{s:s, s:i, s:s, s:s, s:o}", "type", "welcome", "protocol",
				      PROTOCOL_NUMBER, "version", VERBMARK_VERSION, "host", host,
				      "devices", inventory_encode(&devices)),
			    error);
	device_list_close(&devices);
	return code;
}

static int greet(struct control *control, struct error *error)
{
	json_t *message;
	int code = control_receive(control, &message, GREETING_MS, error);

	if (code)
		return code;
	code = protocol_check_hello(message, error);
	json_decref(message);
	if (!code)
		code = welcome(control, error);
	if (code)
		tell(control, "refused", error);
	return code;
}

/* Listens where the client wants it and tells it so; the client connects. */
static int meet(struct control *control, struct lane *lane, const char *address,
		struct error *error)
{
	struct rdma_context *context = &lane->context;
	int code;

	if (rdma_setup_server(context, 0, address[0] ? address : NULL))
		return lane_failed(lane, error);
	code = control_send(control,
			    json_pack("{s:s, s:s, s:i}", "type", "listening", "address",
				      context->address, "port", (int)context->port),
			    error);
	if (code)
		return code;
	control_guard(control, context);
	if (rdma_wait_for_client(context))
		return lane_failed(lane, error);
	return 0;
}

/* Answers, or is there to be written to and read from, until the client speaks. */
static int respond(struct control *control, struct lane *lane, const struct plan_case *wanted,
		   struct error *error)
{
	const struct loop_run run = {.is_responder = true};
	enum result_kind kind = wanted->op->kind(wanted->cq, wanted->server_cq);
	struct alarm *alarm = lane->completion->alarm;
	struct pollfd waiting = {.fd = alarm->fd, .events = POLLIN};
	int code;

	if (op_is_answered(kind)) {
		code = wanted->op->latency(lane, kind, &run, error);
	} else {
		while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
			continue;
		code = alarm_reason(alarm, error);
	}
	/* That is how a message of the client ends the wait. */
	return code == -ECANCELED ? 0 : code;
}

/* The client has spoken, or is gone: the only thing to say during a case is stop. */
static int finish(struct control *control, const struct lane *lane,
		  const struct result_cost *before, struct error *error)
{
	struct result_cost cost = cost_since(lane, before);
	json_t *message;
	int code = control_receive(control, &message, 0, error);

	if (code)
		return code;
	code = protocol_expect(message, "stop", error);
	json_decref(message);
	if (code)
		return code;
	return control_send(control, protocol_done(&cost), error);
}

static int run_lane(struct control *control, struct lane *lane, const struct plan_case *wanted,
		    const char *address, struct error *error)
{
	struct error reason = {0};
	struct result_cost before;
	int code = meet(control, lane, address, error);

	if (!code)
		code = lane_start(lane, wanted->size, wanted->op->is_read, error);
	if (!code)
		code = control_send(
			control,
			json_pack("{s:s, s:s}", "type", "ready", "device", lane_device(lane)),
			error);
	if (code)
		return code;
	before = cost_now(lane);
	code = respond(control, lane, wanted, &reason);
	if (code)
		return error_set(error, code, "%s", reason.text);
	return finish(control, lane, &before, error);
}

/*
 * A case that fails is told to the client and costs nothing else. Returns an error
 * only when the client itself is gone.
 */
static int run_case(struct control *control, json_t *message, struct error *error)
{
	struct error fault = {0};
	struct plan_case wanted;
	struct lane lane = {0};
	const char *address;
	int code = protocol_expect(message, "case", &fault);

	if (!code)
		code = protocol_read_case(message, &wanted, &address, &fault);
	if (!code) {
		lane_init(&lane, wanted.size, wanted.server_cq);
		code = run_lane(control, &lane, &wanted, address, &fault);
		control_guard(control, NULL);
		rdma_close(&lane.context);
	}
	if (!code)
		return 0;
	return control_send(control, protocol_reason("failed", fault.text), error);
}

int responder_run(struct control *control, struct error *error)
{
	bool is_bye = false;
	int code = greet(control, error);

	while (!code && !is_bye) {
		json_t *message;

		code = control_receive(control, &message, 0, error);
		if (code)
			break;
		is_bye = protocol_is(message, "bye");
		/* A stop here has crossed with a failure of ours. */
		if (!is_bye && !protocol_is(message, "stop"))
			code = run_case(control, message, error);
		json_decref(message);
	}
	/* The server itself ends: what there was to do is not done. */
	if (code == -ECANCELED)
		tell(control, "refused", error);
	return code;
}

void responder_end(struct control *control, const char *reason)
{
	control_fail(control, -ECANCELED, reason);
}
