/* SPDX-License-Identifier: MIT */
/*
 * Parses a result from its document. The text is untrusted: anything that is not a result, or is
 * inconsistent, is rejected with a negative errno and an error that names the case, and the memory
 * that a hostile file can use is limited. Unknown members are ignored, because later versions of a
 * schema only add members; those of a case are kept with its parameters. A parsed result makes the
 * same document again. The caller calls result_finish.
 */
#ifndef REPORTS_DOCUMENT_PARSE_H
#define REPORTS_DOCUMENT_PARSE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Limits. A histogram needs 224 KiB of memory. */
#define PARSE_BYTES_MOST      268435456 /* of a file: 256 MiB */
#define PARSE_CASES_MOST      10000
#define PARSE_HISTOGRAMS_MOST 10000 /* of all cases: 2.1 GiB */
#define PARSE_TRIALS_MOST     20000 /* of a case; a single run has at most 1000 */
#define PARSE_WARNINGS_MOST   4096
#define PARSE_VALUES_MIB      3072 /* memory of all JSON values */

/* Parses a file; path "-" is standard input. On failure the result is zeroed. */
int parse_file(struct result *result, const char *path, struct error *error);

/* Reads a file of at most PARSE_BYTES_MOST; the caller frees the text, even on failure. */
int parse_read(const char *path, char **text, size_t *length, struct error *error);

/* Parse text in memory, or JSON, which the caller continues to own. */
int parse_text(struct result *result, const char *text, size_t length, struct error *error);
int parse_document(struct result *result, json_t *document, struct error *error);

/*
 * Parses untrusted JSON within PARSE_VALUES_MIB of memory. is: what the text should be, e.g. "a
 * result". On failure the document is NULL.
 */
int parse_json(const char *text, size_t length, const char *is, json_t **document,
	       struct error *error);

#endif
