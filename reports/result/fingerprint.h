/* SPDX-License-Identifier: MIT */
/*
 * The hard fingerprint of a host: a hash of the facts that determine its measurements. If two
 * results have different fingerprints, the hosts alone may explain a difference between them. Host
 * names, serial numbers and facts that only root can read are not included. A table in
 * fingerprint.c lists the hard facts.
 */
#ifndef REPORTS_RESULT_FINGERPRINT_H
#define REPORTS_RESULT_FINGERPRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 16 hexadecimal digits. */
#define FINGERPRINT_TEXT 17

/* Computes the fingerprint of a document's facts; empty without hard facts or out of memory. */
void fingerprint_hard(const json_t *facts, char text[static FINGERPRINT_TEXT]);

/* Returns the hash that fingerprints use, of any bytes. */
uint64_t fingerprint_hash(const char *bytes, size_t length);

/* The first hard fact in which two hosts differ, and the number of such facts. */
struct fingerprint_change {
	char fact[64];
	char before[48]; /* ASCII-only JSON */
	char now[48];
	size_t count;
};

/* Returns false if no hard fact differs, or if either side has no hard facts. */
bool fingerprint_compare(struct fingerprint_change *change, const json_t *before,
			 const json_t *now);

/* Returns whether a fact is hard. member NULL: whether the whole section is. */
bool fingerprint_has(const char *section, const char *member);

#endif
