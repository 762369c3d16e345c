/* SPDX-License-Identifier: MIT */
/*
 * Makes results from perftest's output, as text or JSON. Facts that perftest does not print stay
 * unknown. Input may be any bytes: what cannot be parsed is rejected with a negative errno and an
 * error that names the line, and nothing is imported.
 */
#ifndef REPORTS_IMPORT_IMPORT_H
#define REPORTS_IMPORT_IMPORT_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Larger files and more rows are rejected. */
#define IMPORT_BYTES_MOST 268435456 /* of a file: 256 MiB */
#define IMPORT_ROWS_MOST  10000     /* of all files */

/*
 * A member of a case's "imported", which keeps the printed figures of each trial: the rate, in
 * messages per second, of one step of the last printed digit.
 */
#define IMPORT_RATE_STEP "rate_step"

/* Warnings of a result. */
enum import_note {
	IMPORT_LATENCY,
	IMPORT_RATE,
	IMPORT_NOTES,
};

/* Several files, one after another, make a single result. */
struct import {
	struct result result;
	size_t n_rows;
	bool has_note[IMPORT_NOTES];
};

/* Starts an import. version is that of verbmark and must outlive the result. */
int import_begin(struct import *import, const char *version, struct error *error);

/* Reads a file; path "-" is standard input. After a failure the import can only be closed. */
int import_file(struct import *import, const char *path, struct error *error);

/* Hands over the result, which the caller owns. -ENODATA: nothing was imported. */
int import_finish(struct import *import, struct result *result, struct error *error);

/* Releases the import in any state after import_begin. */
void import_close(struct import *import);

/* Copies what must be the same on both sides, and derives the device's kind from its name. */
void import_fill_end(struct result_end *end, const struct result_end *other);

#endif
