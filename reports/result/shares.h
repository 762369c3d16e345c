/* SPDX-License-Identifier: MIT */
/*
 * What each thread, and each queue pair, had of a case: messages, and for how long the
 * thread was at it. How even that is fairness.h says.
 */
#ifndef REPORTS_RESULT_SHARES_H
#define REPORTS_RESULT_SHARES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* As many threads, and as many queue pairs of each, as a document may have. */
#define SHARES_MOST 16384

/* Zeroed, nothing is known. */
struct shares {
	unsigned int threads;
	unsigned int qps;      /* of each */
	uint64_t *duration_ns; /* of each thread */
	uint64_t *messages;    /* of each queue pair, those of a thread beside each other */
};

/* All at nothing. Accepts what was used before. */
int shares_open(struct shares *shares, unsigned int threads, unsigned int qps, struct error *error);
void shares_close(struct shares *shares);

/* Adds those of another trial; into is zeroed at first. -EINVAL: of other numbers. */
int shares_add(struct shares *into, const struct shares *from, struct error *error);

/* Whether there is anything to divide. */
bool shares_are_several(const struct shares *shares);

uint64_t shares_of_thread(const struct shares *shares, unsigned int thread);

/* Messages per second. */
double shares_thread_rate(const struct shares *shares, unsigned int thread);
double shares_qp_rate(const struct shares *shares, unsigned int thread, unsigned int qp);

/* Jain's index over threads, and over all queue pairs. NAN where nothing was done. */
double shares_thread_fairness(const struct shares *shares);
double shares_qp_fairness(const struct shares *shares);

/* As tables show it: "fairness 0.998 of 2 threads, 0.995 of 32 queue pairs". */
void shares_print(const struct shares *shares, char text[static 96]);

/* For a document, and back: shares is zeroed, and closed by the caller in any case. */
json_t *shares_encode(const struct shares *shares, uint64_t message_bytes);
int shares_decode(struct shares *shares, const json_t *json, struct error *error);

#endif
