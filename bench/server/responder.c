/* SPDX-License-Identifier: MIT */
#include "bench/server/responder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/control/auth.h"
#include "bench/control/protocol.h"
#include "bench/host/facts/facts.h"
#include "bench/host/inventory.h"
#include "bench/host/snapshot.h"
#include "bench/lane/connect.h"
#include "bench/lane/effective.h"
#include "bench/lane/threads.h"
#include "bench/plan/default_depths.h"
#include "bench/plan/memory_name.h"
#include "bench/server/worker.h"
#include "core/base/free_memory.h"

/* It does not matter if the client is gone. */
static void refuse(struct control *control, const struct error *why)
{
	struct error ignored = {0};

	control_send(control, protocol_refusal(why->text), &ignored);
}

static int welcome(struct control *control, const struct responder_terms *terms,
		   struct error *error)
{
	struct device_list devices;
	char host[64] = "";
	int code = device_list_open(&devices, error);

	gethostname(host, sizeof(host) - 1);
	if (!code)
		code = inventory_keep(&devices, terms->device, error);
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

static int greet(struct control *control, const struct responder_terms *terms, struct place *place,
		 atomic_bool *is_known, struct error *error)
{
	int code = auth_hear(control, terms->secret, error);

	if (!code)
		code = places_enter(terms->places, place, control, error);
	atomic_store(is_known, !code);
	if (code)
		return code;
	/* Widen before the welcome: the first case may follow at once, and be long. */
	control_widen(control);
	return welcome(control, terms, error);
}

/* State that is kept from one trial of a case to the next. */
struct session {
	struct control *control;
	const struct responder_terms *terms;
	struct place *place;
	const char *offered; /* the only device offered; NULL: all */
	struct quota *quota;
	struct quota_share taken;     /* of the quota, by the lanes and the spare buffer */
	struct threads threads;       /* zeroed: none */
	struct memory spare;          /* buffer of the previous lanes, for reuse */
	struct worker *workers;       /* one for each thread */
	struct parameters parameters; /* of the lanes, which hold the names of its memory */
	char device[64];              /* of the lanes */
	struct snapshot snapshot;     /* zeroed until the client asks for facts */
	struct effective chosen;      /* of the first lane's first trial; the same for all */
	bool has_next;                /* another trial of the case follows this one */
};

/* A task for the threads of a session. */
struct lane_job {
	struct session *session;
	const struct protocol_case *wanted;
	json_t *message;
	json_t *answer;
	unsigned int round; /* number of the round of connections */
};

/* Rejects a device that the welcome did not list. */
static int check_device(const struct session *session, const char *device, unsigned int port,
			struct error *error)
{
	if (!session->offered || inventory_names(session->offered, device, port))
		return 0;
	return error_set(error, -EOPNOTSUPP,
			 "this server offers %s and not %s/%u: omit --server-device, or start the "
			 "server with another --device",
			 session->offered, device, port);
}

static int thread_close(void *whole, unsigned int number, struct error *error)
{
	struct session *session = whole;

	threads_set_lane(&session->threads, number, NULL);
	lane_close(&session->workers[number].lane);
	free(session->workers[number].windows);
	session->workers[number].windows = NULL;
	return 0;
}

static int thread_open(void *whole, unsigned int number, struct error *error)
{
	const struct lane_job *job = whole;
	struct session *session = job->session;
	struct worker *worker = &session->workers[number];
	struct lane *lane = &worker->lane;
	const struct lane_wish wish = {
		.device = job->wanted->device,
		.parameters = &session->parameters,
		.shape = &job->wanted->op->shape,
		.is_server = true,
		.number = number,
		.signal_every =
			default_depths_signal_every(job->wanted->op, &session->parameters, true),
		.spare = number ? NULL : &session->spare,
	};
	int code = lane_open(lane, &wish, error);

	if (code)
		return code;
	threads_set_lane(&session->threads, number, lane);
	if (!worker_counts(worker, job->wanted))
		return 0;
	worker->windows = cacheline_calloc(1, sizeof(*worker->windows));
	return worker->windows ? 0 : free_memory_refused(error, "serve the case");
}

/* Closes the lanes. The first one's buffer stays for the next case, which often can reuse it. */
static void close_lanes(struct session *session)
{
	struct error ignored = {0};

	threads_each(&session->threads, thread_close, session, &ignored);
	threads_close(&session->threads);
	free(session->workers);
	session->workers = NULL;
	memory_name_release(session->parameters.memory);
	memory_name_release(session->parameters.server_memory);
	session->parameters = (struct parameters){0};
	quota_keep(session->quota, &session->taken, session->spare.size);
}

static void drop_lanes(struct session *session)
{
	close_lanes(session);
	memory_close(&session->spare);
	quota_give(session->quota, &session->taken);
}

static int make_lanes(struct session *session, const struct protocol_case *wanted,
		      struct error *error)
{
	unsigned int n = pattern_lanes(&wanted->parameters, true);
	struct lane_job job = {.session = session, .wanted = wanted};
	int code;

