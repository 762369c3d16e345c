/* SPDX-License-Identifier: MIT */
/*
 * A result as a JSON document, schema verbmark.result/1. It is written to a
 * temporary name beside its own and renamed, so that nobody ever sees half of one.
 */
#ifndef REPORTS_DOCUMENT_H
#define REPORTS_DOCUMENT_H

#include "core/error.h"
#include "reports/result.h"

#define DOCUMENT_SCHEMA "verbmark.result/1"

/* The whole document, or NULL without memory for it. */
json_t *document_make(const struct result *result);

/* path "-" is standard output. */
int document_write(const struct result *result, const char *path, struct error *error);

/* The same of one that is made already. */
int document_save(const json_t *document, const char *path, struct error *error);

/* Whether the path could be written to, before anything is measured. */
int document_check(const char *path, struct error *error);

#endif
