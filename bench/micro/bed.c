/* SPDX-License-Identifier: MIT */
#include "bench/micro/bed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plan/defaults.h"

/* Both areas and the notifications of a flow, for messages of less than a page. */
#define FLOW_BYTES 12288
#define AREA_BYTES (FLOW_BYTES / 3)
#define MAX_INLINE 256
#define WINDOW_NS  (10 * NS_PER_MS)
#define RATE       1e12

/* Sets the parameters, with the same defaults as the command. */
static void choose(struct bed *bed)
{
	const struct bed_settings *settings = &bed->settings;
	struct parameters *parameters = &bed->parameters;

	*parameters = parameters_default();
	parameters->metric = settings->metric;
	parameters->qps = settings->qps ? settings->qps : 1;
	parameters->post_list = settings->post_list ? settings->post_list : 1;
	parameters->transport = settings->transport;
	parameters->cq = settings->cq;
	parameters->latencies = settings->latencies;
	parameters->bidirectional = settings->is_both;
	parameters->sge = settings->sge ? settings->sge : 1;
	parameters->access = settings->access;
	/* The receiving area of a flow. */
	parameters->buffer = settings->access ? AREA_BYTES * parameters->qps : PARAMETER_AUTO;
	parameters->verify = settings->is_verified;
	defaults_choose(&operations[settings->op], parameters);
}

static void fill_lane(struct bed *bed)
{
	const struct parameters *parameters = &bed->parameters;
	struct lane *lane = &bed->lane;

	lane->endpoint.mr = &bed->mr;
	lane->endpoint.completion.cq = &bed->instant.cq;
	lane->endpoint.completion.alarm = bed->instant.alarm = &lane->endpoint.alarm;
	lane->endpoint.completion.mode = lane_wait_mode(&bed->parameters, false);
	verify_init(&lane->verify, parameters->verify, "micro", false, 0);
	lane->verify.peer_key = lane->verify.own_key;
	lane->verify.is_fixed = lane->settings.shape->is_read;
}

static void make_state(struct bed *bed, unsigned int i)
{
	enum post_path path = bed->settings.path;
	struct ibv_qp_ex *qpx = &bed->instant.queues[i].qpx;

	bed->states[i].queue = (struct post_queue){
		.qp = &qpx->qp_base,
		.qpx = path == POST_CLASSIC ? NULL : qpx,
	};
	bed->states[i].path.route.kind = transports[bed->settings.transport].route;
	bed->lane.flows[i].context.state = &bed->states[i];
	bed->lane.flows[i].context.max_inline = path == POST_EXTENDED ? 0 : MAX_INLINE;
}

static int make_flows(struct bed *bed, struct error *error)
{
	struct lane *lane = &bed->lane;
	unsigned int n = lane->settings.n_flows;
	int code = 0;

	lane->flows = calloc(n, sizeof(*lane->flows));
	bed->states = calloc(n, sizeof(*bed->states));
	if (!lane->flows || !bed->states)
		return error_set_errno(error, -ENOMEM, "cannot make queue pairs");
	for (unsigned int i = 0; i < n && !code; i++) {
		make_state(bed, i);
		code = lane_receive(lane, &lane->flows[i], error);
	}
	return code ? code : lane_start(lane, error);
}

/* Only the first queue pair is echoed. */
static void set_places(struct bed *bed)
{
	struct instant_queue *queue = &bed->instant.queues[0];

	queue->sent = (uint8_t *)bed->lane.endpoint.memory.cpu + bed->lane.verify.sent;
	queue->received = (uint8_t *)bed->lane.endpoint.memory.cpu + bed->lane.verify.received;
	queue->size = bed->parameters.size;
}

int bed_open(struct bed *bed, const struct bed_settings *settings, struct error *error)
{
	struct lane_wish wish = {.parameters = &bed->parameters,
				 .shape = &operations[settings->op].shape};
	unsigned int n;
	int code;

	memset(bed, 0, sizeof(*bed));
	bed->settings = *settings;
	choose(bed);
	wish.signal_every = (unsigned int)bed->parameters.cq_mod;
	lane_init(&bed->lane, &wish);
	n = bed->lane.settings.n_flows;
	code = instant_open(&bed->instant, n, settings->peer, error);
	if (!code)
		code = alarm_open(&bed->lane.endpoint.alarm, error);
	if (!code)
		code = memory_open(
			&bed->lane.endpoint.memory, &memory_host,
			&(struct memory_request){.size = (size_t)n * FLOW_BYTES, .numa_node = -1},
			error);
	if (!code) {
		fill_lane(bed);
		code = make_flows(bed, error);
	}
	if (code) {
		bed_close(bed);
		return code;
	}
	set_places(bed);
	bed_clear(bed);
	return 0;
}

void bed_close(struct bed *bed)
{
	struct lane *lane = &bed->lane;

	for (unsigned int i = 0; i < lane->settings.n_flows && lane->flows; i++) {
		post_list_close(&lane->flows[i].list);
		lane_forget_returns(&lane->flows[i]);
		free(lane->flows[i].ticks);
	}
	free(lane->flows);
	free(bed->states);
	memory_close(&lane->endpoint.memory);
	alarm_close(&lane->endpoint.alarm);
	instant_close(&bed->instant);
	memset(bed, 0, sizeof(*bed));
}

/* Seeded for each run, so that the instructions are the same. */
static void make_load(struct bed *bed)
{
	static const struct clock clock = {.mult = 1ULL << 32};

	arrival_init(&bed->load.arrival, &clock, RATE, bed->settings.is_poisson);
	arrival_seed(&bed->load.arrival, 1, 0);
	bed->load.seen = &bed->pace;
	bed->load.give_up = bed->load.stalled = UINT64_MAX;
}

struct loop_run bed_run(struct bed *bed, uint64_t messages)
{
	if (bed->settings.metric == METRIC_LOAD)
		make_load(bed);
	return (struct loop_run){
		.messages = messages,
		.load = &bed->load,
		.until = UINT64_MAX,
		.hist = &bed->hist,
		.windows = &bed->windows,
		.mult = 0,
		.is_counter = true,
	};
}

void bed_clear(struct bed *bed)
{
	hist_init(&bed->hist);
	hist_init(&bed->pace.lag);
	hist_init(&bed->pace.uncorrected);
	rate_windows_init(&bed->windows, WINDOW_NS);
}
