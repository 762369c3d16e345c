/* SPDX-License-Identifier: MIT */
/*
 * The flows of a pattern: the messages that each thread of the client sent to each thread of the
 * server, the time that took, and the fairness (see fairness.h).
 */
#ifndef REPORTS_RESULT_FLOWS_H
#define REPORTS_RESULT_FLOWS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FLOWS_NAME 32

struct flow_share {
	char from[FLOWS_NAME]; /* "client 0" */
	char to[FLOWS_NAME];
	uint64_t messages;
	uint64_t duration_ns;
};

/* A zeroed struct has no flows. */
struct flows {
	size_t count;
	struct flow_share *flow;
};

int flows_open(struct flows *flows, size_t count, struct error *error);
void flows_close(struct flows *flows);

/* Adds the flows of another trial to into, which starts zeroed. -EINVAL: the threads differ. */
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
