/* SPDX-License-Identifier: MIT */
/*
 * Results of what other programs have measured, as they have printed it: poorer ones, since
 * what was not told stays unknown. A format is a file and a line in a table. Any text at all
 * may come: what is not understood is refused with a negative errno and a sentence that names
 * the line, and nothing of it is left out in silence.
 */
#ifndef REPORTS_IMPORT_IMPORT_H
#define REPORTS_IMPORT_IMPORT_H

#include <stddef.h>

#include "core/base/error.h"
#include "reports/result/result.h"

/* More of any of them are refused. With samples, a row takes 224 KiB. */
#define IMPORT_BYTES_MOST   268435456 /* of a file: 256 MiB */
#define IMPORT_ROWS_MOST    10000     /* of all files */
#define IMPORT_SAMPLED_MOST 1000      /* of them with their samples */

/*
 * Beside what was printed of a trial, in "imported" of its case: what the last digit of its
 * rate makes, in messages per second.
 */
#define IMPORT_RATE_STEP "rate_step"

/* Several files, one after another, are one result. */
struct import {
	struct result result;
	size_t n_rows;
	size_t n_sampled;
	unsigned int notes; /* bits of the format: what the result is to tell of itself */
};

struct import_format {
	const char *name;
	/* Adds all that is in the text. Where it fails, what was added is of no use. */
	int (*add)(struct import *import, const char *text, size_t length, struct error *error);
	/* Once all are there: what is to be known of them becomes warnings. */
	int (*finish)(struct import *import, struct error *error);
};

extern const struct import_format import_perftest;

/* version: of verbmark, and lives as long as the result. */
int import_begin(struct import *import, const struct import_format *format, const char *version,
		 struct error *error);

/* path "-" is standard input. */
int import_file(struct import *import, const struct import_format *format, const char *path,
		struct error *error);

/* The result is the caller's. -ENODATA: there was nothing to import. */
int import_finish(struct import *import, const struct import_format *format, struct result *result,
		  struct error *error);

/* From any state after import_begin. */
void import_close(struct import *import);

/* The case of that id, or a new one, which has the id alone; NULL: no memory, or too many. */
struct result_case *import_case(struct import *import, const char *id, struct error *error);

struct import_warning {
	const char *code;
	bool spoils;
	const char *what;
	const char *why;
	const char *mend;
};

/* Adds a warning: spoils tells whether tables show it. */
int import_warn(struct import *import, const struct import_warning *warning, struct error *error);

/*
 * What one end has told holds for the other one as far as both have to be alike; and what the
 * device is made of where its name tells.
 */
void import_fill_end(struct result_end *end, const struct result_end *other);

#endif
