/* SPDX-License-Identifier: MIT */
#include "bench/plan/default_depths.h"

#include "bench/plan/pattern.h"
#include "core/base/compiler.h"

/*
 * Sends per queue pair: as in perftest, but limited to as many bytes as any link holds in flight.
 */
#define BW_DEPTH       128
#define BW_DEPTH_LEAST 2
#define BW_BYTES       (2ULL << 20)
/*
 * Sends and receives of all queue pairs of a thread, which share a completion queue. For up to
 * 4096 queue pairs the CQ has room for them and for one notification per send, even on devices
 * with short CQs.
 */
#define BW_SENDS    8192
#define BW_RECEIVES 12288
#define LAT_DEPTH   64
/* Verified receives: at most the size of a cache per queue pair. */
#define VERIFIED_BYTES (8ULL << 20)

/* Returns a depth with room for one post list and for one signaling interval. */
static uint64_t stream_depth(const struct parameters *parameters)
{
	uint64_t depth = max_u64(BW_BYTES / parameters->size, BW_DEPTH_LEAST);

	depth = min_u64(depth, max_u64(min_u64(BW_DEPTH, BW_SENDS / pattern_most_pairs(parameters)),
				       BW_DEPTH_LEAST));
	depth = max_u64(depth, min_u64(parameters->post_list, BW_DEPTH));
	if (parameters->cq_mod != PARAMETER_AUTO)
		depth = max_u64(depth, min_u64(parameters->cq_mod, BW_DEPTH));
	return depth;
}

static uint64_t stream_receives(const struct parameters *parameters)
{
	uint64_t most = DEFAULT_DEPTHS_RECEIVES;

	/* A shared receive queue serves all queue pairs. */
	if (!parameters->use_srq)
		most = max_u64(min_u64(most, BW_RECEIVES / pattern_most_pairs(parameters)),
			       BW_DEPTH_LEAST);
	if (!parameters->verify)
		return most;
	return min_u64(max_u64(VERIFIED_BYTES / parameters->size, BW_DEPTH_LEAST), most);
}

/* Returns the writes per doorbell: 1 if each write is timed, else half of the send depth. */
static uint64_t doorbell_writes(const struct parameters *p)
{
	uint64_t depth = p->tx_depth;

	if (p->latencies || p->metric == METRIC_LAT)
		return 1;
	return max_u64((depth == PARAMETER_AUTO ? stream_depth(p) : min_u64(depth, BW_DEPTH)) / 2,
		       1);
}

/* Only writes that ring are signaled. The queue has room for twice that many writes. */
static void choose_doorbell(struct parameters *parameters)
{
	parameter_choose(&parameters->doorbell_every, doorbell_writes(parameters));
	parameter_choose(&parameters->cq_mod, parameters->doorbell_every);
	parameter_choose(
		&parameters->tx_depth,
		parameters->metric == METRIC_LAT
			? max_u64(LAT_DEPTH, parameters->doorbell_every)
			: max_u64(stream_depth(parameters), 2 * parameters->doorbell_every));
}

void default_depths_choose(const struct operation *op, struct parameters *parameters)
{
	bool is_bw = parameters->metric != METRIC_LAT;

	if (op->shape.rings)
		choose_doorbell(parameters);
	parameter_choose(&parameters->tx_depth, is_bw ? stream_depth(parameters) : LAT_DEPTH);
	parameter_choose(&parameters->rx_depth, is_bw ? stream_receives(parameters) : LAT_DEPTH);
	/* Each timed message needs its own completion. Without order, it stands for one message. */
	if (parameters->latencies || parameters->metric == METRIC_LOAD ||
	    !parameters_has(parameters, TRANSPORT_ORDERED))
		parameter_choose(&parameters->cq_mod, 1);
	parameter_choose(&parameters->cq_mod, max_u64(parameters->tx_depth / (is_bw ? 4 : 2), 1));
}

/*
 * For the server's own direction: maximum number of bytes between completions, and minimum number
 * of completions per queue pair with -n.
 */
#define STEP_BYTES (256U << 10)
#define STEPS      16

unsigned int default_depths_signal_every(const struct operation *op, const struct parameters *p,
					 bool is_server)
{
	uint64_t pairs = pattern_lane_pairs(p, true);
	uint64_t most;

	/* The client sees messages arrive: all of them, or the signaled ones, which ring. */
	if (!is_server || !p->bidirectional || op->is_received || op->shape.rings)
		return (unsigned int)p->cq_mod;
	most = STEP_BYTES / (p->size * pairs);
	if (p->iterations != PARAMETER_AUTO)
		most = min_u64(most, p->iterations / pairs / STEPS);
	return (unsigned int)max_u64(min_u64(most, p->cq_mod), 1);
}
