/* SPDX-License-Identifier: MIT */
/*
 * The results of a run, as plain data without verbs. bench/ fills them in, reports/ turns them
 * into tables and documents. Strings that are pointed to live as long as the program, or are owned
 * by texts and released with the result.
 */
#ifndef REPORTS_RESULT_RESULT_H
#define REPORTS_RESULT_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/hist.h"
#include "reports/result/breakdown.h"
#include "reports/result/case_id.h"
#include "reports/result/effective.h"
#include "reports/result/fingerprint.h"
#include "reports/result/flows.h"
#include "reports/result/pace.h"
#include "reports/result/rate_windows.h"
#include "reports/result/receivers.h"
#include "reports/result/shares.h"
#include "reports/result/statistic.h"

enum result_status {
	RESULT_INTERRUPTED, /* zero: not run yet */
	RESULT_COMPLETE,
	RESULT_FAILED,
	RESULT_SKIPPED, /* cannot run here, and was not tried */
};

/* The kind of a latency. Different kinds are never compared. */
enum result_kind {
	RESULT_HALF,       /* half a round trip */
	RESULT_FULL,       /* a full round trip */
	RESULT_COMPLETION, /* from post to local completion */
	RESULT_CALL,       /* the duration of a verbs call or of an rdma_cm step */
};

/* The cost at the client or the server. */
struct result_cost {
	uint64_t messages; /* the messages that caused the cost */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t cq_events;
	uint64_t completions;
};

struct result_warmup {
	uint64_t messages;
	uint64_t duration_ns;
	bool has_converged;
};

/* One run of a case on fresh queue pairs. */
struct result_trial {
	struct result_warmup warmup;
	uint64_t messages;
	uint64_t duration_ns;       /* of the measurement, without warm-up */
	double latency[STATISTICS]; /* NAN: unknown */
	double bytes_per_s;
	double messages_per_s;
	bool has_far; /* bidirectional: far_messages_per_s is the other direction */
	double far_messages_per_s;
	uint64_t sent; /* on UC and UD, including warm-up; 0: nothing can be lost */
	uint64_t lost;
	struct pace_trial pace; /* of an open-loop trial */
	struct result_cost client;
	struct result_cost server;
};

/* Where the client or the server ran. */
struct result_place {
	char cpus[128]; /* in the kernel's list format; empty: unknown */
	int numa_node;  /* of the buffer; -1: unknown */
};

struct result_case {
	char id[CASE_ID];
	const char *op;
	const char *metric;
	const char *cq;
	const char *server_cq;
	const char *transport;
	uint64_t size;
	json_t *parameters;   /* all of them, by name */
	char beside[CASE_ID]; /* case whose trials are interleaved with this one's; empty: none */
	const char *by;       /* the parameter in which the two differ */
	enum result_kind kind;
	enum result_status status;
	char error[256]; /* why the case failed or is skipped */
	uint64_t messages;
	uint64_t duration_ns;         /* sum over trials */
	bool is_imported;             /* measured by another program: no warm-up, no costs */
	bool has_figures;             /* latencies came without a histogram: see figures */
	double figures[STATISTICS];   /* NAN: unknown; see result_take_figures */
	struct hist *latency;         /* of all trials; NULL: not measured */
	struct hist *warmup;          /* latencies during warm-up, of all trials; NULL: none */
	struct rate_windows *windows; /* of all trials; NULL: not a bandwidth case */
	struct pace *pace;            /* of all trials; NULL: not an open-loop case */
	struct breakdown *breakdown;  /* of all trials; NULL: without --breakdown */
	struct result_cost client;
	struct result_cost server;
	json_t *counters; /* {"client", "server"}: device counters; or NULL */
	json_t *needs;    /* {"receive", "buffer", "seen"}: what it needs on the server; or NULL */
	struct result_place client_place;
	struct result_place server_place;
	struct effective client_chosen;
	struct effective server_chosen;
	uint64_t sent; /* on UC and UD */
	uint64_t lost;
	struct shares shares;       /* of all trials; zeroed: unknown, or a single queue pair */
	struct flows flows;         /* of all trials, if there is a pattern; zeroed: unknown */
	struct receivers receivers; /* of all trials of a multicast case; zeroed: none */
	struct result_trial *trials;
	size_t n_trials; /* successful ones only */
	char *text;      /* its part of the document; NULL: not made yet */
};

