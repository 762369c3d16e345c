/* SPDX-License-Identifier: MIT */
#include "bench/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench/cost.h"
#include "bench/granted.h"
#include "bench/meet.h"
#include "bench/protocol.h"
#include "bench/steady.h"

/* Warm-up is extra: so many messages, and so long, at the least. */
#define WARMUP_MESSAGES 100
#define WARMUP_NS       (20 * NS_PER_MS)
/* It looks after each window of that time whether the last ones agree. */
#define WINDOW_NS (4 * NS_PER_MS)
/* As many messages, before it is known how long they take. */
#define FIRST_WINDOW 16
/* Throughput is counted in windows of that time, or longer for WINDOWS_MESSAGES. */
#define THROUGHPUT_NS (10 * NS_PER_MS)

static int receive(struct trial *trial, json_t **message, struct error *error)
{
	unsigned int timeout_ms = trial->answer_ms ? trial->answer_ms : PROTOCOL_ANSWER_MS;

	return control_receive(trial->control, message, timeout_ms, error);
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

static struct meet_end own_end(const struct trial *trial)
{
	return (struct meet_end){trial->result->client.address, trial->result->client.port};
}

/* What the server is to be told. As long as it is not sent, nothing is under way there. */
static int describe(struct trial *trial, const struct plan_case *wanted, json_t **message,
		    struct error *error)
{
	const struct meet_end own = own_end(trial);
	int code;

	*message = protocol_case(&wanted->parameters, &trial->result->server);
	code = *message ? meet_offer(&trial->lane, &own, *message, error)
			: error_set_errno(error, -ENOMEM, "cannot describe the case");
	if (code)
		json_decref(*message);
	return code;
}

/* Both ends build what the case needs and connect by RDMA. Takes over what describe made. */
static int meet(struct trial *trial, json_t *message, struct error *error)
{
	const struct meet_end own = own_end(trial);
	struct lane *lane = &trial->lane;
	int code = control_send(trial->control, message, error);

	trial->from_ns = trial->until_ns = 0;
	if (!code)
		code = await(trial, "listening", &message, error);
	if (code)
		return code;
	control_guard_end(trial->control, lane->completion->alarm);
	code = meet_connect(lane, &own, message, error);
	json_decref(message);
	if (!code)
		code = lane_start(lane, error);
	/* In every trial the same. */
	if (!code && !trial->near_chosen.is_known[CHOSEN_CQ_DEPTH])
		trial->near_chosen = granted_find(lane, true);
	if (!code)
		code = await(trial, "ready", &message, error);
	if (code)
		return code;
	json_decref(message);
	/* From here on the server speaks only of a failure. */
	control_guard(trial->control, lane->completion->alarm);
	return 0;
}

/* What is seen then comes of that: the other end has gone, or the user wants to. */
static bool is_cause(int code)
{
	return code == -ECONNRESET || code == -ESHUTDOWN || code == -EINTR;
}

static int loop(struct lane *lane, const struct plan_case *wanted, const struct loop_run *run,
		struct error *error)
{
	if (wanted->parameters.metric == METRIC_BW)
		return wanted->op->bandwidth(lane, run, error);
	return op_latency(wanted->op, wanted->kind)(lane, run, error);
}

static uint64_t ticks(const struct clock *clock, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / clock->mult);
}

/* From now on. */
static uint64_t tick_after(const struct clock *clock, uint64_t ns)
{
	return clock_ticks(clock->is_counter) + ticks(clock, ns);
}

static struct loop_run make_run(const struct trial *trial, const struct plan_case *wanted)
{
	const struct clock *clock = trial->clock;
	bool is_half = wanted->parameters.metric == METRIC_LAT && wanted->kind == RESULT_HALF;

	return (struct loop_run){
		.messages = UINT64_MAX,
		.until = UINT64_MAX,
		.hist = trial->hist,
		.windows = trial->windows,
		.mult = is_half ? clock->mult / 2 : clock->mult,
		.is_counter = clock->is_counter,
	};
}

