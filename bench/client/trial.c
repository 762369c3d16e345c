/* SPDX-License-Identifier: MIT */
#include "bench/client/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "bench/client/measure.h"
#include "bench/client/merge_threads.h"
#include "bench/control/protocol.h"
#include "bench/lane/connect.h"
#include "bench/lane/effective.h"
#include "bench/plan/default_depths.h"
#include "core/base/free_memory.h"

static int receive(struct trial *trial, json_t **message, struct error *error)
{
	const struct trial_settings *settings = trial->settings;
	unsigned int timeout_ms = settings->answer_ms ? settings->answer_ms : PROTOCOL_ANSWER_MS;

	/* The server has as much memory to touch, and to register, and as many queue pairs. */
	if (trial->wanted)
		timeout_ms += lane_setup_ms(&trial->wanted->parameters, &trial->wanted->op->shape);
	return control_await(settings->control, message, timeout_ms, settings->stop, error);
}

/* Waits for an answer of that type, during a case. */
static int await(struct trial *trial, const char *type, json_t **message, struct error *error)
{
	int code = receive(trial, message, error);

	if (code)
		return code;
	code = protocol_expect(*message, type, trial->settings->who, error);
	if (code) {
		json_decref(*message);
		*message = NULL;
	}
	return code;
}

static struct lane_end own_end(const struct trial_settings *settings)
{
	return (struct lane_end){settings->result->client.address, settings->result->client.port,
				 control_pair_key(settings->control), settings->allowed};
}

/* The case's message, to which each thread adds its queue pairs. */
struct offer {
	const struct trial *trial;
	json_t *message;
};

static int thread_offer(void *whole, unsigned int number, struct error *error)
{
	const struct offer *offer = whole;
	const struct lane_end own = own_end(offer->trial->settings);

	return lane_offer(&offer->trial->lanes[number].lane, &own, offer->message, error);
}

static int thread_connect(void *whole, unsigned int number, struct error *error)
{
	const struct trial *trial = whole;
	const struct lane_end own = own_end(trial->settings);
	struct lane *lane = &trial->lanes[number].lane;
	int code = lane_connect(lane, &own, trial->listening, error);

	return code ? code : lane_start(lane, error);
}

/* Makes the case's message. Until it is sent, the server does nothing. */
static int describe(struct trial *trial, json_t **message, struct error *error)
{
	struct offer offer = {
		trial, protocol_case(&trial->wanted->parameters, &trial->settings->result->server)};
	int code = offer.message ? threads_each(&trial->threads, thread_offer, &offer, error)
				 : error_set_errno(error, -ENOMEM, "cannot describe the case");

	if (code)
		json_decref(offer.message);
	*message = offer.message;
	return code;
}

/* Asks the server to make ready. Takes over what describe made. */
static int ask(struct trial *trial, json_t *message, struct error *error)
{
	int code = control_send(trial->settings->control, message, error);

	trial->is_asked = !code;
	return code;
}

void trial_announce(struct trial *trial, const struct plan_case *wanted)
{
	struct error ignored = {0};

	/* Queue pairs by hand are part of the message. */
	if (wanted->parameters.connect != CONNECT_QP && !wanted->parameters.needs)
		ask(trial, protocol_case(&wanted->parameters, &trial->settings->result->server),
		    &ignored);
}

/* How to connect. */
static int hear(struct trial *trial, struct error *error)
{
	trial->is_asked = false;
	json_decref(trial->listening);
	trial->listening = NULL;
	return await(trial, "listening", &trial->listening, error);
}

