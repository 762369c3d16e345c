/* SPDX-License-Identifier: MIT */
/*
 * A result as a JSON document, schema verbmark.result/1.
 */
#ifndef REPORTS_DOCUMENT_H
#define REPORTS_DOCUMENT_H

#include "core/error.h"
#include "reports/result.h"

#define DOCUMENT_SCHEMA "verbmark.result/1"

/* The whole document, or NULL without memory for it. */
json_t *document_make(const struct result *result);

/* path "-" is standard output; see save.h. */
int document_write(const struct result *result, const char *path, struct error *error);

/* The same of one that is made already. */
int document_save(const json_t *document, const char *path, struct error *error);

#endif
