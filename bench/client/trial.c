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
	unsigned int timeout_ms = trial->answer_ms ? trial->answer_ms : PROTOCOL_ANSWER_MS;

	/* The server has as much memory to touch, and to register, and as many queue pairs. */
	if (trial->lane.settings.parameters)
		timeout_ms +=
			lane_setup_ms(trial->lane.settings.parameters, trial->lane.settings.shape);
	return control_await(trial->control, message, timeout_ms, trial->stop, error);
}

/* Waits for an answer of that type, during a case. */
static int await(struct trial *trial, const char *type, json_t **message, struct error *error)
{
	int code = receive(trial, message, error);

	if (code)
		return code;
	code = protocol_expect(*message, type, trial->who, error);
	if (code) {
		json_decref(*message);
		*message = NULL;
	}
	return code;
}

static struct lane_end own_end(const struct trial *trial)
{
	return (struct lane_end){trial->result->client.address, trial->result->client.port,
				 control_pair_key(trial->control), trial->allowed};
}

/* What the threads of a case have a part in. */
struct part_job {
	struct trial *trial;
	const struct plan_case *wanted;
	json_t *message;
};

static int offer_part(void *whole, unsigned int number, struct error *error)
{
	const struct part_job *job = whole;
	const struct lane_end own = own_end(job->trial);

	return lane_offer(&trial_part(job->trial, number)->lane, &own, job->message, error);
}

static int connect_part(void *whole, unsigned int number, struct error *error)
{
	const struct part_job *job = whole;
	const struct lane_end own = own_end(job->trial);
	struct lane *lane = &trial_part(job->trial, number)->lane;
	int code = lane_connect(lane, &own, job->message, error);

	return code ? code : lane_start(lane, error);
}

static int stop_part(void *whole, unsigned int number, struct error *error)
{
	return lane_stop(&trial_part(whole, number)->lane, error);
}

/* What the server is to be told. As long as it is not sent, nothing is under way there. */
static int describe(struct trial *trial, const struct plan_case *wanted, json_t **message,
		    struct error *error)
{
	struct part_job job = {trial, wanted, NULL};
	int code;

	*message = job.message = protocol_case(&wanted->parameters, &trial->result->server);
	code = *message ? threads_each(&trial->threads, offer_part, &job, error)
			: error_set_errno(error, -ENOMEM, "cannot describe the case");
	if (code)
		json_decref(*message);
	return code;
}

/* Asks the server to make ready. Takes over what describe made. */
static int ask(struct trial *trial, json_t *message, struct error *error)
{
	int code = control_send(trial->control, message, error);

	trial->is_asked = !code;
	return code;
}

void trial_announce(struct trial *trial, const struct plan_case *wanted)
{
	struct error ignored = {0};

	/* Queue pairs by hand are part of the message. */
	if (wanted->parameters.connect != CONNECT_QP && !wanted->parameters.needs)
		ask(trial, protocol_case(&wanted->parameters, &trial->result->server), &ignored);
}

/* How to connect. */
static int hear(struct trial *trial, struct error *error)
{
	trial->is_asked = false;
	json_decref(trial->listening);
	trial->listening = NULL;
	return await(trial, "listening", &trial->listening, error);
}

/* Both ends build what the case needs and connect by RDMA. No message: that was sent. */
static int meet(struct trial *trial, json_t *message, struct error *error)
{
	struct threads *threads = &trial->threads;
	struct part_job job = {.trial = trial};
	int code = 0;

	trial->from_ns = trial->until_ns = 0;
	trial->is_awaited = false;
	if (message)
		code = ask(trial, message, error);
	if (!code && trial->is_asked)
		code = hear(trial, error);
	if (code)
		return code;
	control_guard_all(trial->control, threads->alarms, threads->n, true);
	job.message = trial->listening;
	code = threads_each(threads, connect_part, &job, error);
	/* In every trial the same. */
	if (!code && !trial->near_chosen.is_known[EFFECTIVE_CQ_DEPTH])
		trial->near_chosen = lane_effective_find(&trial->lane, true);
	if (!code)
		code = await(trial, "ready", &message, error);
	if (code)
		return code;
	json_decref(message);
	/* From here on the server speaks only of a failure. */
	control_guard_all(trial->control, threads->alarms, threads->n, false);
	/* It has messages of its own for this end, which is ready for them only now. */
	if (trial->lane.settings.parameters->bidirectional)
		code = control_send(trial->control, protocol_plain("begin"), error);
	return code;
}