/* Builds what the case needs at both ends, and connects them. message: NULL if it was sent. */
static int connect_trial(struct trial *trial, json_t *message, struct error *error)
{
	struct control *control = trial->settings->control;
	struct trial_outcome *outcome = &trial->outcome;
	struct threads *threads = &trial->threads;
	int code = 0;

	outcome->from_ns = outcome->until_ns = 0;
	trial->is_awaited = false;
	if (message)
		code = ask(trial, message, error);
	if (!code && trial->is_asked)
		code = hear(trial, error);
	if (code)
		return code;
	control_guard_all(control, threads->alarms, threads->n, true);
	code = threads_each(threads, thread_connect, trial, error);
	/* In every trial the same. */
	if (!code && !outcome->client_chosen.is_known[EFFECTIVE_CQ_DEPTH])
		outcome->client_chosen = lane_effective_find(&trial->lanes->lane, true);
	if (!code)
		code = await(trial, "ready", &message, error);
	if (code)
		return code;
	json_decref(message);
	/* From here on the server speaks only of a failure. */
	control_guard_all(control, threads->alarms, threads->n, false);
	/* It has messages of its own for this end, which is ready for them only now. */
	if (trial->wanted->parameters.bidirectional)
		code = control_send(control, protocol_plain("begin"), error);
	return code;
}

/* Returns whether the server reported this failure, so that its part of the case is over. */
static bool is_reported(int code)
{
	return code == -EREMOTEIO || code == PROTOCOL_UNSUPPORTED;
}

static int read_done(struct trial *trial, json_t *message, struct result_trial *found,
		     struct error *error)
{
	struct trial_outcome *outcome = &trial->outcome;
	struct protocol_done done;
	int code = protocol_read_done(message, trial->settings->who, &done, error);

	if (code)
		return code;
	found->server = done.cost;
	outcome->driven = done.driven;
	outcome->arrived = done.arrived;
	trial->is_awaited = done.has_next;
	outcome->server_place = protocol_read_place(message);
	outcome->server_chosen = protocol_read_chosen(message);
	return 0;
}

static json_t *say_stop(const struct trial *trial, bool has_failed)
{
	const struct trial_outcome *outcome = &trial->outcome;
	uint64_t now_ns = clock_now_ns();
	const struct protocol_stop stop = {now_ns - outcome->from_ns, now_ns - outcome->until_ns,
					   trial->has_next && !has_failed};

	return outcome->until_ns ? protocol_stop(&stop) : protocol_plain("stop");
}

/* Ends the case at the server as well. */
static int settle(struct trial *trial, struct result_trial *found, struct error *error)
{
	struct error ignored = {0};
	struct error fault = {0};
	json_t *message;
	int code = 0;

	/* A failure that the server reported has ended the case there: no answer would come. */
	trial->is_lost = error->code == -ESHUTDOWN;
	if (is_reported(error->code) || trial->is_lost)
		return error->code;
	/* A server that no longer reads may have sent the reason. */
	control_send(trial->settings->control, say_stop(trial, error->code != 0), &ignored);
	/* Either of two messages may have crossed with the stop, each once. */
	for (int crossed = 0; !code; crossed++) {
		bool is_end;

		code = receive(trial, &message, &fault);
		if (code)
			break;
		is_end = crossed == 2 ||
			 (!protocol_is(message, "ready") && !protocol_is(message, "listening"));
		if (is_end)
			code = read_done(trial, message, found, &fault);
		json_decref(message);
		if (is_end)
			break;
	}
	trial->is_lost = code && !is_reported(code);
	if (!code)
		return 0;
	/* A connection that broke is how a failure of the server looks from here. */
	if (measure_is_cause(code) || error->code == -ECANCELED || error->code == -ECONNRESET ||
	    error->code == -ECONNREFUSED)
		error->code = 0;
	return error_set(error, fault.code, "%s", fault.text);
}

/* Whether each message of a stream is one that the server's program sees. */
static bool is_each_received(const struct operation *op)
{
	return op->is_received && !op->shape.rings;
}

/* Whether the server's program has its share of each message. */
static bool is_shared(const struct plan_case *wanted)
{
	if (wanted->parameters.bidirectional)
		return true;
	return wanted->parameters.metric != METRIC_LAT
		       ? is_each_received(wanted->op)
		       : operation_is_answered(wanted->op, wanted->kind);
}

