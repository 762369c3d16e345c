/* SPDX-License-Identifier: MIT */
/* Where the parts of a lane's buffer lie: for those files alone that a lane is made by. */
#ifndef BENCH_LANE_LAYOUT_H
#define BENCH_LANE_LAYOUT_H

#include "bench/lane/lane.h"
#include "core/pool/message.h"

/* Areas begin at pages of the usual size; of larger ones, several may share one. */
#define LANE_AREA 4096
/* Room for a notification, and for what a datagram has in front. */
#define LANE_LEAST_RECEIVE 64

static inline size_t lane_round_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

/* What is sent at once. */
static inline size_t lane_message_bytes(const struct lane *lane)
{
	if (lane->settings.shape->is_granted)
		return POOL_MESSAGE;
	return lane->settings.shape->is_call ? LANE_LEAST_RECEIVE : lane->settings.parameters->size;
}

static inline size_t lane_area(const struct lane *lane, uint32_t n_slots)
{
	return lane_round_up(lane->settings.stride * n_slots, LANE_AREA);
}

/* With a part of the buffer that was asked for: what walks comes from there and goes there. */
static inline size_t lane_receiving_area(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	size_t part = p->buffer == PARAMETER_AUTO
			      ? 0
			      : lane_round_up(p->buffer / pattern_pairs(p), LANE_AREA);
	size_t slots = lane_area(lane, lane->settings.received_slots);

	return part > slots ? part : slots;
}

/* Both areas of a queue pair, and its notifications. */
static inline size_t lane_flow_size(const struct lane *lane)
{
	return lane_area(lane, lane->settings.sent_slots) + lane_receiving_area(lane) + LANE_AREA;
}

#endif