/* The server has said that its part of the case is over. */
static bool is_told(int code)
{
	return code == -EREMOTEIO || code == PROTOCOL_UNSUPPORTED;
}

static int read_done(struct trial *trial, json_t *message, struct result_trial *found,
		     struct error *error)
{
	struct protocol_done done;
	int code = protocol_read_done(message, trial->who, &done, error);

	if (code)
		return code;
	found->server = done.cost;
	trial->driven = done.driven;
	trial->arrived = done.arrived;
	trial->is_awaited = done.has_next;
	trial->far = protocol_read_place(message);
	trial->far_chosen = protocol_read_chosen(message);
	return 0;
}

static json_t *say_stop(const struct trial *trial, bool has_failed)
{
	uint64_t now_ns = clock_now_ns();
	const struct protocol_stop stop = {now_ns - trial->from_ns, now_ns - trial->until_ns,
					   trial->has_next && !has_failed};

	return trial->until_ns ? protocol_stop(&stop) : protocol_plain("stop");
}

/* Ends the case at the server as well. */
static int settle(struct trial *trial, struct result_trial *found, struct error *error)
{
	struct error ignored = {0};
	struct error fault = {0};
	json_t *message;
	int code = 0;

	/* What the server itself has called failed is over there: no answer would come. */
	trial->is_lost = error->code == -ESHUTDOWN;
	if (is_told(error->code) || trial->is_lost)
		return error->code;
	/* One who takes no more may have said why. */
	control_send(trial->control, say_stop(trial, error->code != 0), &ignored);
	/* What came before the answer has crossed with the stop: each of the two, once. */
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
	trial->is_lost = code && !is_told(code);
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
 * Of what was sent meanwhile, what the server has seen come meanwhile; or else the share of all
 * that was sent, with the warm-up.
 */
static uint64_t arrived_of(const struct trial *trial, const struct result_trial *found)
{
	double messages = (double)found->messages;
	double share = 1 - (double)found->lost / (double)found->sent;

	if (trial->driven < 0 || trial->until_ns - trial->from_ns < COUNTED_LEAST_NS)
		return (uint64_t)fmax(1, messages * share);
	return (uint64_t)fmin(messages, trial->driven);
}

/* Only what has arrived is bandwidth: where there is somebody to count it. */
static int count_arrived(struct trial *trial, const struct plan_case *wanted,
			 struct result_trial *found, struct error *error)
{
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (!wanted->op->is_received)
		return 0;
	found->sent = merge_threads_posted(trial);
	found->lost = found->sent > trial->arrived ? found->sent - trial->arrived : 0;
	if (found->lost == found->sent)
		return error_set(error, -ETIMEDOUT,
				 "none of %" PRIu64 " messages has arrived: on RC they would be "
				 "sent again",
				 found->sent);
	if (found->lost)
		found->messages = arrived_of(trial, found);
	if (!found->messages)
		return error_set(error, -ETIMEDOUT,
				 "none of the messages has arrived while it was measured, of all "
				 "%" PRIu64 " that were sent %" PRIu64 ": on RC they would be sent "
				 "again",
				 found->sent, trial->arrived);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)wanted->parameters.size;
	/* Which of the windows, and of the queue pairs, lost them, nobody knows. */
	if (found->lost) {
		rate_windows_forget(trial->windows, found->messages);
		shares_close(&trial->shares);
	}
	return 0;
}

/* The other direction, over the same time: as it was seen here, where it can be. */
static double far_rate(const struct trial *trial, const struct plan_case *wanted)
{
	if (is_each_received(wanted->op))
		return trial->received_per_s;
	/* From the first moment to the last one of any thread. */
	return trial->driven * (double)NS_PER_S / (double)(trial->until_ns - trial->from_ns);
}

/* What only both ends together can tell. */
static int compare_notes(struct trial *trial, const struct plan_case *wanted,
			 struct result_trial *found, struct error *error)
{
	const struct parameters *p = &wanted->parameters;

	/* Where the server takes no part, its cost is that of the client's messages. */
	if (!is_shared(wanted))
		found->server.messages = found->warmup.messages + found->messages;
	/* While the client waited for others, it polled for nobody's messages. */
	else if (trial->gate && p->server_cq == CQ_POLL)
		found->server = (struct result_cost){0};
	found->has_far = p->bidirectional && (is_each_received(wanted->op) || trial->driven >= 0);
	if (found->has_far)
		found->far_messages_per_s = far_rate(trial, wanted);
	if (!lane_is_lossy(&trial->lane))
		return 0;
	if (p->metric == METRIC_BW)
		return count_arrived(trial, wanted, found, error);
	found->lost = merge_threads_lost(trial);
	found->sent = found->warmup.messages + found->messages + found->lost;
	if (p->metric == METRIC_LAT && !found->messages)
		return error_set(error, -ETIMEDOUT,
				 "none of the messages was answered while it was measured: on RC "
				 "they would be sent again");
	return 0;
}

