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

	/* The server registers the same amount of memory and creates the same queue pairs. */
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
	return (struct lane_end){
		.address = settings->result->client.address,
		.port = settings->result->client.port,
		.key = control_pair_key(settings->control),
	};
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

/* Builds the case's message, including the threads' queue pairs. Nothing is sent yet. */
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

/* Sends the case to the server. Consumes `message`. */
static int send_case(struct trial *trial, json_t *message, struct error *error)
{
	int code = control_send(trial->settings->control, message, error);

	trial->is_asked = !code;
	return code;
}

void trial_announce(struct trial *trial, const struct plan_case *wanted)
{
	struct error ignored = {0};

	/* With --connect qp the message contains queue pairs, which do not exist yet. */
	if (wanted->parameters.connect != CONNECT_QP && !wanted->parameters.needs)
		send_case(trial,
			  protocol_case(&wanted->parameters, &trial->settings->result->server),
			  &ignored);
}

/* Waits for the server's connection parameters. */
static int await_listening(struct trial *trial, struct error *error)
{
	trial->is_asked = false;
	json_decref(trial->listening);
	trial->listening = NULL;
	return await(trial, "listening", &trial->listening, error);
}

/* Creates and connects the case's resources at both ends. message: NULL if already sent. */
static int connect_trial(struct trial *trial, json_t *message, struct error *error)
{
	struct control *control = trial->settings->control;
	struct trial_outcome *outcome = &trial->outcome;
	struct threads *threads = &trial->threads;
	int code = 0;

	outcome->from_ns = outcome->until_ns = 0;
	trial->is_awaited = false;
	if (message)
		code = send_case(trial, message, error);
	if (!code && trial->is_asked)
		code = await_listening(trial, error);
	if (code)
		return code;
	control_guard_all(control, threads->alarms, threads->n, true);
	code = threads_each(threads, thread_connect, trial, error);
	/* These are the same in every trial. */
	if (!code && !outcome->client_chosen.is_known[EFFECTIVE_CQ_DEPTH])
		outcome->client_chosen = lane_effective_find(&trial->lanes->lane, true);
	if (!code)
		code = await(trial, "ready", &message, error);
	if (code)
		return code;
	json_decref(message);
	/* From here on the server sends a message only if it fails. */
	control_guard_all(control, threads->alarms, threads->n, false);
	/* The server sends messages too, and the client is ready for them only now. */
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
	if (pattern_is_multicast(&trial->wanted->parameters))
		return protocol_read_receivers(message, trial->settings->who, &outcome->receivers,
					       pattern_receivers(&trial->wanted->parameters),
					       error);
	return 0;
}

static json_t *stop_message(const struct trial *trial, bool has_failed)
{
	const struct trial_outcome *outcome = &trial->outcome;
	uint64_t now_ns = clock_now_ns();
	const struct protocol_stop stop = {now_ns - outcome->from_ns, now_ns - outcome->until_ns,
					   trial->has_next && !has_failed};

	return outcome->until_ns ? protocol_stop(&stop) : protocol_plain("stop");
}

/* Ends the case at the server and reads its results. */
static int settle(struct trial *trial, struct result_trial *found, struct error *error)
{
	struct error ignored = {0};
	struct error fault = {0};
	json_t *message;
	int code = 0;

	/* If the server reported a failure, it has ended the case and sends no further answer. */
	trial->is_lost = error->code == -ESHUTDOWN;
	if (is_reported(error->code) || trial->is_lost)
		return error->code;
	/* Even if the server no longer reads, it may have sent the reason. */
	control_send(trial->settings->control, stop_message(trial, error->code != 0), &ignored);
	/* "ready" and "listening" may each cross with the stop. */
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
	/* A failure of the server first shows as a broken connection; its reason is more useful. */
	if (measure_is_cause(code) || error->code == -ECANCELED || error->code == -ECONNRESET ||
	    error->code == -ECONNREFUSED)
		error->code = 0;
	return error_set(error, fault.code, "%s", fault.text);
}

/* Returns whether the server's CPU handles every message of a stream. */
static bool is_each_received(const struct operation *op)
{
	return op->is_received && !op->shape.rings;
}