/* The server's windows are of 1 ms and more: of less time the share of all says more. */
#define COUNTED_LEAST_NS (20 * NS_PER_MS)

/*
 * Returns the messages of the measurement that arrived, as the server counted them meanwhile; or
 * else their share by what was lost of all, with the warm-up.
 */
static uint64_t arrived_of(const struct trial_outcome *outcome, const struct result_trial *found)
{
	double messages = (double)found->messages;
	double share = 1 - (double)found->lost / (double)found->sent;

	if (outcome->driven < 0 || outcome->until_ns - outcome->from_ns < COUNTED_LEAST_NS)
		return (uint64_t)fmax(1, messages * share);
	return (uint64_t)fmin(messages, outcome->driven);
}

/* Bandwidth is only messages that arrived, where the server counts them. */
static int count_arrived(struct trial *trial, struct result_trial *found, struct error *error)
{
	struct trial_outcome *outcome = &trial->outcome;
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (!trial->wanted->op->is_received)
		return 0;
	found->sent = merge_threads_posted(trial);
	found->lost = found->sent > outcome->arrived ? found->sent - outcome->arrived : 0;
	if (found->lost == found->sent)
		return error_set(error, -ETIMEDOUT,
				 "none of %" PRIu64 " messages has arrived: on RC they would be "
				 "sent again",
				 found->sent);
	if (found->lost)
		found->messages = arrived_of(outcome, found);
	if (!found->messages)
		return error_set(error, -ETIMEDOUT,
				 "none of the messages has arrived while it was measured, of all "
				 "%" PRIu64 " that were sent %" PRIu64 ": on RC they would be sent "
				 "again",
				 found->sent, outcome->arrived);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)trial->wanted->parameters.size;
	/* The windows and queue pairs that lost messages are not known. */
	if (found->lost) {
		rate_windows_forget(trial->lanes->windows, found->messages);
		shares_close(&outcome->shares);
	}
	return 0;
}

/* Returns the rate of the other direction over the same time, as this end saw it if it did. */
static double far_rate(const struct trial *trial)
{
	const struct trial_outcome *outcome = &trial->outcome;

	if (is_each_received(trial->wanted->op))
		return merge_threads_received_per_s(trial);
	/* From the first moment to the last one of any thread. */
	return outcome->driven * (double)NS_PER_S / (double)(outcome->until_ns - outcome->from_ns);
}

/* Adds the figures that need both ends. */
static int compare_notes(struct trial *trial, struct result_trial *found, struct error *error)
{
	const struct plan_case *wanted = trial->wanted;
	const struct parameters *p = &wanted->parameters;

	/* A server that takes no part has its cost for the client's messages. */
	if (!is_shared(wanted))
		found->server.messages = found->warmup.messages + found->messages;
	/* While the client waited at the barrier, the server polled without messages. */
	else if (trial->settings->barrier && p->server_cq == CQ_POLL)
		found->server = (struct result_cost){0};
	found->has_far =
		p->bidirectional && (is_each_received(wanted->op) || trial->outcome.driven >= 0);
	if (found->has_far)
		found->far_messages_per_s = far_rate(trial);
	if (!lane_is_lossy(&trial->lanes->lane))
		return 0;
	if (p->metric == METRIC_BW)
		return count_arrived(trial, found, error);
	found->lost = merge_threads_lost(trial);
	found->sent = found->warmup.messages + found->messages + found->lost;
	if (p->metric == METRIC_LAT && !found->messages)
		return error_set(error, -ETIMEDOUT,
				 "none of the messages was answered while it was measured: on RC "
				 "they would be sent again");
	return 0;
}

