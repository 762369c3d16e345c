/* SPDX-License-Identifier: MIT */
/*
 * Reads members of untrusted JSON objects, each by name and type, within bounds. A member that is
 * missing, of another type, out of bounds, or could affect a terminal is rejected with -EINVAL and
 * an error that names it. A value that is not an object has no members.
 */
#ifndef REPORTS_IO_JSON_MEMBER_H
#define REPORTS_IO_JSON_MEMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Reads a count from 0 to 2^63 - 1, the range of JSON's integers. */
int json_member_count(const json_t *object, const char *name, uint64_t *count, struct error *error);

/* Reads a count of at most most. */
int json_member_small(const json_t *object, const char *name, unsigned int most,
		      unsigned int *count, struct error *error);

/* Reads a real or an integer. */
int json_member_number(const json_t *object, const char *name, double *number, struct error *error);

/* Reads a number from 0 to below 2^63. */
int json_member_figure(const json_t *object, const char *name, double *figure, struct error *error);

int json_member_flag(const json_t *object, const char *name, bool *flag, struct error *error);

/* Copies a text, which must fit into size bytes. */
int json_member_text(const json_t *object, const char *name, char *text, size_t size,
		     struct error *error);

/* Reads a short text. It is appended to the array texts and lives as long. */
int json_member_word(const json_t *object, const char *name, json_t *texts, const char **word,
		     struct error *error);

/* Reads a word that starts with a letter or a digit, so that spreadsheets see no formula. */
int json_member_plain_word(const json_t *object, const char *name, json_t *texts, const char **word,
			   struct error *error);

/* Whether a spreadsheet would evaluate the text instead of showing it. */
bool json_member_is_formula(const char *text);

/* Whether a terminal shows the text without interpreting it. */
bool json_member_is_printable(const char *text);

/* Returns a text for display without any check; empty if it is missing. */
const char *json_member_or_empty(const json_t *object, const char *name);

/* Read a value that the object continues to own. */
int json_member_object(const json_t *object, const char *name, json_t **found, struct error *error);
int json_member_array(const json_t *object, const char *name, json_t **found, struct error *error);

#endif