	/*
	 * Drop a spare buffer that is larger than the case. A smaller one stays and counts against
	 * the quota.
	 */
	if (session->spare.size > quota_bytes(wanted))
		drop_lanes(session);
	if (quota_take(session->quota, wanted, &session->taken, error))
		return error->code;
	session->chosen = (struct effective){0};
	session->parameters = wanted->parameters;
	memory_name_hold(wanted->parameters.memory);
	memory_name_hold(wanted->parameters.server_memory);
	snprintf(session->device, sizeof(session->device), "%s", wanted->device);
	session->workers = cacheline_calloc(n, sizeof(*session->workers));
	code = session->workers ? threads_open(&session->threads, n, error)
				: free_memory_refused(error, "serve the case");
	if (!code)
		code = threads_each(&session->threads, thread_open, &job, error);
	if (code)
		close_lanes(session);
	return code;
}

/* Makes lanes for the case, or keeps the present ones if they are for the same case. */
static int take_lanes(struct session *session, const struct protocol_case *wanted,
		      struct error *error)
{
	int code;

	if (session->workers && !strcmp(session->device, wanted->device) &&
	    !memcmp(&session->parameters, &wanted->parameters, sizeof(session->parameters)))
		return 0;
	close_lanes(session);
	code = make_lanes(session, wanted, error);
	/* Do not keep a spare buffer that the case did not use, or was not allowed to have. */
	memory_close(&session->spare);
	if (code)
		quota_give(session->quota, &session->taken);
	return code;
}

static int thread_answer(void *whole, unsigned int number, struct error *error)
{
	const struct lane_job *job = whole;
	struct session *session = job->session;
	const struct lane_end own = {job->wanted->address, job->wanted->port,
				     control_pair_key(session->control), session->terms->allowed};

	return lane_answer(&session->workers[number].lane, &own, job->message, job->answer, error);
}

static int thread_accept(void *whole, unsigned int number, struct error *error)
{
	const struct lane_job *job = whole;

	return lane_accept(&job->session->workers[number].lane, job->round, error);
}

/* Accepts connections, in the order in which the client connects. */
static int accept_all(struct session *session, struct error *error)
{
	struct lane_job job = {.session = session};
	unsigned int n_rounds = pattern_rounds(&session->parameters);
	int code = 0;

	for (; job.round < n_rounds && !code; job.round++)
		code = threads_each(&session->threads, thread_accept, &job, error);
	return code ? code : threads_each_lane(&session->threads, lane_start, error);
}

/* Gets ready, and sends the client the connection parameters. */
static int invite(struct session *session, const struct protocol_case *wanted, json_t *message,
		  struct error *error)
{
	json_t *answer = json_pack("{s:s}", "type", "listening");
	struct lane_job job = {session, wanted, message, answer, 0};
	int code = threads_each(&session->threads, thread_answer, &job, error);

	if (!code)
		return control_send(session->control, answer, error);
	json_decref(answer);
	return code;
}

/* Waits until the client has connected. message: its case; NULL: the server already listens. */
static int accept_trial(struct session *session, const struct protocol_case *wanted,
			json_t *message, struct error *error)
{
	struct threads *threads = &session->threads;
	int code = message ? invite(session, wanted, message, error) : 0;

	if (code)
		return code;
	control_guard_all(session->control, threads->alarms, threads->n, false);
	code = accept_all(session, error);
	/* The client's "begin" must not stop the threads. */
	if (!code && wanted->parameters.bidirectional)
		control_guard_all(session->control, threads->alarms, threads->n, true);
	if (!code && !session->chosen.is_known[EFFECTIVE_CQ_DEPTH])
		session->chosen = lane_effective_find(&session->workers->lane,
						      worker_answers(wanted) ||
							      wanted->parameters.bidirectional);
	return code;
}

static double driven(const struct session *session, const struct protocol_stop *stop)
{
	double sum = 0;

	for (unsigned int i = 0; i < session->threads.n; i++) {
		double messages = worker_counted(&session->workers[i], stop);

		if (messages < 0)
			return messages;
		sum += messages;
	}
	return sum;
}

static int thread_respond(void *whole, unsigned int number, struct error *error)
{
	const struct lane_job *job = whole;
	struct worker *worker = &job->session->workers[number];
	int code = worker_respond(worker, job->wanted, error);
	struct error copy = {0};

	/*
	 * Report the failed copy, which explains wrong bytes. Keep the error code: it shows whether
	 * the server is gone.
	 */
	if (memory_copy_error(&worker->lane.endpoint.memory, &copy)) {
		code = code ? code : copy.code;
		*error = copy;
		error->code = code;
	}
	return code;
}

static struct protocol_done gather(const struct session *session)
{
	struct protocol_done all = session->workers->done;

