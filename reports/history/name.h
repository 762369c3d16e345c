/* SPDX-License-Identifier: MIT */
/*
 * Names and labels of runs in a history. A name consists of the start time of the run and a hash of
 * its document, such as 20261123T101244Z-0123456789abcdef: names sort by time, and each document
 * has exactly one name. A document may contain any bytes.
 */
#ifndef REPORTS_HISTORY_NAME_H
#define REPORTS_HISTORY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "reports/result/result.h"

/* Sizes including the terminator. */
#define HISTORY_NAME  34
#define HISTORY_LABEL 128

struct history_name {
	char text[HISTORY_NAME];
	int64_t number; /* sorts like the name */
};

/* Identifies what was measured; empty members are unknown. */
struct history_label {
	char version[HISTORY_LABEL];
	char commit[HISTORY_LABEL];
};

/* Whether a text is a time such as 2026-11-23T10:12:44Z. */
bool history_name_time(const char *started);

/* Makes the name of a run. -EINVAL: the result has no valid start time. */
int history_name(struct history_name *name, const struct result *result, const char *document,
		 size_t length, struct error *error);

/*
 * Sets a label; NULL empties it. -EINVAL: the text is too long, not printable, or like a
 * spreadsheet formula; the error names the option.
 */
int history_label_set(char label[static HISTORY_LABEL], const char *text, const char *option,
		      struct error *error);

#endif
