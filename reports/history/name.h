/* SPDX-License-Identifier: MIT */
/*
 * Names and labels of runs in a history. A name is the time at which the run was started and a
 * hash of its document, such as 20261123T101244Z-0123456789abcdef:
 * names sort as runs do, and one document has one name. A document may hold any bytes.
 */
#ifndef REPORTS_HISTORY_NAME_H
#define REPORTS_HISTORY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "reports/result/result.h"

/* With its terminator. */
#define HISTORY_NAME  34
#define HISTORY_LABEL 128

struct history_name {
	char text[HISTORY_NAME];
	int64_t number; /* numbers sort as names do */
};

/* Describes what was measured; empty members say nothing. */
struct history_label {
	char version[HISTORY_LABEL];
	char commit[HISTORY_LABEL];
};

/* Returns whether a text is a time such as 2026-11-23T10:12:44Z. */
bool history_name_time(const char *started);

/* -EINVAL: the result has no time at which it was started. */
int history_name(struct history_name *name, const struct result *result, const char *document,
		 size_t length, struct error *error);

/* text NULL: empties the label. -EINVAL names the option: too long, a formula, not printable. */
int history_label_set(char label[static HISTORY_LABEL], const char *text, const char *option,
		      struct error *error);

#endif
