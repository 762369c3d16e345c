/* SPDX-License-Identifier: MIT */
/*
 * What a case of a gate has of its trials, one by one: their figures, and how many of them
 * failed, were not steady, had losses, or took longer than one is to take. That is so long
 * because two sides are only as alike as what the machine does meanwhile.
 */
#ifndef BENCH_GATE_TALLY_H
#define BENCH_GATE_TALLY_H

#include "core/base/clock.h"
#include "reports/gate/record.h"
#include "reports/result/result.h"

/* With its share of what its process takes besides. */
#define TALLY_LONG_NS (200 * NS_PER_MS)

/* Whether it was run well. line: NULL: it is not in a result. */
bool tally_has_trial(const struct result_case *line);

/* Of what a run of so many cases took, what each of them has beside its trial. */
uint64_t tally_share(const struct result *result, uint64_t took_ns, size_t count);

/* One more, which has gone wrong. */
void tally_failure(struct gate_case *line, enum gate_side side, const char *why);

/* One more, in that round, which has room for it; found: in the result; NULL: it is not there. */
void tally_trial(struct gate_case *line, enum gate_side side, size_t round,
		 const struct result_case *found, uint64_t share_ns);

#endif
