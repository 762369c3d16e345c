/* SPDX-License-Identifier: MIT */
/*
 * What was seen: plain data, with no verbs in it. bench/ fills it in, reports/
 * makes tables and documents of it. Text that is pointed to lives as long as the
 * program, or is owned by texts, and released with the result.
 */
#ifndef REPORTS_RESULT_RESULT_H
#define REPORTS_RESULT_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/hist.h"
#include "reports/result/case_id.h"
#include "reports/result/effective.h"
#include "reports/result/fingerprint.h"
#include "reports/result/flows.h"
#include "reports/result/pace.h"
#include "reports/result/rate_windows.h"
#include "reports/result/shares.h"
#include "reports/result/statistic.h"

enum result_status {
	RESULT_INTERRUPTED, /* zero: not run yet */
	RESULT_COMPLETE,
	RESULT_FAILED,
	RESULT_SKIPPED, /* it cannot be run at all, and was not tried */
};

/* What a latency is. Two kinds are never compared. */
enum result_kind {
	RESULT_HALF,       /* half of a round trip */
	RESULT_FULL,       /* a whole one */
	RESULT_COMPLETION, /* from posting to the own completion */
	RESULT_CALL,       /* a call of verbs, or a step of rdma_cm, from its begin to its end */
};

/* What one end spent. */
struct result_cost {
	uint64_t messages; /* that the other figures are for */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t voluntary_switches;
	uint64_t involuntary_switches;
	uint64_t cq_events;
	uint64_t completions;
};

/* Before what is measured. */
struct result_warmup {
	uint64_t messages;
	uint64_t duration_ns;
	bool has_converged;
};

/* One run of a case on fresh queue pairs. */
struct result_trial {
	struct result_warmup warmup;
	uint64_t messages;
	uint64_t duration_ns;       /* of what was measured */
	double latency[STATISTICS]; /* NAN: not known */
	double bytes_per_s;
	double messages_per_s;
	bool has_far; /* the other direction, with */
	double far_messages_per_s;
	uint64_t sent; /* on UC and UD, with the warm-up; 0: nothing can be lost */
	uint64_t lost;
	struct pace_trial pace; /* of a load */
	struct result_cost client;
	struct result_cost server;
};

/* Where one end ran. */
struct result_place {
	char cpus[128]; /* as the kernel writes lists of them; empty: nothing is known */
	int numa_node;  /* of its buffer; -1: not known */
};

struct result_case {
	char id[CASE_ID];
	const char *op;
	const char *metric;
	const char *cq;
	const char *server_cq;
	const char *transport;
	uint64_t size;
	json_t *parameters;   /* all of them, by their names */
	char beside[CASE_ID]; /* the case that its trials were run in turn with; empty: none */
	const char *by;       /* what they differ in */
	enum result_kind kind;
	enum result_status status;
	char error[256]; /* of a failed one, or why it is skipped */
	uint64_t messages;
	uint64_t duration_ns;         /* the sum over trials */
	bool is_imported;             /* another program has measured it: no warm-up, no costs */
	bool has_figures;             /* of latencies, without their histogram: figures */
	double figures[STATISTICS];   /* NAN: not known; see result_take_figures */
	struct hist *latency;         /* of all trials; NULL: none was measured */
	struct hist *warmup;          /* latencies before that, of all trials; NULL: none */
	struct rate_windows *windows; /* of all trials; NULL: no bandwidth was */
	struct pace *pace;            /* of all trials; NULL: it was no load */
	struct result_cost client;
	struct result_cost server;
	json_t *counters; /* {"client", "server"}: what their devices counted; or NULL */
	json_t *needs;    /* {"receive", "buffer", "seen"}: what it needs there; or NULL */
	struct result_place client_place;
	struct result_place server_place;
	struct effective client_chosen;
	struct effective server_chosen;
	uint64_t sent; /* on UC and UD */
	uint64_t lost;
	struct shares shares; /* of all trials; zeroed: not known, or nothing to divide */
	struct flows flows;   /* of all trials, where there is a pattern; zeroed: not known */
	struct result_trial *trials;
	size_t n_trials; /* that have ended well */
	char *text;      /* its part of a document; NULL: it is not made yet */
};

