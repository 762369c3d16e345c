/* SPDX-License-Identifier: MIT */
/*
 * Any text within XML 1.0, in an attribute or between tags: it is escaped, and what no
 * document may have, such as control characters and what is not UTF-8, becomes '?'.
 */
#ifndef REPORTS_XML_H
#define REPORTS_XML_H

#include <stdio.h>

/* What stands for a character of markup; NULL: it is none. */
const char *xml_entity(char letter);

void xml_print(FILE *out, const char *text);

/* name="text", with a space in front. */
void xml_attribute(FILE *out, const char *name, const char *text);

#endif
