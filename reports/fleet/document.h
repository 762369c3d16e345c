/* SPDX-License-Identifier: MIT */
/* A fleet check as a document of the schema verbmark.fleet/1, and back. */
#ifndef REPORTS_FLEET_DOCUMENT_H
#define REPORTS_FLEET_DOCUMENT_H

#include <stdio.h>

#include "reports/fleet/fleet.h"

#define FLEET_SCHEMA "verbmark.fleet/1"

/* Writes the document. Returns 0 or -ENOMEM; errors of the stream are the caller's. */
int fleet_document_print(FILE *out, const struct fleet *fleet);

/* Writes it to a file, as document_write does for results. */
int fleet_document_write(const struct fleet *fleet, const char *path, struct error *error);

/* Limits of a document. A node needs 7 KiB of memory, and a pair less than four times its text. */
#define FLEET_BYTES_MOST    ((size_t)4 << 30) /* of a file: 4 GiB */
#define FLEET_NODES_MOST    16384
#define FLEET_CASES_MOST    64
#define FLEET_FINDINGS_MOST 65536 /* spreads, and blames */
#define FLEET_HISTOGRAM     16384 /* characters of a histogram */

/* The numbers that decide how large a document becomes. */
struct fleet_size {
	size_t n_nodes;
	size_t n_cases;
	uint64_t n_pairs;
	bool has_histograms;
};

/*
 * Checks that a document of this size can be read again, even if each pair fails with the longest
 * error. Returns 0 or -EFBIG.
 */
int fleet_document_check(const struct fleet_size *size, struct error *error);

/*
 * Reads a document, which may come from anywhere: it is valid, or an error is returned and the
 * fleet is zeroed. Names consist of letters, digits and ".:_-", so that commands can quote them.
 * Unknown members are ignored.
 */
int fleet_document_parse(struct fleet *fleet, const json_t *document, struct error *error);

/*
 * The parts that ranks exchange: a node with its rails, and a pair with its figures. The parsers
 * accept what any program may have sent. The pair's parser needs the fleet's nodes and cases.
 */
json_t *fleet_node_encode(const struct fleet_node *node);
int fleet_node_parse(struct fleet_node *node, const json_t *json, struct error *error);
json_t *fleet_pair_encode(const struct fleet *fleet, const struct fleet_pair *pair);
int fleet_pair_parse(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
		     struct error *error);

#endif