static int open_part(void *whole, unsigned int number, struct error *error)
{
	const struct part_job *job = whole;
	struct trial *trial = job->trial;
	struct trial *part = trial_part(trial, number);
	const struct lane_wish wish = {
		.device = trial->result->client.device,
		.parameters = &job->wanted->parameters,
		.shape = &job->wanted->op->shape,
		.number = number,
		.signal_every = default_depths_signal_every(job->wanted->op,
							    &job->wanted->parameters, false),
		.spare = number ? NULL : &trial->spare,
	};
	int code = lane_open(&part->lane, &wish, error);

	if (!code && number)
		code = merge_threads_open(part, trial, error);
	if (!code)
		trial->threads.alarms[number] = &part->lane.endpoint.alarm;
	return code;
}

static int close_part(void *whole, unsigned int number, struct error *error)
{
	struct trial *trial = whole;
	struct trial *part = trial_part(trial, number);

	trial->threads.alarms[number] = NULL;
	lane_close(&part->lane);
	if (number)
		merge_threads_close(part);
	return 0;
}

int trial_open(struct trial *trial, const struct plan_case *wanted, struct error *error)
{
	unsigned int n = pattern_lanes(&wanted->parameters, false);
	struct part_job job = {trial, wanted, NULL};
	int code = 0;

	trial->has_next = trial->is_awaited = false;
	trial->whole = trial;
	trial->far = (struct result_place){.numa_node = -1};
	trial->near_chosen = trial->far_chosen = (struct effective){0};
	trial->others = n > 1 ? cacheline_calloc(n - 1, sizeof(*trial->others)) : NULL;
	if (n > 1 && !trial->others)
		return free_memory_refused(error, "make threads");
	code = threads_open(&trial->threads, n, error);
	if (!code)
		code = threads_each(&trial->threads, open_part, &job, error);
	trial->near = merge_threads_places(trial);
	if (!code && trial->gate)
		trial->gate->enter(trial->gate, trial->threads.alarms, trial->threads.n);
	return code;
}

/* What the server waits for is not to come. */
static void call_off(struct trial *trial)
{
	struct error why = {.code = -ECANCELED};
	struct result_trial unused;

	trial->is_asked = trial->is_awaited = false;
	trial->from_ns = trial->until_ns = 0;
	settle(trial, &unused, &why);
}

void trial_close(struct trial *trial)
{
	struct error ignored = {0};

	if (trial->is_asked || trial->is_awaited)
		call_off(trial);
	json_decref(trial->listening);
	trial->listening = NULL;
	if (trial->gate)
		trial->gate->leave(trial->gate);
	threads_each(&trial->threads, close_part, trial, &ignored);
	threads_close(&trial->threads);
	shares_close(&trial->shares);
	free(trial->others);
	trial->others = NULL;
}

int trial_run(struct trial *trial, const struct plan_case *wanted, struct result_trial *found,
	      struct error *error)
{
	json_t *message = NULL;
	int code;

	*found = (struct result_trial){0};
	if (!trial->is_asked && !trial->is_awaited && describe(trial, wanted, &message, error))
		return error->code;
	code = meet(trial, message, error);
	if (!code)
		measure_all(trial, wanted, found, error);
	control_guard(trial->control, NULL);
	settle(trial, found, error);
	code = error->code;
	if (!code)
		code = compare_notes(trial, wanted, found, error);
	return code ? code : threads_each(&trial->threads, stop_part, trial, error);
}

int trial_probe(struct trial *trial, const struct plan_case *wanted, struct error *seen,
		struct error *error)
{
	struct result_trial unused;
	struct error fault = {0};
	json_t *message;
	int code;

	if (describe(trial, wanted, &message, error))
		return error->code;
	code = meet(trial, message, error);
	/* The server may find its own fault first: here the completion is to tell. */
	if (!code)
		control_guard_end(trial->control, &trial->lane.endpoint.alarm);
	if (!code)
		measure_one(trial, wanted, seen);
	control_guard(trial->control, NULL);
	settle(trial, &unused, code ? error : &fault);
	if (!code && trial->is_lost)
		code = error_set(error, fault.code, "%s", fault.text);
	return code;
}
