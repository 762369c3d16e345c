/* SPDX-License-Identifier: MIT */
/*
 * A check of a fleet, as plain data without verbs: its nodes and their rails, the cases that each
 * pair measured, what was found, and who is to blame. bench/fleet fills it in; the other files here
 * judge it and turn it into tables and documents. Owned by one thread.
 */
#ifndef REPORTS_FLEET_FLEET_H
#define REPORTS_FLEET_FLEET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "reports/result/case_id.h"
#include "reports/result/fingerprint.h"

#define FLEET_NAME 64
/* A rail number that stands for all rails of a node. */
#define FLEET_ALL_RAILS  255
#define FLEET_MOST_RAILS 32

/* A port of a node. Rails have the same numbers on all nodes. */
struct fleet_rail {
	char device[FLEET_NAME];
	unsigned int port;
	char address[FLEET_NAME]; /* IP address of the port, or its GID; empty: none */
	char link_layer[16];
	uint64_t rate_mbps; /* 0: unknown */
	int numa_node;      /* -1: unknown */
	char pci[16];       /* such as 0000:17:00.0; empty: unknown */
	char gpu[16];       /* PCI address of the nearest GPU; empty: none */
	uint16_t pkey;      /* the default partition key */
	bool is_soft;       /* not hardware: its rate is no limit */
};

/* The state of a node. */
enum fleet_presence {
	FLEET_ABSENT,  /* zero: never seen */
	FLEET_PRESENT, /* until the end */
	FLEET_LOST,    /* died or stopped answering */
};

/* A rank of the job. Usually there is one per host. */
struct fleet_node {
	char name[FLEET_NAME];  /* unique: the host, with ".1" appended for its second rank */
	char host[FLEET_NAME];  /* as the scheduler names it */
	char group[FLEET_NAME]; /* such as its leaf switch; empty: none */
	enum fleet_presence presence;
	char error[256];                    /* why it is lost or cannot measure; empty: it can */
	char fingerprint[FINGERPRINT_TEXT]; /* empty: unknown */
	struct fleet_rail rails[FLEET_MOST_RAILS];
	size_t n_rails;
};

/* A case that each pair measures. */
struct fleet_case {
	char id[CASE_ID];
	bool is_latency;   /* else bandwidth: more is good */
	bool is_both_ways; /* bidirectional: each pair has a figure per direction */
	uint64_t size;     /* of messages, in bytes */
	double floor; /* worst good figure: bytes per second, ns, or a share of the line rate; NAN: none */
	bool floor_is_line; /* the floor is a fraction of the slower port's rate */
};

enum fleet_status {
	FLEET_NOT_RUN, /* zero: the check ended earlier */
	FLEET_MEASURED,
	FLEET_FAILED,  /* could not connect, stalled, ... */
	FLEET_SKIPPED, /* a node was lost before, or lacks the rail */
};

/* Why a measurement is bad, as bits. */
enum fleet_fault {
	FLEET_FAULT_FAILED = 1 << 0,
	FLEET_FAULT_FLOOR = 1 << 1,
	FLEET_FAULT_OUTLIER = 1 << 2,
	FLEET_FAULT_COUNTERS = 1 << 3, /* error counters rose */
};

/* One measurement of all cases between a rail of one node and a rail of another. */
struct fleet_pair {
	uint32_t round; /* from 0; retests follow the schedule's rounds */
	uint32_t from;  /* node that drove it; number in fleet.nodes */
	uint32_t to;    /* node that served it; the same number: loopback */
	uint8_t from_rail;
	uint8_t to_rail;
	uint8_t retest; /* 0: of the schedule; 1, 2: a retest */
	uint8_t status; /* enum fleet_status */
	uint8_t faults; /* set by fleet_judge: enum fleet_fault; 0: good */
	char *error;    /* why it failed; NULL: it did not */
	/*
	 * By case, two each: from -> to, and to -> from (NAN unless bidirectional). Bytes per second,
	 * or the median latency in ns. NAN: not measured. NULL unless measured.
	 */
	double *figures;
	/* As figures: HdrHistogram strings or nulls. NULL: not kept. */
	json_t *histograms;
	json_t *errors; /* error counters that rose: {"from": {name: n}, "to": {...}}; or NULL */
};