static int thread_open(void *whole, unsigned int number, struct error *error)
{
	struct trial *trial = whole;
	const struct plan_case *wanted = trial->wanted;
	struct trial_lane *own = &trial->lanes[number];
	const struct lane_wish wish = {
		.device = trial->settings->result->client.device,
		.parameters = &wanted->parameters,
		.shape = &wanted->op->shape,
		.number = number,
		.signal_every = default_depths_signal_every(wanted->op, &wanted->parameters, false),
		.spare = number ? NULL : &trial->spare,
	};
	int code = lane_open(&own->lane, &wish, error);

	if (code)
		return code;
	threads_set_lane(&trial->threads, number, &own->lane);
	return merge_threads_open(own, error);
}

static int thread_close(void *whole, unsigned int number, struct error *error)
{
	struct trial *trial = whole;

	threads_set_lane(&trial->threads, number, NULL);
	lane_close(&trial->lanes[number].lane);
	merge_threads_close(&trial->lanes[number]);
	return 0;
}

int trial_open(struct trial *trial, const struct plan_case *wanted, struct error *error)
{
	struct start_barrier *barrier = trial->settings->barrier;
	unsigned int n = pattern_lanes(&wanted->parameters, false);
	int code;

	trial->wanted = wanted;
	trial->has_next = trial->is_awaited = false;
	trial->outcome =
		(struct trial_outcome){.client_place.numa_node = -1, .server_place.numa_node = -1};
	trial->lanes = cacheline_calloc(n, sizeof(*trial->lanes));
	if (!trial->lanes)
		return free_memory_refused(error, "make threads");
	code = threads_open(&trial->threads, n, error);
	if (!code)
		code = threads_each(&trial->threads, thread_open, trial, error);
	if (!code)
		trial->outcome.client_place = threads_place(&trial->threads);
	if (!code && barrier)
		barrier->enter(barrier, trial->threads.alarms, trial->threads.n);
	return code;
}

/* Ends the case that the server waits for. */
static void call_off(struct trial *trial)
{
	struct error why = {.code = -ECANCELED};
	struct result_trial unused;

	trial->is_asked = trial->is_awaited = false;
	trial->outcome.from_ns = trial->outcome.until_ns = 0;
	settle(trial, &unused, &why);
}

void trial_close(struct trial *trial)
{
	struct start_barrier *barrier = trial->settings->barrier;
	struct error ignored = {0};

	if (trial->is_asked || trial->is_awaited)
		call_off(trial);
	json_decref(trial->listening);
	trial->listening = NULL;
	if (barrier)
		barrier->leave(barrier);
	threads_each(&trial->threads, thread_close, trial, &ignored);
	threads_close(&trial->threads);
	shares_close(&trial->outcome.shares);
	free(trial->lanes);
	trial->lanes = NULL;
	trial->wanted = NULL;
}

int trial_run(struct trial *trial, struct result_trial *found, struct error *error)
{
	json_t *message = NULL;
	int code;

	*found = (struct result_trial){0};
	if (!trial->is_asked && !trial->is_awaited && describe(trial, &message, error))
		return error->code;
	code = connect_trial(trial, message, error);
	if (!code)
		measure_all(trial, found, error);
	control_guard(trial->settings->control, NULL);
	settle(trial, found, error);
	code = error->code;
	if (!code)
		code = compare_notes(trial, found, error);
	return code ? code : threads_each_lane(&trial->threads, lane_stop, error);
}

int trial_probe(struct trial *trial, struct error *seen, struct error *error)
{
	struct control *control = trial->settings->control;
	struct result_trial unused;
	struct error fault = {0};
	json_t *message;
	int code;

	if (describe(trial, &message, error))
		return error->code;
	code = connect_trial(trial, message, error);
	/* The server may find its own fault first: here the completion is to tell. */
	if (!code)
		control_guard_end(control, &trial->lanes->lane.endpoint.alarm);
	if (!code)
		measure_one(trial, seen);
	control_guard(control, NULL);
	settle(trial, &unused, code ? error : &fault);
	if (!code && trial->is_lost)
		code = error_set(error, fault.code, "%s", fault.text);
	return code;
}
