/* SPDX-License-Identifier: MIT */
/*
 * Results made from what perftest printed, as text or as JSON. What perftest does not print stays
 * unknown. Input may be any bytes: what is not understood is refused with a negative errno and a
 * sentence that names the line, and then nothing is imported.
 */
#ifndef REPORTS_IMPORT_IMPORT_H
#define REPORTS_IMPORT_IMPORT_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Larger files and more rows are refused. */
#define IMPORT_BYTES_MOST 268435456 /* of a file: 256 MiB */
#define IMPORT_ROWS_MOST  10000     /* of all files */

/*
 * In "imported" of a case, beside what was printed of each trial: the rate, in messages per
 * second, that one step of the last printed digit stands for.
 */
#define IMPORT_RATE_STEP "rate_step"

/* The warnings of a result. */
enum import_note {
	IMPORT_LATENCY,
	IMPORT_RATE,
	IMPORT_NOTES,
};

/* Several files, one after another, make one result. */
struct import {
	struct result result;
	size_t n_rows;
	bool has_note[IMPORT_NOTES];
};

/* version: of verbmark; must outlive the result. */
int import_begin(struct import *import, const char *version, struct error *error);

/* Reads a file; path "-" is standard input. After a failure the import can only be closed. */
int import_file(struct import *import, const char *path, struct error *error);

/* Hands over the result, which the caller owns. -ENODATA: nothing was imported. */
int import_finish(struct import *import, struct result *result, struct error *error);

/* Releases the import in any state after import_begin. */
void import_close(struct import *import);

/* Copies what must be equal at both ends, and derives the device's kind from its name. */
void import_fill_end(struct result_end *end, const struct result_end *other);

#endif
