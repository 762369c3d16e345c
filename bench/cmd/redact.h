/* SPDX-License-Identifier: MIT */
/*
 * Documents for others, without what tells whose they are. reports/document/redact.h does it;
 * which words of the command line are private is known by its options only.
 */
#ifndef BENCH_CMD_REDACT_H
#define BENCH_CMD_REDACT_H

#include "core/base/error.h"
#include "reports/result/result.h"

/* As document_write. */
int redact_write(const struct result *result, const char *path, struct error *error);

#endif
