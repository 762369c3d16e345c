/* SPDX-License-Identifier: MIT */
/*
 * Adds the trials of a case to the record: their figures, and how many failed, did not stabilize,
 * had losses, or took too long. Long trials matter because two sides are only comparable if the
 * machine is in the same state.
 */
#ifndef BENCH_GATE_TALLY_H
#define BENCH_GATE_TALLY_H

#include "core/base/clock.h"
#include "reports/gate/record.h"
#include "reports/result/result.h"

/* A trial is long if it exceeds this, including its share of process overhead. */
#define TALLY_LONG_NS (200 * NS_PER_MS)

/* Returns whether the case has a complete trial. line may be NULL: not in the result. */
bool tally_has_trial(const struct result_case *line);

/* Returns each case's share of the time that a run of `count` cases spent outside of trials. */
uint64_t tally_share(const struct result *result, uint64_t took_ns, size_t count);

/* Adds a failed trial. */
void tally_failure(struct gate_case *line, enum gate_side side, const char *why);

/*
 * Adds a trial to pair of runs number `round`; the case must have room for it. found is the case in
 * the result, or NULL if it is missing.
 */
void tally_trial(struct gate_case *line, enum gate_side side, size_t round,
		 const struct result_case *found, uint64_t share_ns);

#endif
