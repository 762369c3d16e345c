/* SPDX-License-Identifier: MIT */
/*
 * Words and limits of fleet documents, for document.c and the parsers, and members of untrusted
 * JSON that have the types of fleets. As in json_member.h, a function that rejects a member returns
 * a negative errno and sets an error that names it.
 */
#ifndef REPORTS_FLEET_MEMBER_H
#define REPORTS_FLEET_MEMBER_H

#include "reports/fleet/fleet.h"

#define FLEET_FAULTS 4

/* Names of enum fleet_presence, and of the bits of enum fleet_fault. */
extern const char *const fleet_presence_names[3];
extern const char *const fleet_fault_names[FLEET_FAULTS];

/* Makes the names of a pair's values; NULL: no memory. */
json_t *fleet_columns_make(void);

bool member_has(const json_t *json, const char *name);

/* Whether the text is a name, which goes into commands for shells and into spreadsheets. */
bool member_is_name(const char *text);
int member_name(const json_t *json, const char *name, char *text, size_t size, struct error *error);
int member_optional_name(const json_t *json, const char *name, char *text, size_t size,
			 struct error *error);

/* Reads a text that may be missing, but not empty, and makes it printable. */
int member_remark(const json_t *json, const char *name, char *text, size_t size,
		  struct error *error);

/* Reads a number below limit, such as a node's. */
int member_index(const json_t *json, const char *name, size_t limit, size_t *index,
		 struct error *error);

/* Reads a figure that may be missing. */
int member_figure(const json_t *json, const char *name, double *figure, struct error *error);

/* Finds an array of at most most values. */
int member_find_array(const json_t *json, const char *name, size_t most, json_t **found,
		      struct error *error);

/* An array, and a zeroed struct for each of its values. */
struct member_list {
	json_t *json; /* owned by the document */
	void *structs;
	size_t count;
};

/* Finds an array, and allocates structs of size bytes, which the caller owns. */
int member_open_list(struct member_list *list, const json_t *json, const char *name, size_t most,
		     size_t size, struct error *error);

/* Finds a word in a list, and sets number to its place. */
int member_find_word(const char *word, const char *const *words, size_t count,
		     unsigned int *number);

#endif
