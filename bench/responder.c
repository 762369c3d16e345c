/* SPDX-License-Identifier: MIT */
#include "bench/responder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/cost.h"
#include "bench/facts.h"
#include "bench/granted.h"
#include "bench/inventory.h"
#include "bench/loop_sink.h"
#include "bench/meet.h"
#include "bench/protocol.h"
#include "bench/witness.h"

#define GREETING_MS 5000

/* A client that is gone does not matter. */
static void refuse(struct control *control, const struct error *why)
{
	struct error ignored = {0};

	control_send(control, protocol_refusal(why->text), &ignored);
}

static int welcome(struct control *control, const char *device, struct error *error)
{
	struct device_list devices;
	char host[64] = "";
	int code = device_list_open(&devices, error);

	gethostname(host, sizeof(host) - 1);
	if (!code)
		code = inventory_keep(&devices, device, error);
	if (!code)
		code = control_send(control,
				    json_pack("{s:s, s:i, s:s, s:s, s:o}", "type", "welcome",
					      "protocol", PROTOCOL_NUMBER, "version",
					      VERBMARK_VERSION, "host", host, "devices",
					      inventory_encode(&devices)),
				    error);
	device_list_close(&devices);
	return code;
}

static int greet(struct control *control, const char *device, const char *token,
		 struct error *error)
{
	json_t *message;
	int code = control_receive(control, &message, GREETING_MS, error);

	if (code)
		return code;
	code = protocol_check_hello(message, token, error);
	json_decref(message);
	if (!code)
		code = welcome(control, device, error);
	if (code)
		refuse(control, error);
	return code;
}

/* What is kept from one trial to the next of the same case. */
struct session {
	struct control *control;
	struct lane lane;
	struct parameters parameters; /* of the lane */
	char device[64];              /* that it is on; empty: there is none */
	struct witness witness;       /* zeroed until the client asks */
	struct windows windows;       /* of its own direction, */
	uint64_t driven_ns;           /* and for how long it was driven; 0: it was not */
	struct chosen chosen;         /* of the lane's first trial, and so of all */
};

static void drop_lane(struct session *session)
{
	if (session->device[0])
		lane_close(&session->lane);
	session->device[0] = '\0';
}

/* A lane for the case: the one that there is, if it was made for the same. */
static int take_lane(struct session *session, const struct protocol_case *wanted,
		     struct error *error)
{
	int code;

	if (!strcmp(session->device, wanted->device) &&
	    !memcmp(&session->parameters, &wanted->parameters, sizeof(session->parameters)))
		return 0;
	drop_lane(session);
	session->chosen = (struct chosen){0};
	session->parameters = wanted->parameters;
	code = lane_open(&session->lane, wanted->device, &session->parameters, &wanted->op->shape,
			 true, error);
	if (!code)
		snprintf(session->device, sizeof(session->device), "%s", wanted->device);
	return code;
}

/* Whether it throws messages back, rather than only receives them or sleeps. */
static bool is_answering(const struct protocol_case *wanted)
{
	const struct parameters *p = &wanted->parameters;

	return p->metric == METRIC_LAT &&
	       op_is_answered(wanted->op->kind((enum rdma_wait_mode)p->cq,
					       (enum rdma_wait_mode)p->server_cq));
}

/* Makes ready, tells the client how to connect, and waits until it has. */
static int meet(struct session *session, const struct protocol_case *wanted, json_t *message,
		struct error *error)
{
	const struct meet_end own = {wanted->address, wanted->port};
	json_t *answer = json_pack("{s:s}", "type", "listening");
	int code = meet_answer(&session->lane, &own, message, answer, error);

	if (code) {
		json_decref(answer);
		return code;
	}
	code = control_send(session->control, answer, error);
	if (code)
		return code;
	control_guard(session->control, session->lane.completion->alarm);
	code = meet_accept(&session->lane, error);
	if (!code)
		code = lane_start(&session->lane, error);
	if (!code && !session->chosen.is_known[CHOSEN_CQ_DEPTH])
		session->chosen = granted_find(
			&session->lane, is_answering(wanted) || wanted->parameters.bidirectional);
	return code;
}