	for (unsigned int i = 1; i < session->threads.n; i++) {
		const struct protocol_done *done = &session->workers[i].done;

		result_add_cost(&all.cost, &done->cost);
		all.arrived += done->arrived;
		if (done->elapsed_ns > all.elapsed_ns)
			all.elapsed_ns = done->elapsed_ns;
	}
	return all;
}

/*
 * Waits for "begin" if both ends send: before the client is ready, the server would run far ahead.
 * Returns -ECANCELED, and the message, if the client sends something else.
 */
static int await_begin(struct session *session, json_t **message, struct error *error)
{
	int code = control_receive(session->control, message, PROTOCOL_ANSWER_MS, error);

	if (code)
		return code;
	if (!protocol_is(*message, "begin"))
		return -ECANCELED;
	json_decref(*message);
	*message = NULL;
	control_guard_all(session->control, session->threads.alarms, session->threads.n, false);
	return 0;
}

/* Adds the messages that arrived at each receiver of a multicast group, which has one thread. */
static void add_receivers(const struct session *session, json_t *message)
{
	const struct lane *lane = &session->workers->lane;
	bool is_group = pattern_is_multicast(&session->parameters);

	for (unsigned int i = 0; i < lane->settings.n_flows && is_group; i++)
		protocol_add_receiver(message, lane->flows[i].arrived);
}

/*
 * Ends a trial. The client has sent a message, which is given or still to be received, or is gone.
 * The only valid message during a case is "stop".
 */
static int finish(struct session *session, json_t *message, struct protocol_done *done,
		  struct error *error)
{
	struct result_place place = threads_place(&session->threads);
	struct protocol_stop stop;
	int code = message ? 0 : control_receive(session->control, &message, 0, error);

	if (code)
		return code;
	code = protocol_expect(message, "stop", "the client", error);
	stop = protocol_read_stop(message);
	json_decref(message);
	if (code)
		return code;
	done->driven = driven(session, &stop);
	/* No next trial after a failed one; and queue pairs of --connect qp need a new message. */
	done->has_next =
		stop.has_next && done->elapsed_ns && session->parameters.connect != CONNECT_QP;
	session->has_next = done->has_next;
	message = protocol_done(done);
	protocol_add_place(message, &place);
	protocol_add_chosen(message, &session->chosen);
	add_receivers(session, message);
	return control_send(session->control, message, error);
}

static int run_trial(struct session *session, const struct protocol_case *wanted, json_t *message,
		     struct error *error)
{
	struct lane_job job = {.session = session, .wanted = wanted};
	struct error reason = {0};
	struct protocol_done done = {0};
	json_t *word = NULL;
	int code;

	session->has_next = false;
	code = accept_trial(session, wanted, message, error);
	if (!code)
		code = control_send(session->control, protocol_plain("ready"), error);
	if (!code && wanted->parameters.bidirectional)
		code = await_begin(session, &word, error);
	/* The client has canceled the trial before its start, and knows why. */
	if (code == -ECANCELED) {
		*error = (struct error){0};
		code = finish(session, word, &done, error);
		return code ? code : -ECANCELED;
	}
	if (code)
		return code;
	code = threads_all(&session->threads, thread_respond, &job, &reason);
	if (code)
		return error_set(error, code, "%s", reason.text);
	done = gather(session);
	return finish(session, NULL, &done, error);
}

/* Runs one trial, and those that follow without a message of their own. Then resets the lanes. */
static int run_trials(struct session *session, const struct protocol_case *wanted, json_t *message,
		      struct error *error)
{
	int code;