enum fleet_culprit {
	FLEET_CULPRIT_NODE, /* all its rails */
	FLEET_CULPRIT_RAIL, /* one rail of a node */
	FLEET_CULPRIT_LINK, /* between two rails, both of which are good with others */
	FLEET_CULPRIT_PAIR, /* one of two, with too little data to tell which */
};

/* A cause of bad measurements. */
struct fleet_blame {
	enum fleet_culprit culprit;
	uint32_t node;
	uint8_t rail;  /* FLEET_ALL_RAILS for a node */
	uint32_t peer; /* of a link or pair */
	uint8_t peer_rail;
	uint32_t bad;     /* bad measurements that this explains */
	uint32_t good;    /* good measurements with the same node, rail or link */
	uint8_t faults;   /* of the bad ones, together */
	char reason[256]; /* with figures: "41.2 Gb/s, median 97.5 Gb/s (12 of 12 pairs)" */
};

/* The spread of one figure over all good and bad measurements of a rail (or group of pairs). */
struct fleet_spread {
	uint32_t number; /* of the case */
	uint8_t rail;    /* of the sender */
	bool is_between; /* of pairs between groups; else within one, or there are no groups */
	bool is_loopback;
	size_t count;
	double median;
	double mad; /* median absolute deviation */
	double least;
	double most;
};

struct fleet {
	const char *version; /* of verbmark */
	char started[32];    /* ISO 8601, UTC */
	char finished[32];
	json_t *command;   /* the command line: an array */
	char launcher[32]; /* "slurm", "openmpi", ...; empty: unknown */
	char pattern[32];  /* of the schedule, such as "pairs" */
	char rails[16];    /* same, one or cross */
	uint32_t n_rounds; /* of the schedule */
	bool is_interrupted;
	bool is_simulated;
	char interruption[256]; /* why it ended early */
	struct fleet_node *nodes;
	size_t n_nodes;
	struct fleet_case *cases;
	size_t n_cases;
	struct fleet_pair *pairs; /* fleet_add_pair grows it */
	size_t n_pairs;
	size_t pairs_room;
	/* Set by fleet_judge and fleet_blame. */
	struct fleet_spread *spreads;
	size_t n_spreads;
	struct fleet_blame *blames; /* most serious first */
	size_t n_blames;
	json_t *warnings; /* array of strings, such as rails that differ; or NULL */
	json_t *texts;    /* owns the version of a parsed fleet; or NULL */
};

/* Adds a zeroed measurement and returns it; NULL: out of memory. Valid until the next call. */
struct fleet_pair *fleet_add_pair(struct fleet *fleet);

/* Frees what a measurement owns, and zeroes it. */
void fleet_clear_pair(struct fleet_pair *pair);

/* Allocates the pair's figures, all NAN. Returns 0 or -ENOMEM. */
int fleet_add_figures(const struct fleet *fleet, struct fleet_pair *pair);

/* Adds a warning, formatted as by printf. */
void fleet_warn(struct fleet *fleet, const char *format, ...) __attribute__((format(printf, 2, 3)));

void fleet_finish(struct fleet *fleet); /* accepts a zeroed fleet */

/* Returns the line rate between two rails in bytes per second; 0: unknown. */
double fleet_line_rate(const struct fleet *fleet, const struct fleet_pair *pair);

/* Whether any node has the software device. */
bool fleet_uses_soft(const struct fleet *fleet);

/* Returns the exit status: 0 all good, 1 something is bad, 3 nothing could be judged. */
int fleet_exit_status(const struct fleet *fleet);

/* Whether a node was lost, and no blame says so. */
bool fleet_is_only_lost(const struct fleet *fleet, size_t node);

const char *fleet_culprit_name(enum fleet_culprit culprit);
const char *fleet_status_name(enum fleet_status status);

/*
 * Writes the faults as words: "failed, below the floor". Returns text.
 */
const char *fleet_faults_text(uint8_t faults, char *text, size_t size);

#endif
