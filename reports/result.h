/* SPDX-License-Identifier: MIT */
/*
 * What was seen: plain data, with no verbs in it. bench/ fills it in, reports/
 * makes tables and documents of it. Text is the owner's to keep alive.
 */
#ifndef REPORTS_RESULT_H
#define REPORTS_RESULT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hist.h"

enum result_status {
	RESULT_INTERRUPTED, /* zero: not run yet */
	RESULT_COMPLETE,
	RESULT_FAILED,
};

/* What a latency is. Two kinds are never compared. */
enum result_kind {
	RESULT_HALF,       /* half of a round trip */
	RESULT_FULL,       /* a whole one */
	RESULT_COMPLETION, /* from posting to the own completion */
};

/* What one end spent. */
struct result_cost {
	uint64_t messages; /* that the other figures are for, warm-up included */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t cq_events;
	uint64_t completions;
};

struct result_case {
	char id[96];
	const char *op;
	const char *metric;
	const char *cq;
	const char *server_cq;
	uint64_t size;
	enum result_kind kind;
	enum result_status status;
	char error[256]; /* of a failed one */
	uint64_t warmup_messages;
	uint64_t duration_ns; /* of what was measured */
	struct hist *latency; /* NULL: nothing measured */
	struct result_cost client;
	struct result_cost server;
};

/* One end of the connection. */
struct result_end {
	char host[64];
	char device[64];
	unsigned int port;
	char address[64];
	const char *link_layer;
	uint64_t rate_mbps;
	unsigned int mtu;
};

struct result {
	const char *version; /* of verbmark */
	char started[32];    /* ISO 8601, UTC */
	char finished[32];
	json_t *command; /* the command line: an array */
	enum result_status status;
	const char *clock;
	uint64_t clock_hz;
	double clock_drift_ppm; /* of the rate over the whole run */
	struct result_end client;
	struct result_end server;
	struct result_case *cases;
	size_t n_cases;
};

const char *result_status_name(enum result_status status);
const char *result_kind_name(enum result_kind kind);

void result_finish(struct result *result);

#endif
