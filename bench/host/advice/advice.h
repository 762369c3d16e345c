/* SPDX-License-Identifier: MIT */
/*
 * Rules that detect circumstances that skew a measurement, with the reason and the fix: the
 * warnings of a run and the findings of the doctor. Rules are rows of const tables. A missing fact
 * yields no finding. Facts may come from another host; whatever they hold, findings are printable
 * and bounded.
 */
#ifndef BENCH_HOST_ADVICE_ADVICE_H
#define BENCH_HOST_ADVICE_ADVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reports/result/result.h"

/* The facts about one end. Any of them may be NULL: unknown. */
struct advice_end {
	const json_t *facts;  /* from facts_gather */
	const json_t *before; /* from facts_noise */
	const json_t *after;  /* from facts_noise */
	json_t *counters;     /* from counters_moved; not modified */
	bool is_lone;         /* its port is not connected to the port of the other end */
};

/*
 * Returns an array of {"code", "spoils", "host", "what", "why", "mend"}; "spoils" is false for
 * mere notes. The server may be NULL: then the findings are about one host. A finding that two ends
 * on one host share is included once. Returns NULL if out of memory.
 */
json_t *advice_make(const struct advice_end *client, const struct advice_end *server);

/* Makes a finding without a rule. The texts are made printable and truncated. */
json_t *advice_finding(const char *code, bool spoils, const char *host, const char *what,
		       const char *why, const char *mend);

/* Returns how many findings skew the measurement. */
size_t advice_count_spoiling(const json_t *findings);

/* Returns the amount of something in a case. */
typedef uint64_t advice_measure(const struct result_case *line, const void *of);

/* Returns the first case with the largest amount, and sets *most; NULL: all are below least. */
const struct result_case *advice_worst(const struct result *result, advice_measure *measure,
				       const void *of, uint64_t least, uint64_t *most);

#endif
