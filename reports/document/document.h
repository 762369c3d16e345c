/* SPDX-License-Identifier: MIT */
/*
 * A result as a JSON document, schema verbmark.result/1.
 */
#ifndef REPORTS_DOCUMENT_DOCUMENT_H
#define REPORTS_DOCUMENT_DOCUMENT_H

#include "core/base/error.h"
#include "reports/result/result.h"

#define DOCUMENT_SCHEMA "verbmark.result/1"

/* Makes one side, as in "hosts". */
json_t *document_make_end(const struct result_end *end);

/* Makes the whole document; NULL if memory runs out. */
json_t *document_make(const struct result *result);

/*
 * Makes and keeps the text of a case that will not change any more, so that a document written
 * after each case makes it only once.
 */
void document_keep(struct result_case *line);

/* Writes a result; path "-" is standard output, see save.h. */
int document_write(const struct result *result, const char *path, struct error *error);

/* Writes a document. */
int document_save(const json_t *document, const char *path, struct error *error);

#endif