/* The client needs nothing of this program, which may sleep, or have work of its own. */
static int wait_for_word(struct lane *lane, struct error *error)
{
	struct alarm *alarm = lane->completion->alarm;
	struct pollfd waiting = {.fd = alarm->fd, .events = POLLIN};

	while (lane->parameters->think_ns && !alarm_raised(alarm))
		lane_think(lane);
	while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
		continue;
	return alarm_reason(alarm, error);
}

/* Drives its own direction until the client speaks. */
static int drive(struct session *session, const struct protocol_case *wanted, struct error *error)
{
	const struct loop_run run = {
		.messages = UINT64_MAX,
		.until = UINT64_MAX,
		.windows = &session->windows,
		.mult = 1ULL << 32,
	};

	uint64_t start;
	int code;

	windows_init(&session->windows, NS_PER_MS);
	start = clock_now_ns();
	code = wanted->op->bandwidth(&session->lane, &run, error);
	session->driven_ns = clock_now_ns() - start;
	return code;
}

/* What it drove while the client measured; as long ago as the word of it says. */
static double driven(const struct session *session, const struct protocol_stop *stop)
{
	uint64_t now_ns = session->driven_ns;

	if (!now_ns)
		return -1;
	/* It may have begun late. */
	return windows_between(&session->windows,
			       now_ns > stop->from_ns ? now_ns - stop->from_ns : 0,
			       now_ns > stop->until_ns ? now_ns - stop->until_ns : 0);
}

/* Answers, or is there to be written to and read from, until the client speaks. */
static int respond(struct session *session, const struct protocol_case *wanted, struct error *error)
{
	struct lane *lane = &session->lane;
	const struct parameters *p = &wanted->parameters;
	const struct loop_run run = {.is_responder = true};
	int code;

	if (p->bidirectional)
		code = drive(session, wanted, error);
	else if (p->metric == METRIC_BW && wanted->op->is_received)
		code = loop_sink(lane, error);
	else if (is_answering(wanted))
		code = wanted->op->latency(lane, &run, error);
	else
		code = wait_for_word(lane, error);
	/* That is how a message of the client ends the wait. */
	if (code != -ECANCELED)
		return code;
	*error = (struct error){0};
	return 0;
}

/*
 * What is still on its way where messages may be lost, and what is still to be looked at:
 * its time is nobody's cost.
 */
static int count_rest(const struct protocol_case *wanted, struct lane *lane, uint64_t *arrived,
		      struct error *error)
{
	const struct parameters *p = &wanted->parameters;

	if (p->metric != METRIC_BW || !wanted->op->is_received)
		return 0;
	if (!p->verify && (!lane_is_lossy(lane) || p->bidirectional))
		return 0;
	return sink_drain(lane, arrived, error);
}

/* The client has spoken, or is gone: the only thing to say during a case is stop. */
static int finish(const struct session *session, struct protocol_done *done, struct error *error)
{
	struct result_place place = placement_tell(&session->lane.placement);
	struct protocol_stop stop;
	json_t *message;
	int code = control_receive(session->control, &message, 0, error);

	if (code)
		return code;
	code = protocol_expect(message, "stop", "the client", error);
	stop = protocol_read_stop(message);
	json_decref(message);
	if (code)
		return code;
	done->driven = driven(session, &stop);
	message = protocol_done(done);
	protocol_add_place(message, &place);
	protocol_add_chosen(message, &session->chosen);
	return control_send(session->control, message, error);
}

static int run_trial(struct session *session, const struct protocol_case *wanted, json_t *message,
		     struct error *error)
{
	struct lane *lane = &session->lane;
	struct error reason = {0};
	struct result_cost before;
	struct protocol_done done = {0};
	uint64_t start;
	int code = meet(session, wanted, message, error);

