/* SPDX-License-Identifier: MIT */
/*
 * Prints any text as XML 1.0, in an attribute or between tags. Markup is escaped. Bytes that XML
 * does not allow, such as control characters and invalid UTF-8, become '?'.
 */
#ifndef REPORTS_EXPORT_XML_H
#define REPORTS_EXPORT_XML_H

#include <stddef.h>
#include <stdio.h>

/* Returns the entity for a character of markup; NULL: none is needed. */
const char *xml_entity(char letter);

/* Returns the length of the printable character at the start of the text, or 0. */
size_t xml_measure(const char *text);

void xml_print(FILE *out, const char *text);

/* Prints text like xml_print, but keeps the control characters in kept. */
void xml_print_but(FILE *out, const char *text, const char *kept);

/* Prints name="text" with a leading space. */
void xml_attribute(FILE *out, const char *name, const char *text);

#endif
