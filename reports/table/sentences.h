/* SPDX-License-Identifier: MIT */
/* Sentences about a result that all that shows one has alike: each is told to say. */
#ifndef REPORTS_TABLE_SENTENCES_H
#define REPORTS_TABLE_SENTENCES_H

#include <stdio.h>

#include "reports/result/result.h"

typedef void said(void *owner, const char *text);

/* The knees of its loads, and those of its numbers of queue pairs. */
void said_knees(const struct result *result, said *say, void *owner);

/* How even the shares of threads, queue pairs and flows are; of several hosts each flow. */
void said_shares(const struct result *result, said *say, void *owner);

/* Of what another program has measured and told the mean alone. */
void said_means(const struct result *result, said *say, void *owner);

/* What an answer of the kind prints: line by line; nothing where it prints nothing. */
void said_printed(const struct result *result,
		  void (*print)(FILE *out, const struct result *result), said *say, void *owner);

#endif
