/* SPDX-License-Identifier: MIT */
/*
 * Members of JSON objects that somebody else wrote: each is asked for by its name and
 * its type, within bounds. What is missing, of another type or out of bounds is refused
 * with -EINVAL and a sentence that names it; text that would do something to a terminal
 * is refused as well. An object that is none has no members.
 */
#ifndef REPORTS_IO_JSON_MEMBER_H
#define REPORTS_IO_JSON_MEMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* From 0 to 2^63 - 1, as far as JSON's integers go. */
int json_member_count(const json_t *object, const char *name, uint64_t *count, struct error *error);

/* The same to a lower end. */
int json_member_small(const json_t *object, const char *name, unsigned int most,
		      unsigned int *count, struct error *error);

/* An integer will do. */
int json_member_number(const json_t *object, const char *name, double *number, struct error *error);

/* The same, and from 0 to below 2^63. */
int json_member_figure(const json_t *object, const char *name, double *figure, struct error *error);

int json_member_flag(const json_t *object, const char *name, bool *flag, struct error *error);

/* It has to fit. */
int json_member_text(const json_t *object, const char *name, char *text, size_t size,
		     struct error *error);

/* A short text that lives as long as the array texts, which it is added to. */
int json_member_word(const json_t *object, const char *name, json_t *texts, const char **word,
		     struct error *error);

/* One that begins with a letter or a digit: a spreadsheet takes others for formulas. */
int json_member_plain_word(const json_t *object, const char *name, json_t *texts, const char **word,
			   struct error *error);

/* Whether a spreadsheet that reads it may do something else than show it. */
bool json_member_is_formula(const char *text);

/* Whether a terminal would only show it. */
bool json_member_is_printable(const char *text);

/* To show it, whatever there is: nothing is refused, and what is missing is empty. */
const char *json_member_or_empty(const json_t *object, const char *name);

/* Borrowed from the object. */
int json_member_object(const json_t *object, const char *name, json_t **found, struct error *error);
int json_member_array(const json_t *object, const char *name, json_t **found, struct error *error);

#endif