/* The client or the server. */
struct result_end {
	char host[64];
	char device[64];
	unsigned int port;
	const char *kind; /* of the device, such as "hardware" or "soft"; NULL: unknown */
	char address[64];
	const char *link_layer;
	uint64_t rate_mbps;
	unsigned int mtu;
	json_t *facts;                      /* host facts; NULL: unknown */
	char fingerprint[FINGERPRINT_TEXT]; /* of the facts before redaction; empty: unknown */
};

struct result {
	const char *version; /* of verbmark */
	char started[32];    /* ISO 8601, UTC */
	char finished[32];
	json_t *texts;    /* owns strings that are not the program's own */
	json_t *imported; /* the source, as in documents; NULL: measured by 'verbmark run' */
	json_t *command;  /* the command line: an array */
	json_t *plan;     /* as in a plan file */
	json_t *overflow; /* result of overflowing a short completion queue; NULL: not tried */
	json_t *warnings; /* findings about both hosts: an array, or NULL */
	enum result_status status;
	const char *clock;
	uint64_t clock_hz;
	double clock_resolution_ns; /* 0: unknown, as is the cost */
	uint64_t clock_cost_ns;     /* of one reading */
	double clock_drift_ppm;     /* over the whole run */
	struct result_end client;
	struct result_end server;
	struct result_case *cases;
	size_t n_cases;
};

const char *result_status_name(enum result_status status);
/* Returns interrupted if a case is, otherwise failed if a case is, otherwise complete. */
enum result_status result_status_of_cases(const struct result *result);

const char *result_kind_name(enum result_kind kind);

/* Returns the link rate of the slower of client and server; 0: unknown. */
uint64_t result_line_mbps(const struct result *result);

/* Returns whether the case has latencies, with or without a histogram. */
bool result_has_latency(const struct result_case *line);

/* Returns statistics[number] over all trials; NAN: unknown. */
double result_statistic(const struct result_case *line, size_t number);

/* Returns a statistic by its key. */
double result_named(const struct result_case *line, const char *key);

/*
 * Combines the trials of latencies without a histogram: the smallest minimum, the mean weighted by
 * messages, and otherwise the median over trials if all trials have the figure.
 */
int result_take_figures(struct result_case *line, struct error *error);

/* Returns the CPU time per message in ns; NAN without messages. */
double result_cpu_ns(const struct result_cost *cost);

void result_add_cost(struct result_cost *into, const struct result_cost *from);

/* Joins concurrent warm-ups: the longest duration, converged if both converged. */
void result_join_warmup(struct result_warmup *into, const struct result_warmup *from);

/* Adds a successful trial, and merges its histogram and windows (each may be NULL). */
int result_add_trial(struct result_case *line, const struct result_trial *trial,
		     const struct hist *latency, const struct rate_windows *windows,
		     struct error *error);

/* Adds the latencies of a trial's warm-up, if any. */
int result_add_warmup(struct result_case *line, const struct hist *warmup, struct error *error);

/*
 * Adds the shares of threads and queue pairs in a trial. Keeps nothing for a single queue pair, or
 * unless the shares of all trials are known, since they would not add up to the total.
 */
int result_add_shares(struct result_case *line, const struct shares *shares, bool is_first,
		      struct error *error);

/* Adds the flows of a pattern in a trial, likewise. */
int result_add_flows(struct result_case *line, const struct flows *flows, bool is_first,
		     struct error *error);

/* Frees all measurements of a case, as its trials are invalid unless the case completed. */
void result_drop_trials(struct result_case *line);

/* Adds counters by name to their sum, which is created if it is NULL. */
void result_add_counters(json_t **sum, const json_t *counters);

/*
 * Returns the received messages per second, the median over trials; with_far: in both directions.
 * NAN without trials.
 */
double result_rate(const struct result_case *line, bool with_far);

/* The same for the messages that the server sent. */
double result_far_rate(const struct result_case *line);

/* Returns the bytes that a message carries; NAN: none, its size is the size of a window. */
double result_payload(const struct result_case *line);

void result_finish(struct result *result);

#endif
