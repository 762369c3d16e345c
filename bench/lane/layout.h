/* SPDX-License-Identifier: MIT */
/* The layout of a lane's buffer. Only for the files that implement the lane. */
#ifndef BENCH_LANE_LAYOUT_H
#define BENCH_LANE_LAYOUT_H

#include "bench/lane/lane.h"
#include "core/pool/message.h"

/* Areas start on 4 KiB pages; several may share a larger page. */
#define LANE_AREA 4096
/* Room for a notification and the header of a datagram. */
#define LANE_LEAST_RECEIVE 64

static inline size_t lane_round_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

/* Returns the bytes of a message. */
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

/* Includes the flow's part of --buffer, which walks read from and write to. */
static inline size_t lane_receiving_area(const struct lane *lane)
{
	const struct parameters *p = lane->settings.parameters;
	size_t part = p->buffer == PARAMETER_AUTO
			      ? 0
			      : lane_round_up(p->buffer / pattern_pairs(p), LANE_AREA);
	size_t slots = lane_area(lane, lane->settings.received_slots);

	return part > slots ? part : slots;
}

/* Both areas of a queue pair and its notifications. */
static inline size_t lane_flow_size(const struct lane *lane)
{
	return lane_area(lane, lane->settings.sent_slots) + lane_receiving_area(lane) + LANE_AREA;
}

#endif
