/* SPDX-License-Identifier: MIT */
/*
 * A result from the document that was made of it. Any text at all may come: what is no
 * result, or does not add up, is refused with a negative errno and a sentence that
 * names the case, and what a hostile file can make this allocate is bounded. Members
 * that are not known here are ignored, those of a case kept with its parameters: within
 * a schema's version there are only more of them. What is loaded makes the document
 * again that it came from. It is result_finish's to release.
 */
#ifndef REPORTS_DOCUMENT_PARSE_H
#define REPORTS_DOCUMENT_PARSE_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* More of any of them are refused. A histogram in memory is 224 KiB. */
#define PARSE_BYTES_MOST      268435456 /* of a file: 256 MiB */
#define PARSE_CASES_MOST      10000
#define PARSE_HISTOGRAMS_MOST 10000 /* of all cases: 2.1 GiB */
#define PARSE_TRIALS_MOST     20000 /* of a case, of which merged runs have 1000 each at the most */
#define PARSE_WARNINGS_MOST   4096
#define PARSE_VALUES_MIB      3072 /* that all values of the JSON may take, as they come */

/* path "-" is standard input. The result is zeroed where it fails. */
int parse_file(struct result *result, const char *path, struct error *error);

/* The bytes of such a file, which the caller frees, whatever comes of it. */
int parse_read(const char *path, char **text, size_t *length, struct error *error);

/* The same from text in memory, and from JSON, which stays the caller's. */
int parse_text(struct result *result, const char *text, size_t length, struct error *error);
int parse_document(struct result *result, json_t *document, struct error *error);

/*
 * The values of a text that anybody may have written, in no more memory than is told above; is:
 * what it was to be, such as "a result". The document is NULL where it fails.
 */
int parse_json(const char *text, size_t length, const char *is, json_t **document,
	       struct error *error);

#endif