	if (!code)
		code = control_send(session->control, protocol_plain("ready"), error);
	/* The client has given it up before there was a connection, and knows why. */
	if (code == -ECANCELED) {
		*error = (struct error){0};
		code = finish(session, &done, error);
		return code ? code : -ECANCELED;
	}
	if (code)
		return code;
	session->driven_ns = 0;
	before = cost_now(lane);
	start = clock_now_ns();
	code = respond(session, wanted, &reason);
	done.cost = cost_since(lane, &before);
	done.elapsed_ns = clock_now_ns() - start;
	done.arrived = done.cost.messages;
	if (!code)
		code = count_rest(wanted, lane, &done.arrived, &reason);
	if (code)
		return error_set(error, code, "%s", reason.text);
	return finish(session, &done, error);
}

/*
 * A case that fails is told to the client and costs nothing else. Returns an error
 * only when the client itself is gone.
 */
static int run_case(struct session *session, json_t *message, struct error *error)
{
	struct protocol_case wanted;
	struct error fault = {0};
	int code = protocol_expect(message, "case", "the client", &fault);

	if (!code)
		code = protocol_read_case(message, &wanted, &fault);
	if (!code)
		code = take_lane(session, &wanted, &fault);
	if (!code) {
		code = run_trial(session, &wanted, message, &fault);
		control_guard(session->control, NULL);
		if (lane_stop(&session->lane, &fault) || code)
			drop_lane(session);
	}
	if (code == -ECANCELED && !fault.code)
		return 0;
	/* An end of the connection, or of the server, is not the case's. */
	if (!code || control_ended(session->control, error))
		return error->code;
	return control_send(session->control, protocol_failure(&fault), error);
}

/* The circumstances of this end, on the device that the client has chosen. */
static int describe(struct session *session, json_t *message, struct error *error)
{
	struct error fault = {0};
	const char *device;
	int port;
	int code;

	/* A name that leads out of its folder is none. */
	if (json_unpack(message, "{s:s, s:i}", "device", &device, "port", &port) || port < 0 ||
	    strchr(device, '/') || device[0] == '.')
		code = error_set(&fault, -EPROTO, "a malformed question for facts");
	else
		code = witness_open(&session->witness, device, (unsigned int)port, &fault);
	if (code)
		return control_send(session->control, protocol_reason("failed", fault.text), error);
	return control_send(session->control,
			    json_pack("{s:s, s:O, s:O}", "type", "description", "facts",
				      session->witness.facts, "noise", session->witness.before),
			    error);
}

/* What the device has counted since the last time, and how noisy it is. */
static int note(struct session *session, struct error *error)
{
	struct error fault = {0};
	json_t *moved;

	if (witness_note(&session->witness, &moved, &fault))
		return control_send(session->control, protocol_reason("failed", fault.text), error);
	return control_send(session->control,
			    json_pack("{s:s, s:o, s:o}", "type", "noted", "counters", moved,
				      "noise", facts_noise("")),
			    error);
}

static int answer(struct session *session, json_t *message, struct error *error)
{
	if (protocol_is(message, "describe")) {
		witness_close(&session->witness);
		return describe(session, message, error);
	}
	if (protocol_is(message, "note"))
		return note(session, error);
	/* A stop here has crossed with a failure of ours. */
	return protocol_is(message, "stop") ? 0 : run_case(session, message, error);
}

int responder_run(struct control *control, const char *device, const char *token, bool *is_known,
		  struct error *error)
{
	struct session session = {.control = control};
	bool is_bye = false;
	int code = greet(control, device, token, error);

	*is_known = !code;
	while (!code && !is_bye) {
		json_t *message;

		code = control_receive(control, &message, 0, error);
		if (code)
			break;
		is_bye = protocol_is(message, "bye");
		if (!is_bye)
			code = answer(&session, message, error);
		json_decref(message);
	}
	drop_lane(&session);
	witness_close(&session.witness);
	/* The server itself ends: what there was to do is not done. */
	if (code == -ECANCELED)
		refuse(control, error);
	return code;
}

void responder_end(struct control *control, const char *reason)
{
	control_fail(control, -ECANCELED, reason);
}