/* Returns whether the server's CPU takes part in every message. */
static bool is_shared(const struct plan_case *wanted)
{
	if (wanted->parameters.bidirectional)
		return true;
	return wanted->parameters.metric != METRIC_LAT
		       ? is_each_received(wanted->op)
		       : operation_is_answered(wanted->op, wanted->kind);
}

#define NO_RETRANSMISSION \
	"UC and UD do not retransmit; use -c RC, a smaller size, or a larger --rx-depth"

/* The server counts in windows of 1 ms or more. Below this, the overall share is more accurate. */
#define COUNTED_LEAST_NS (20 * NS_PER_MS)

/*
 * Returns the measured messages that arrived, as the server counted them. Without a usable count,
 * applies the share of all messages, including the warm-up, that arrived.
 */
static uint64_t arrived_of(const struct trial_outcome *outcome, const struct result_trial *found)
{
	double messages = (double)found->messages;
	double share = 1 - (double)found->lost / (double)found->sent;

	if (outcome->driven < 0 || outcome->until_ns - outcome->from_ns < COUNTED_LEAST_NS)
		return (uint64_t)fmax(1, messages * share);
	return (uint64_t)fmin(messages, outcome->driven);
}

/* Returns what helps if no message arrived during the measurement. */
static const char *hint_of(const struct receivers *receivers)
{
	/* Nothing makes the sender of a multicast group wait. */
	if (receivers->count > 1)
		return "the receivers are too slow; use a larger --rx-depth, a larger --size, or "
		       "fewer receivers (-q)";
	if (receivers->count)
		return "the receiver is too slow; use a larger --rx-depth or a larger --size";
	return NO_RETRANSMISSION;
}

/* Bandwidth includes only messages that arrived, where the server counts them. */
static int count_arrived(struct trial *trial, struct result_trial *found, struct error *error)
{
	struct trial_outcome *outcome = &trial->outcome;
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (!trial->wanted->op->is_received)
		return 0;
	found->sent = merge_threads_posted(trial);
	found->lost = found->sent > outcome->arrived ? found->sent - outcome->arrived : 0;
	for (size_t i = 0; i < outcome->receivers.count; i++) {
		struct receiver *receiver = &outcome->receivers.receiver[i];

		/* A network may duplicate a message. */
		if (receiver->arrived > found->sent)
			receiver->arrived = found->sent;
		receiver->lost = found->sent - receiver->arrived;
	}
	if (found->lost == found->sent && outcome->receivers.count)
		return error_set(error, -ETIMEDOUT,
				 "all %" PRIu64
				 " messages were lost: check that switches forward the "
				 "group; IGMP snooping needs a querier",
				 found->sent);
	if (found->lost == found->sent)
		return error_set(error, -ETIMEDOUT,
				 "all %" PRIu64 " messages were lost: " NO_RETRANSMISSION,
				 found->sent);
	if (found->lost)
		found->messages = arrived_of(outcome, found);
	if (!found->messages)
		return error_set(
			error, -ETIMEDOUT,
			"no message arrived during the measurement (sent in total: %" PRIu64
			", arrived: %" PRIu64 "): %s",
			found->sent, outcome->arrived, hint_of(&outcome->receivers));
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)trial->wanted->parameters.size;
	/* Which windows and queue pairs lost messages is unknown. */
	if (found->lost) {
		rate_windows_forget(trial->lanes->windows, found->messages);
		shares_close(&outcome->shares);
	}
	return 0;
}

/* Returns the rate from server to client: the client's count if it has one, else the server's. */
static double far_rate(const struct trial *trial)
{
	const struct trial_outcome *outcome = &trial->outcome;

	if (is_each_received(trial->wanted->op))
		return merge_threads_received_per_s(trial);
	/* The interval runs from the first thread's start to the last thread's end. */
	return outcome->driven * (double)NS_PER_S / (double)(outcome->until_ns - outcome->from_ns);
}

/* Adds the figures that combine both ends. */
static int add_combined_figures(struct trial *trial, struct result_trial *found,
				struct error *error)
{
	const struct plan_case *wanted = trial->wanted;
	const struct parameters *p = &wanted->parameters;