/* Runs one window of the warm-up and adds its figure. */
static int warm_window(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		       struct steady *steady, struct error *error)
{
	bool is_bw = wanted->parameters.metric == METRIC_BW;
	struct loop_run run = make_run(trial, wanted);
	uint64_t before = lane->messages;
	uint64_t start = clock_now_ns();
	uint64_t elapsed;
	int code;

	/* A stream that is to be counted, or timed, begins with nothing under way. */
	if (is_bw &&
	    (wanted->parameters.iterations != PARAMETER_AUTO || wanted->parameters.latencies))
		run.messages = trial->window_messages;
	else
		run.until = tick_after(trial->clock, WINDOW_NS);
	hist_init(trial->hist);
	windows_init(trial->windows, THROUGHPUT_NS);
	code = loop(lane, wanted, &run, error);
	elapsed = clock_now_ns() - start;
	trial->window_messages =
		1 + (uint64_t)((double)(lane->messages - before) * WINDOW_NS / (double)elapsed);
	if (is_bw)
		steady_add(steady, (double)(lane->messages - before) / (double)elapsed);
	else
		steady_add(steady, hist_quantile(trial->hist, 500000));
	if (!is_bw && trial->warmup)
		hist_merge(trial->warmup, trial->hist);
	return code;
}

static int warm_up(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		   struct result_warmup *warmup, struct error *error)
{
	struct steady steady = {0};
	uint64_t start = clock_now_ns();
	int code = 0;

	trial->window_messages = FIRST_WINDOW;
	if (trial->warmup)
		hist_init(trial->warmup);
	while (!code && warmup->duration_ns < wanted->parameters.warmup_ns &&
	       !warmup->has_converged) {
		code = warm_window(trial, lane, wanted, &steady, error);
		warmup->messages = lane->messages;
		warmup->duration_ns = clock_now_ns() - start;
		warmup->has_converged = warmup->messages >= WARMUP_MESSAGES &&
					warmup->duration_ns >= WARMUP_NS && steady_agrees(&steady);
	}
	return code;
}

/* What the loop has left in hist or windows becomes figures. */
static void note(const struct trial *trial, const struct plan_case *wanted,
		 struct result_trial *found)
{
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (trial_has_latency(wanted))
		statistic_fill(found->latency, trial->hist);
	if (wanted->parameters.metric == METRIC_LAT)
		return;
	windows_finish(trial->windows, found->duration_ns);
	windows_coarsen(trial->windows, WINDOWS_MESSAGES);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)wanted->parameters.size;
}

/* How far it came: all that is left of a trial that failed. */
static int fail(const struct parameters *parameters, uint64_t messages, struct error *error)
{
	if (is_cause(error->code))
		return error->code;
	if (parameters->iterations == PARAMETER_AUTO)
		return error_append(error, "after %" PRIu64 " messages", messages);
	return error_append(error, "%" PRIu64 " of %" PRIu64 " messages", messages,
			    parameters->iterations);
}

static int measure(struct trial *trial, struct lane *lane, const struct plan_case *wanted,
		   struct result_trial *found, struct error *error)
{
	const struct parameters *parameters = &wanted->parameters;
	struct loop_run run = make_run(trial, wanted);
	struct result_cost before;
	uint64_t received;
	uint64_t start;
	int code = warm_up(trial, lane, wanted, &found->warmup, error);

	if (code)
		return is_cause(code) ? code : error_append(error, "while it warmed up");
	hist_init(trial->hist);
	windows_init(trial->windows, THROUGHPUT_NS);
	run.messages = parameters->iterations;
	received = lane->received;
	before = cost_now(lane);
	trial->from_ns = clock_now_ns();
	start = clock_ticks(run.is_counter);
	if (parameters->duration_ns != PARAMETER_AUTO)
		run.until = start + ticks(trial->clock, parameters->duration_ns);
	lane->last_tick = 0;
	code = loop(lane, wanted, &run, error);
	trial->until_ns = clock_now_ns();
	trial->received = lane->received - received;
	if (!lane->last_tick)
		lane->last_tick = clock_ticks(run.is_counter);
	found->duration_ns = clock_to_ns(lane->last_tick - start, trial->clock->mult);
	found->client = cost_since(lane, &before);
	found->messages = found->client.messages;
	if (code)
		return fail(parameters, found->messages, error);
	note(trial, wanted, found);
	return 0;
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
	trial->far = protocol_read_place(message);
	trial->far_chosen = protocol_read_chosen(message);
	return 0;
}

static json_t *say_stop(const struct trial *trial)
{
	uint64_t now_ns = clock_now_ns();
	const struct protocol_stop stop = {now_ns - trial->from_ns, now_ns - trial->until_ns};

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
	control_send(trial->control, say_stop(trial), &ignored);
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
	if (is_cause(code) || error->code == -ECANCELED || error->code == -ECONNRESET)
		error->code = 0;
	return error_set(error, fault.code, "%s", fault.text);
}

