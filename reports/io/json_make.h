/* SPDX-License-Identifier: MIT */
/* Values of documents, made of what JSON may not take as it is. */
#ifndef REPORTS_IO_JSON_MAKE_H
#define REPORTS_IO_JSON_MAKE_H

#include <jansson.h>

/* A text of any bytes: one that is no UTF-8 is made printable. NULL: no memory. */
json_t *json_make_text(const char *text);

/* NULL: the number is not finite, and so not known. */
json_t *json_make_number(double value);

#endif
