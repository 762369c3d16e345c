/* SPDX-License-Identifier: MIT */
/*
 * Any text within XML 1.0, in an attribute or between tags: it is escaped, and what no
 * document may have, such as control characters and what is not UTF-8, becomes '?'.
 */
#ifndef REPORTS_EXPORT_XML_H
#define REPORTS_EXPORT_XML_H

#include <stddef.h>
#include <stdio.h>

/* What stands for a character of markup; NULL: it is none. */
const char *xml_entity(char letter);

/* Bytes of the printable character that the text begins with; 0: it is none, or at its end. */
size_t xml_measure(const char *text);

void xml_print(FILE *out, const char *text);

/* The same, but that some control characters stay as they are. */
void xml_print_but(FILE *out, const char *text, const char *kept);

/* name="text", with a space in front. */
void xml_attribute(FILE *out, const char *name, const char *text);

#endif