	do {
		code = run_trial(session, wanted, message, error);
		control_guard(session->control, NULL);
		if (!code && session->has_next)
			code = threads_each_lane(&session->threads, lane_renew, error);
		message = NULL;
	} while (!code && session->has_next);
	if (threads_each_lane(&session->threads, lane_stop, error) || code)
		drop_lanes(session);
	return code;
}

/*
 * Runs a case. A case that fails is reported to the client; returns an error only if the client
 * itself is gone.
 */
static int run_case(struct session *session, json_t *message, struct error *error)
{
	struct protocol_case wanted = {0};
	struct error fault = {0};
	int code = protocol_expect(message, "case", "the client", &fault);

	if (!code)
		code = protocol_read_case(message, &wanted, &fault);
	if (!code)
		code = check_device(session, wanted.device, wanted.port, &fault);
	if (!code && !session->terms->is_own)
		code = allowed_files_check(session->terms->files,
					   memory_name_choice(wanted.parameters.server_memory),
					   &fault);
	if (!code)
		code = take_lanes(session, &wanted, &fault);
	if (!code)
		code = run_trials(session, &wanted, message, &fault);
	protocol_release_case(&wanted);
	if (code == -ECANCELED && !fault.code)
		return 0;
	/* If the connection or the server ends, that is not the case's failure. */
	if (!code || control_ended(session->control, error))
		return error->code;
	return control_send(session->control, protocol_failure(&fault), error);
}

/* Sends the facts of this host and the device that the client has chosen. */
static int describe(struct session *session, json_t *message, struct error *error)
{
	struct error fault = {0};
	struct protocol_describe asked;
	int code = protocol_read_describe(message, &asked, &fault);

	if (!code)
		code = check_device(session, asked.device, asked.port, &fault);
	if (!code)
		code = snapshot_open(&session->snapshot, asked.device, asked.port, &fault);
	if (code)
		return control_send(session->control, protocol_reason("failed", fault.text), error);
	return control_send(session->control,
			    json_pack("{s:s, s:O, s:O}", "type", "description", "facts",
				      session->snapshot.facts, "noise", session->snapshot.before),
			    error);
}

/* Sends the changes of the device's counters since the last note, and the noise if requested. */
static int note(struct session *session, const json_t *message, struct error *error)
{
	struct error fault = {0};
	json_t *answer;
	json_t *moved;

	if (snapshot_note(&session->snapshot, &moved, &fault))
		return control_send(session->control, protocol_reason("failed", fault.text), error);
	answer = json_pack("{s:s, s:o}", "type", "noted", "counters", moved);
	if (protocol_is_noise_wanted(message))
		json_object_set_new(answer, "noise", facts_noise(""));
	return control_send(session->control, answer, error);
}

static int answer(struct session *session, json_t *message, struct error *error)
{
	struct responder_extension *extension = session->terms->extension;

	if (extension && extension->answer(extension, session->control, message, error))
		return error->code;
	if (protocol_is(message, "describe")) {
		snapshot_close(&session->snapshot);
		return describe(session, message, error);
	}
	if (protocol_is(message, "note")) {
		int code = note(session, message, error);

		/* The case is over; close its lanes now, while the client is busy otherwise. */
		close_lanes(session);
		return code;
	}
	/* A "stop" that arrives here has crossed with a "failed". */
	return protocol_is(message, "stop") ? 0 : run_case(session, message, error);
}

/* Waits for the next message outside of cases, at most for the client's maximum pause. */
static int await_message(struct session *session, json_t **message, struct error *error)
{
	unsigned int pause_ms = session->quota->pause_ms;
	struct error fault = {0};
	int code;

	places_set_idle(session->terms->places, session->place, true);
	code = control_receive(session->control, message, pause_ms, &fault);
	places_set_idle(session->terms->places, session->place, false);
	if (code == -ETIMEDOUT && !control_ended(session->control, error)) {
		error_set(error, -ECANCELED,
			  "this client has been idle for %.3g s: raise 'serve --max-pause' on the "
			  "server",
			  pause_ms / 1e3);
		return error->code;
	}
	return code ? error_set(error, code, "%s", fault.text) : 0;
}

static int serve(struct session *session, struct error *error)
{
	bool is_bye = false;
	int code = 0;

	while (!code && !is_bye) {
		json_t *message;

		code = await_message(session, &message, error);
		if (code)
			break;
		is_bye = protocol_is(message, "bye");
		if (!is_bye)
			code = answer(session, message, error);
		json_decref(message);
	}
	drop_lanes(session);
	snapshot_close(&session->snapshot);
	return code;
}

int responder_run(struct control *control, const struct responder_terms *terms,
		  atomic_bool *is_known, struct error *error)
{
	struct place place = {0};
	struct session session = {.control = control,
				  .terms = terms,
				  .place = &place,
				  .offered = terms->device,
				  .quota = terms->quota};
	int code = greet(control, terms, &place, is_known, error);
	bool is_refused = code;

	if (!code) {
		code = serve(&session, error);
		if (terms->extension)
			terms->extension->leave(terms->extension, control);
		/* The server is stopping, or has ended this client. */
		is_refused = code == -ECANCELED;
	}
	places_leave(terms->places, &place);
	if (is_refused)
		refuse(control, error);
	return code;
}
