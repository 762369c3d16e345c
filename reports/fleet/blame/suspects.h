/* SPDX-License-Identifier: MIT */
/*
 * Finds the rails that explain bad measurements: as many as possible by as few rails as possible.
 * Measurements fall into channels, which are examined separately: failures, error counters,
 * and for each case the rail as sender and as receiver (latency: as either). Measurements count by
 * partner: several with the same node decide by majority. Owned by the caller, one thread.
 */
#ifndef REPORTS_FLEET_BLAME_SUSPECTS_H
#define REPORTS_FLEET_BLAME_SUSPECTS_H

#include "reports/fleet/blame/yardstick.h"

enum suspect_channel {
	SUSPECT_FAILURES,
	SUSPECT_COUNTERS,
	SUSPECT_CASES, /* from here on: two for each case: as sender, as receiver */
};

/* The result of a measurement in a channel. */
enum suspect_state {
	SUSPECT_UNKNOWN,
	SUSPECT_GOOD,
	SUSPECT_LOW, /* worse than the median by more than 5 %, though not bad */
	SUSPECT_BAD,
};

/* Partners of a rail in a channel. Partners that have a culprit's rail count only where good. */
struct suspect_tally {
	uint32_t bad;
	uint32_t low;
	uint32_t good;
	uint32_t vouched; /* bad with a partner that is good with another */
};

struct suspects {
	const struct fleet *fleet;
	struct yardsticks yardsticks;
	size_t n_rails;
	size_t n_channels;
	uint32_t *first; /* by node: number of its first rail in the fleet; one more at the end */
	uint32_t *node;  /* by rail */
	size_t *start;   /* by rail: its part of meets; one more at the end */
	uint64_t *meets; /* by rail and partner: the partner's rail << 32 | number of the pair */
	uint8_t *states; /* by pair, n_channels each */
	bool *has_good;  /* by rail and channel */
	bool *is_culprit;
	uint32_t *channel;   /* by rail: for a culprit, the channel that shows it */
	double *scores;      /* by rail */
	double *backgrounds; /* by channel: the median share of bad partners */
};

/* Finds the culprits. Call fleet_judge before. Returns 0 or -ENOMEM. */
int suspects_open(struct suspects *suspects, const struct fleet *fleet, struct error *error);
void suspects_close(struct suspects *suspects);

/* Returns the number in the fleet of a node's rail. */
uint32_t suspects_rail(const struct suspects *suspects, uint32_t node, uint8_t rail);

/* Returns whether a node is lost, has an error, or was never seen. */
bool suspects_is_out(const struct fleet_node *node);

struct suspect_tally suspects_tally(const struct suspects *suspects, uint32_t rail, size_t channel);

/* Returns whether a rail with this tally explains its bad measurements. */
bool suspects_explains(const struct suspects *suspects, size_t channel,
		       const struct suspect_tally *tally);

/* A rail's measurements with one other rail. */
struct suspect_run {
	uint32_t peer;
	const uint64_t *meets;
	size_t count;
};

/* Returns the next ones; start with a zeroed run. False: no more. */
bool suspects_next(const struct suspects *suspects, uint32_t rail, struct suspect_run *run);

/* Counts the measurements of a run in a channel of the rail. */
struct suspect_tally suspects_count(const struct suspects *suspects, uint32_t rail,
				    const struct suspect_run *run, size_t channel);

const struct fleet_pair *suspects_pair(const struct suspects *suspects, uint64_t meet);

enum suspect_state suspects_state(const struct suspects *suspects, uint32_t rail, uint64_t meet,
				  size_t channel);

/* Returns the number of the figure that a channel of the rail has in a pair. */
size_t suspects_figure(const struct suspects *suspects, uint32_t rail, uint64_t meet,
		       size_t channel);

/* Returns the channel of the partner for a channel of a rail. */
size_t suspects_opposite(const struct suspects *suspects, size_t channel);

#endif
