/* SPDX-License-Identifier: MIT */
/*
 * The flows of a case between several hosts: the messages that each client sent to each server, the
 * time that took, and the fairness (see fairness.h).
 */
#ifndef REPORTS_RESULT_FLOWS_H
#define REPORTS_RESULT_FLOWS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FLOWS_NAME 128

struct flow_share {
	char from[FLOWS_NAME]; /* the client */
	char to[FLOWS_NAME];
	uint64_t messages;
	uint64_t duration_ns;
};

/* A zeroed struct has no flows. */
struct flows {
	size_t count;
	struct flow_share *flow;
	uint64_t spread_ns; /* largest spread of start times in any trial; 0: unknown */
};

int flows_open(struct flows *flows, size_t count, struct error *error);
void flows_close(struct flows *flows);

/* Adds the flows of another trial to into, which starts zeroed. -EINVAL: the hosts differ. */
int flows_add(struct flows *into, const struct flows *from, struct error *error);

/* Returns messages per second. */
double flows_rate(const struct flow_share *flow);

/* Returns NAN if no message was sent. */
double flows_fairness(const struct flows *flows);

/* Return the lowest and the highest rate of a flow, in messages per second. */
double flows_slowest(const struct flows *flows);
double flows_fastest(const struct flows *flows);

/* Convert to and from JSON. For decoding, flows is zeroed; the caller closes it in any case. */
json_t *flows_encode(const struct flows *flows, uint64_t message_bytes);
int flows_decode(struct flows *flows, const json_t *json, struct error *error);

#endif
