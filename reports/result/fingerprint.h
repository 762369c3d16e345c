/* SPDX-License-Identifier: MIT */
/*
 * The hard fingerprint of a host: a hash of those facts that decide what is measured
 * there. Where two results have different ones, a difference between their figures says
 * nothing of what was to be compared. Names, numbers of hardware, and what only root can
 * read are none of them. Which they are is one table here.
 */
#ifndef REPORTS_RESULT_FINGERPRINT_H
#define REPORTS_RESULT_FINGERPRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 16 hexadecimal digits. */
#define FINGERPRINT_TEXT 17

/* Of an object as the document has it; empty where there are no such facts, or no memory. */
void fingerprint_hard(const json_t *facts, char text[static FINGERPRINT_TEXT]);

/* The hash that it is, of any bytes. */
uint64_t fingerprint_hash(const char *bytes, size_t length);

/* What two hosts differ in: the first fact of the table above, of how many. */
struct fingerprint_change {
	char fact[64];
	char before[48]; /* as JSON of ASCII alone */
	char now[48];
	size_t count;
};

/* false: in none of those facts, or it is not known of both of them. */
bool fingerprint_compare(struct fingerprint_change *change, const json_t *before,
			 const json_t *now);

/* Whether that is one of those facts. member NULL: all of the section. */
bool fingerprint_has(const char *section, const char *member);

#endif
