/* SPDX-License-Identifier: MIT */
/* Parts of a document as text. */
#ifndef REPORTS_DOCUMENT_TEXT_H
#define REPORTS_DOCUMENT_TEXT_H

#include <stdio.h>

#include "reports/result/result.h"

/* What the file does not take is found when it is flushed. */
int document_write_value(FILE *out, const json_t *value);

/* To be freed; NULL: no memory. */
char *document_text(json_t *json);

/* The same of a case, of whose own histograms no value is made for each bin. */
char *document_text_of_case(const struct result_case *line);

#endif
