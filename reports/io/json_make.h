/* SPDX-License-Identifier: MIT */
/* Builds JSON values from text and numbers that JSON cannot represent unchanged. */
#ifndef REPORTS_IO_JSON_MAKE_H
#define REPORTS_IO_JSON_MAKE_H

#include <jansson.h>
#include <stdarg.h>

/* Returns a string; invalid UTF-8 is made printable. NULL: no memory. */
json_t *json_make_text(const char *text);

/* Appends a text of at most 511 bytes to an array, which is created if NULL. */
void json_make_append(json_t **array, const char *format, va_list values)
	__attribute__((format(printf, 2, 0)));

/* Returns a number, or NULL if the value is not finite. */
json_t *json_make_number(double value);

#endif
