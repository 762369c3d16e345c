/* SPDX-License-Identifier: MIT */
/*
 * Writes results without names and addresses. reports/document/redact.h redacts the document; the
 * option table tells which words of the command line are private.
 */
#ifndef BENCH_CMD_REDACT_H
#define BENCH_CMD_REDACT_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* Writes the redacted document as document_write does. */
int redact_write(const struct result *result, const char *path, struct error *error);

#endif
