/* SPDX-License-Identifier: MIT */
/*
 * Of a case among several ends: what went from each one to each that it talks to, how long
 * that took, and how even it is (see fairness.h).
 */
#ifndef REPORTS_RESULT_FLOWS_H
#define REPORTS_RESULT_FLOWS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FLOWS_NAME 128

struct flow_share {
	char from[FLOWS_NAME]; /* who drives: a client */
	char to[FLOWS_NAME];
	uint64_t messages;
	uint64_t duration_ns;
};

/* Zeroed, there are none. */
struct flows {
	size_t count;
	struct flow_share *flow;
	/* Of all trials the most between the first one's begin and the last one's; 0: none. */
	uint64_t spread_ns;
};

int flows_open(struct flows *flows, size_t count, struct error *error);
void flows_close(struct flows *flows);

/* Adds those of other trials; into is zeroed at first. -EINVAL: of other ends. */
int flows_add(struct flows *into, const struct flows *from, struct error *error);

/* Messages per second. */
double flows_rate(const struct flow_share *flow);

/* NAN where nothing was done. */
double flows_fairness(const struct flows *flows);

/* The least and the most messages per second of one. */
double flows_slowest(const struct flows *flows);
double flows_fastest(const struct flows *flows);

/* For a document, and back: flows is zeroed, and closed by the caller in any case. */
json_t *flows_encode(const struct flows *flows, uint64_t message_bytes);
int flows_decode(struct flows *flows, const json_t *json, struct error *error);

#endif
