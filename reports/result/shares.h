/* SPDX-License-Identifier: MIT */
/*
 * The shares of threads and queue pairs in a case: messages, and the time that each thread
 * measured. For the fairness of shares see fairness.h.
 */
#ifndef REPORTS_RESULT_SHARES_H
#define REPORTS_RESULT_SHARES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* The most queue pairs, of all threads, that a document may have. */
#define SHARES_MOST 16384

/* In a zeroed struct, nothing is known. */
struct shares {
	unsigned int threads;
	unsigned int qps;      /* per thread */
	uint64_t *duration_ns; /* by thread */
	uint64_t *messages;    /* by thread, then by queue pair */
};

/* Sets all shares to 0. Frees what the struct had before, which must be zeroed at first. */
int shares_open(struct shares *shares, unsigned int threads, unsigned int qps, struct error *error);
void shares_close(struct shares *shares);

/*
 * Adds the shares of another trial to into, which starts zeroed. -EINVAL: the numbers of threads or
 * queue pairs differ.
 */
int shares_add(struct shares *into, const struct shares *from, struct error *error);

/* Returns whether there is more than one queue pair. */
bool shares_are_several(const struct shares *shares);

uint64_t shares_of_thread(const struct shares *shares, unsigned int thread);

/* Return messages per second. */
double shares_thread_rate(const struct shares *shares, unsigned int thread);
double shares_qp_rate(const struct shares *shares, unsigned int thread, unsigned int qp);

/* Return Jain's index over threads and over all queue pairs; NAN without messages. */
double shares_thread_fairness(const struct shares *shares);
double shares_qp_fairness(const struct shares *shares);

/* Formats the text for tables: "fairness 0.998 of 2 threads, 0.995 of 32 queue pairs". */
void shares_print(const struct shares *shares, char text[static 96]);

/* Convert to and from JSON. For decoding, shares is zeroed; the caller closes it in any case. */
json_t *shares_encode(const struct shares *shares, uint64_t message_bytes);
int shares_decode(struct shares *shares, const json_t *json, struct error *error);

#endif