/* One end of the connection. */
struct result_end {
	char host[64];
	char device[64];
	unsigned int port;
	const char *kind; /* of the device, such as "hardware" and "soft"; NULL: not known */
	char address[64];
	const char *link_layer;
	uint64_t rate_mbps;
	unsigned int mtu;
	json_t *facts;                      /* its circumstances; NULL: not known */
	char fingerprint[FINGERPRINT_TEXT]; /* of them as they were found; empty: not known */
};

struct result {
	const char *version; /* of verbmark */
	char started[32];    /* ISO 8601, UTC */
	char finished[32];
	json_t *texts;    /* what owns the texts, if they are not the program's own */
	json_t *imported; /* of what it was made, as a document has it; NULL: by run */
	json_t *command;  /* the command line: an array */
	json_t *plan;     /* as a plan file has it */
	json_t *overflow; /* of a completion queue that was too short; NULL: none was tried */
	json_t *warnings; /* findings about both ends: an array, or NULL */
	json_t *parties;  /* of several hosts, as a document has them: an array, or NULL */
	enum result_status status;
	const char *clock;
	uint64_t clock_hz;
	double clock_resolution_ns; /* 0: not known, and so with its cost */
	uint64_t clock_cost_ns;     /* of one reading */
	double clock_drift_ppm;     /* of the rate over the whole run */
	struct result_end client;
	struct result_end server;
	struct result_case *cases;
	size_t n_cases;
};

const char *result_status_name(enum result_status status);
/* Of the whole: interrupted if a case is, else failed if one has. */
enum result_status result_status_of_cases(const struct result *result);

const char *result_kind_name(enum result_kind kind);

/* Of the slower end's link, or that of the one among several hosts; 0: not known. */
uint64_t result_line_mbps(const struct result *result, const struct result_case *line);

/* Whether there are latencies, with their histogram or without. */
bool result_has_latency(const struct result_case *line);

/* The one of that number in statistics[], of all trials; NAN: not known. */
double result_statistic(const struct result_case *line, size_t number);

/* The same by its key. */
double result_named(const struct result_case *line, const char *key);

/*
 * Of latencies that came without a histogram what can be told of all trials together: the
 * least, the mean by messages, and of all else the median over trials, where all have it.
 */
int result_take_figures(struct result_case *line, struct error *error);

/* Processor time for a message, in nanoseconds; NAN: there were none. */
double result_cpu_ns(const struct result_cost *cost);

void result_add_cost(struct result_cost *into, const struct result_cost *from);

/* Of warm-ups at the same time: the longest one, steady where all of them are. */
void result_join_warmup(struct result_warmup *into, const struct result_warmup *from);

/* Adds a trial that has ended well; its histogram and windows (or NULL) are merged. */
int result_add_trial(struct result_case *line, const struct result_trial *trial,
		     const struct hist *latency, const struct rate_windows *windows,
		     struct error *error);

/* Adds the latencies of a trial's warm-up, if there were any. */
int result_add_warmup(struct result_case *line, const struct hist *warmup, struct error *error);

/*
 * Adds what each thread, and each queue pair, had of a trial, the first one or another. Of
 * one alone nothing is kept; nor where it is not known of all trials: it would not add up.
 */
int result_add_shares(struct result_case *line, const struct shares *shares, bool is_first,
		      struct error *error);

/* Adds what each flow of a pattern had, likewise. */
int result_add_flows(struct result_case *line, const struct flows *flows, bool is_first,
		     struct error *error);

/* What a case has that did not end well is no measurement. */
void result_drop_trials(struct result_case *line);

/*
 * Adds counters to their sum, which is made when it is NULL. Names that are there once
 * stay as they are.
 */
void result_add_counters(json_t **sum, const json_t *counters);

/*
 * Messages per second of a bandwidth, over all trials: what arrived of what was sent; and
 * with those of the other direction.
 */
double result_rate(const struct result_case *line, bool with_far);

void result_finish(struct result *result);

#endif
