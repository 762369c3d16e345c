/* SPDX-License-Identifier: MIT */
/*
 * What the files of a history are called, and what their labels say. A run's name is the
 * time at which it was started and a hash of its document: "20261123T101244Z-0123456789abcdef",
 * so that names sort as runs do, and one document has one name. Any bytes may come; what is
 * no name, time or label is refused.
 */
#ifndef REPORTS_HISTORY_NAME_H
#define REPORTS_HISTORY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define HISTORY_NAME  34 /* with its end */
#define HISTORY_LABEL 128

/* What was measured, as who added the run has it; empty: nothing was said of it. */
struct history_label {
	char version[HISTORY_LABEL];
	char commit[HISTORY_LABEL];
};

/* Whether a text is a time that names are made of, such as 2026-11-23T10:12:44Z. */
bool history_name_time(const char *started);

/* Of a document and its run.started. -EINVAL: that is no time such as 2026-11-23T10:12:44Z. */
int history_name(char name[static HISTORY_NAME], const char *started, const char *document,
		 size_t length, struct error *error);

/* Whether a text is a name, and which number it has: numbers sort as names do. */
bool history_name_number(const char *name, int64_t *number);

/* Whether that is the document that was given the name, unchanged. */
bool history_name_is_of(const char *name, const char *document, size_t length);

/* A label as JSON, in its file. */
int history_label_read(struct history_label *label, const char *text, size_t length,
		       struct error *error);

/* The other way, which the caller frees; NULL: no memory. */
char *history_label_make(const struct history_label *label);

#endif