	/* If the server takes no part, its cost is divided by the client's messages. */
	if (!is_shared(wanted))
		found->server.messages = found->warmup.messages + found->messages;
	found->has_far =
		p->bidirectional && (is_each_received(wanted->op) || trial->outcome.driven >= 0);
	if (found->has_far)
		found->far_messages_per_s = far_rate(trial);
	if (!lane_is_lossy(&trial->lanes->lane) && p->metric == METRIC_BW && !found->messages)
		return error_set(error, -ENODATA,
				 "no message completed during the measurement; use a longer -D");
	if (!lane_is_lossy(&trial->lanes->lane))
		return 0;
	if (p->metric == METRIC_BW)
		return count_arrived(trial, found, error);
	found->lost = merge_threads_lost(trial);
	found->sent = found->warmup.messages + found->messages + found->lost;
	if (p->metric == METRIC_LAT && !found->messages)
		return error_set(error, -ETIMEDOUT,
				 "no message was answered during the measurement: UC and UD do not "
				 "retransmit; use -c RC or a smaller size");
	return 0;
}

static int open_timeline(struct trial_lane *own, const struct clock *clock, struct error *error)
{
	struct endpoint *endpoint = &own->lane.endpoint;

	endpoint->completion.is_counter = clock->is_counter;
	own->timeline = cacheline_calloc(1, sizeof(*own->timeline));
	if (!own->timeline)
		return error_set_errno(error, -ENOMEM, "cannot store the results");
	return timeline_open(own->timeline, endpoint->verbs, clock, error);
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
		.payload = trial->settings->payload,
	};
	int code = lane_open(&own->lane, &wish, error);

	if (code)
		return code;
	threads_set_lane(&trial->threads, number, &own->lane);
	code = merge_threads_open(own, trial->settings->has_samples, error);
	if (!code && wanted->parameters.breakdown == 1)
		code = open_timeline(own, trial->settings->clock, error);
	return code;
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
	unsigned int n = pattern_lanes(&wanted->parameters, false);
	int code;

	trial->wanted = wanted;
	trial->has_next = trial->is_awaited = false;
	trial->outcome =
		(struct trial_outcome){.client_place.numa_node = -1, .server_place.numa_node = -1};
	trial->lanes = cacheline_calloc(n, sizeof(*trial->lanes));
	if (!trial->lanes)
		return free_memory_refused(error, "allocate threads");
	code = threads_open(&trial->threads, n, error);
	if (!code)
		code = threads_each(&trial->threads, thread_open, trial, error);
	if (!code)
		trial->outcome.client_place = threads_place(&trial->threads);
	return code;
}

/* Cancels the case that the server waits for. */
static void cancel_case(struct trial *trial)
{
	struct error why = {.code = -ECANCELED};
	struct result_trial unused;

	trial->is_asked = trial->is_awaited = false;
	trial->outcome.from_ns = trial->outcome.until_ns = 0;
	settle(trial, &unused, &why);
}

void trial_close(struct trial *trial)
{
	struct error ignored = {0};

	if (trial->is_asked || trial->is_awaited)
		cancel_case(trial);
	json_decref(trial->listening);
	trial->listening = NULL;
	threads_each(&trial->threads, thread_close, trial, &ignored);
	threads_close(&trial->threads);
	shares_close(&trial->outcome.shares);
	receivers_close(&trial->outcome.receivers);
	free(trial->lanes);
	trial->lanes = NULL;
	trial->wanted = NULL;
}

static int copy_error(struct lane *lane, struct error *error)
{
	return memory_copy_error(&lane->endpoint.memory, error);
}

int trial_run(struct trial *trial, struct result_trial *found, struct error *error)
{
	json_t *message = NULL;
	struct error copy = {0};
	int code;

	*found = (struct result_trial){0};
	if (!trial->is_asked && !trial->is_awaited && describe(trial, &message, error))
		return error->code;
	code = connect_trial(trial, message, error);
	if (!code)
		measure_all(trial, found, error);
	control_guard(trial->settings->control, NULL);
	settle(trial, found, error);
	/*
	 * Report the failed copy, which explains wrong bytes. Keep the error code: it shows whether
	 * the server is gone.
	 */
	if (threads_each_lane(&trial->threads, copy_error, &copy)) {
		error->code = error->code ? error->code : copy.code;
		snprintf(error->text, sizeof(error->text), "%s", copy.text);
	}
	code = error->code;
	if (!code)
		code = add_combined_figures(trial, found, error);
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
	/* The server may notice its own failure first, but the client's completion counts here. */
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
