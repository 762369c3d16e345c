/* SPDX-License-Identifier: MIT */
/*
 * A result as a JSON document, schema verbmark.result/1.
 */
#ifndef REPORTS_DOCUMENT_DOCUMENT_H
#define REPORTS_DOCUMENT_DOCUMENT_H

#include "core/base/error.h"
#include "reports/result/result.h"

#define DOCUMENT_SCHEMA "verbmark.result/1"

/* One end, as hosts has it. */
json_t *document_make_end(const struct result_end *end);

/* The whole document, or NULL without memory for it. */
json_t *document_make(const struct result *result);

/*
 * Makes the text of a case that has ended, and will not change: a document that is
 * written after each case has to make it only once.
 */
void document_keep(struct result_case *line);

/* path "-" is standard output; see save.h. */
int document_write(const struct result *result, const char *path, struct error *error);

/* The same of one that is made already. */
int document_save(const json_t *document, const char *path, struct error *error);

#endif
