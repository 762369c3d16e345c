/* SPDX-License-Identifier: MIT */
/* Parts of a document as text. */
#ifndef REPORTS_DOCUMENT_TEXT_H
#define REPORTS_DOCUMENT_TEXT_H

#include <stdio.h>

#include "reports/result/result.h"

/* Writes a value; write errors are detected when the stream is flushed. */
int document_write_value(FILE *out, const json_t *value);

/* Returns the text, which the caller frees; NULL if memory runs out. */
char *document_text(json_t *json);

/* Returns the text of a case, without making JSON values for its histograms' bins. */
char *document_text_of_case(const struct result_case *line);

#endif
