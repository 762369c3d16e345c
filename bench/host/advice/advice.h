/* SPDX-License-Identifier: MIT */
/*
 * What of the circumstances spoils a measurement, why, and the command that mends it:
 * the warnings of a run and the findings of the doctor. The rules are rows of const
 * tables (advice_*.c). What a fact does not tell, no rule finds; facts may come from
 * another host, and whatever they hold, the findings are printable and bounded.
 */
#ifndef BENCH_HOST_ADVICE_ADVICE_H
#define BENCH_HOST_ADVICE_ADVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reports/result/result.h"

/* What is known of one end. Each may be NULL: not known. */
struct advice_end {
	const json_t *facts;  /* of facts_gather */
	const json_t *before; /* of facts_noise */
	const json_t *after;  /* of facts_noise */
	json_t *counters;     /* of counters_moved; it is only read */
	bool is_lone;         /* its port is not one that the other end's talks to */
};

/*
 * An array of {"code", "spoils", "host", "what", "why", "mend"}; "spoils" is false where
 * it is only to be known. The server may be NULL: then this is about one host. What two
 * ends on one host have in common is told once. NULL without memory.
 */
json_t *advice_make(const struct advice_end *client, const struct advice_end *server);

/* One finding that is not of a rule; the texts are made printable, and cut. */
json_t *advice_finding(const char *code, bool spoils, const char *host, const char *what,
		       const char *why, const char *mend);

/* How many of them spoil a measurement. */
size_t advice_count_spoiling(const json_t *findings);

/* How much there is of something in a case. */
typedef uint64_t advice_measure(const struct result_case *line, const void *of);

/* The first of the cases that have most of it, and how much; NULL: none has that much. */
const struct result_case *advice_worst(const struct result *result, advice_measure *measure,
				       const void *of, uint64_t least, uint64_t *most);

#endif