/* Whether the server's program has its share of each message. */
static bool is_shared(const struct plan_case *wanted)
{
	if (wanted->parameters.bidirectional)
		return true;
	return wanted->parameters.metric == METRIC_BW ? wanted->op->is_received
						      : op_is_answered(wanted->kind);
}

/* Only what has arrived is bandwidth: where there is somebody to count it. */
static int count_arrived(struct trial *trial, const struct plan_case *wanted,
			 struct result_trial *found, struct error *error)
{
	double seconds = (double)found->duration_ns / (double)NS_PER_S;

	if (!wanted->op->is_received || wanted->parameters.bidirectional)
		return 0;
	found->sent = trial->lane.posted;
	found->lost = found->sent > trial->arrived ? found->sent - trial->arrived : 0;
	if (found->lost == found->sent)
		return error_set(error, -ETIMEDOUT,
				 "none of %" PRIu64 " messages has arrived: on RC they would be "
				 "sent again",
				 found->sent);
	found->messages -=
		(uint64_t)((double)found->messages * (double)found->lost / (double)found->sent);
	found->messages_per_s = (double)found->messages / seconds;
	found->bytes_per_s = found->messages_per_s * (double)wanted->parameters.size;
	/* Which of the windows lost them, nobody knows. */
	if (found->lost)
		windows_forget(trial->windows, found->messages);
	return 0;
}

/* The other direction, over the same time: as it was seen here, where it can be. */
static double far_rate(const struct trial *trial, const struct plan_case *wanted,
		       const struct result_trial *found)
{
	double messages = wanted->op->is_received ? (double)trial->received : trial->driven;

	return messages * (double)NS_PER_S / (double)found->duration_ns;
}

/* What only both ends together can tell. */
static int compare_notes(struct trial *trial, const struct plan_case *wanted,
			 struct result_trial *found, struct error *error)
{
	const struct parameters *p = &wanted->parameters;

	/* Where the server takes no part, its cost is that of the client's messages. */
	if (!is_shared(wanted))
		found->server.messages = found->warmup.messages + found->messages;
	found->has_far = p->bidirectional && (wanted->op->is_received || trial->driven >= 0);
	if (found->has_far)
		found->far_messages_per_s = far_rate(trial, wanted, found);
	if (!lane_is_lossy(&trial->lane))
		return 0;
	if (p->metric == METRIC_BW)
		return count_arrived(trial, wanted, found, error);
	found->lost = trial->lane.lost;
	found->sent = found->warmup.messages + found->messages + found->lost;
	return 0;
}

int trial_open(struct trial *trial, const struct plan_case *wanted, struct error *error)
{
	int code = lane_open(&trial->lane, trial->result->client.device, &wanted->parameters,
			     &wanted->op->shape, false, error);

	trial->near = placement_tell(&trial->lane.placement);
	trial->far = (struct result_place){.numa_node = -1};
	trial->near_chosen = trial->far_chosen = (struct chosen){0};
	return code;
}

void trial_close(struct trial *trial)
{
	lane_close(&trial->lane);
}

int trial_run(struct trial *trial, const struct plan_case *wanted, struct result_trial *found,
	      struct error *error)
{
	struct lane *lane = &trial->lane;
	json_t *message;
	int code;

	*found = (struct result_trial){0};
	if (describe(trial, wanted, &message, error))
		return error->code;
	code = meet(trial, message, error);
	if (!code)
		measure(trial, lane, wanted, found, error);
	control_guard(trial->control, NULL);
	settle(trial, found, error);
	code = error->code;
	if (!code)
		code = compare_notes(trial, wanted, found, error);
	return code ? code : lane_stop(lane, error);
}

int trial_probe(struct trial *trial, const struct plan_case *wanted, struct error *seen,
		struct error *error)
{
	struct loop_run run = make_run(trial, wanted);
	struct result_trial unused;
	struct error fault = {0};
	json_t *message;
	int code;

	if (describe(trial, wanted, &message, error))
		return error->code;
	code = meet(trial, message, error);
	/* The server may find its own fault first: here the completion is to tell. */
	if (!code)
		control_guard_end(trial->control, trial->lane.completion->alarm);
	windows_init(trial->windows, THROUGHPUT_NS);
	run.messages = 1;
	if (!code)
		wanted->op->bandwidth(&trial->lane, &run, seen);
	control_guard(trial->control, NULL);
	settle(trial, &unused, code ? error : &fault);
	if (!code && trial->is_lost)
		code = error_set(error, fault.code, "%s", fault.text);
	return code;
}
