/* SPDX-License-Identifier: MIT */
/*
 * The hard fingerprint of a host: a hash of those facts that decide what is measured
 * there. Where two results have different ones, a difference between their figures says
 * nothing of what was to be compared. Names, numbers of hardware, and what only root can
 * read are none of them. Which they are is one table here.
 */
#ifndef REPORTS_FINGERPRINT_H
#define REPORTS_FINGERPRINT_H

#include <jansson.h>

/* 16 hexadecimal digits. */
#define FINGERPRINT_TEXT 17

/* Of an object as the document has it; empty where there are no such facts, or no memory. */
void fingerprint_hard(const json_t *facts, char text[static FINGERPRINT_TEXT]);

#endif
