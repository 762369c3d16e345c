/* SPDX-License-Identifier: MIT */
#include "bench/server/worker.h"

#include <errno.h>
#include <poll.h>

#include "bench/lane/cpu_cost.h"
#include "bench/loop/sink.h"
#include "bench/op/op.h"

bool worker_answers(const struct protocol_case *wanted)
{
	const struct parameters *p = &wanted->parameters;

	return p->metric == METRIC_LAT &&
	       operation_is_answered(wanted->op, operation_kind(wanted->op, p));
}

static bool takes_in(const struct protocol_case *wanted)
{
	return wanted->parameters.metric != METRIC_LAT && wanted->op->is_received;
}

/* Returns whether messages can be lost, so that only the server knows when they arrived. */
static bool counts_received(const struct worker *worker, const struct protocol_case *wanted)
{
	return wanted->parameters.metric == METRIC_BW && wanted->op->is_received &&
	       lane_is_lossy(&worker->lane);
}

bool worker_counts(const struct worker *worker, const struct protocol_case *wanted)
{
	return wanted->parameters.bidirectional || counts_received(worker, wanted);
}

/* Waits until the client sends "stop". The client needs nothing of this thread meanwhile. */
static int await_stop(struct lane *lane, struct error *error)
{
	struct alarm *alarm = &lane->endpoint.alarm;
	struct pollfd waiting = {.fd = alarm->fd, .events = POLLIN};

	while (lane->settings.parameters->think_ns && !alarm_raised(alarm))
		lane_think(lane);
	while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
		continue;
	return alarm_reason(alarm, error);
}

/* Sends messages until a control message of the client arrives. */
static int drive(struct worker *worker, const struct protocol_case *wanted, struct error *error)
{
	const struct loop_run run = {
		.messages = UINT64_MAX,
		.until = UINT64_MAX,
		.windows = worker->windows,
		.counts_received = counts_received(worker, wanted),
		.mult = 1ULL << 32,
	};
	uint64_t start;
	int code;

	rate_windows_init(worker->windows, NS_PER_MS);
	start = clock_now_ns();
	code = op_loops_of(wanted->op)->bandwidth(&worker->lane, &run, error);
	worker->counted_ns = clock_now_ns() - start;
	return code;
}

/* Receives messages until the client sends "stop". */
static int take_in(struct worker *worker, struct error *error)
{
	uint64_t start;
	int code;

	if (worker->windows)
		rate_windows_init(worker->windows, NS_PER_MS);
	start = clock_now_ns();
	code = loop_sink(&worker->lane, worker->windows, error);
	if (worker->windows)
		worker->counted_ns = clock_now_ns() - start;
	return code;
}

/* Does the server's part until the client sends "stop". */
static int respond(struct worker *worker, const struct protocol_case *wanted, struct error *error)
{
	struct lane *lane = &worker->lane;
	const struct parameters *p = &wanted->parameters;
	const struct loop_run run = {.is_responder = true};
	int code;

	if (p->bidirectional)
		code = drive(worker, wanted, error);
	else if (takes_in(wanted))
		code = take_in(worker, error);
	else if (worker_answers(wanted))
		code = op_loops_of(wanted->op)->latency(lane, &run, error);
	else
		code = await_stop(lane, error);
	/* A control message of the client ends the loop with -ECANCELED: no error. */
	if (code != -ECANCELED)
		return code;
	*error = (struct error){0};
	return 0;
}

/*
 * Takes messages that are still in flight, if they can be lost, or still to be verified. The time
 * for this is not part of the cost.
 */
static int count_rest(const struct protocol_case *wanted, struct lane *lane, uint64_t *arrived,
		      struct error *error)
{
	const struct parameters *p = &wanted->parameters;

	if (p->metric != METRIC_BW || !wanted->op->is_received)
		return 0;
	if (!p->verify && !lane_is_lossy(lane))
		return 0;
	return sink_drain(lane, arrived, error);
}

int worker_respond(struct worker *worker, const struct protocol_case *wanted, struct error *error)
{
	struct protocol_done *done = &worker->done;
	struct result_cost before = cpu_cost_now(&worker->lane);
	uint64_t start = clock_now_ns();
	int code;

	worker->counted_ns = 0;
	code = respond(worker, wanted, error);
	done->cost = cpu_cost_since(&worker->lane, &before);
	done->elapsed_ns = clock_now_ns() - start;
	/* If both ends send, the messages in the cost are the server's own. */
	done->arrived = wanted->parameters.bidirectional ? worker->lane.result.received
							 : done->cost.messages;
	if (!code)
		code = count_rest(wanted, &worker->lane, &done->arrived, error);
	/* On average over the receivers. */
	done->arrived /= pattern_receivers(&wanted->parameters);
	return code;
}

double worker_counted(const struct worker *worker, const struct protocol_stop *stop)
{
	uint64_t now_ns = worker->counted_ns;

	if (!now_ns)
		return -1;
	/* The server may have started to count late. */
	return rate_windows_between(worker->windows, now_ns,
				    now_ns > stop->from_ns ? now_ns - stop->from_ns : 0,
				    now_ns > stop->until_ns ? now_ns - stop->until_ns : 0) /
	       pattern_receivers(worker->lane.settings.parameters);
}
