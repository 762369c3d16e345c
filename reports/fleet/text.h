/* SPDX-License-Identifier: MIT */
/*
 * The text of a fleet document, whose pairs are parsed one by one: as JSON values, all of them
 * together would need twenty times the memory of their text.
 */
#ifndef REPORTS_FLEET_TEXT_H
#define REPORTS_FLEET_TEXT_H

#include "reports/fleet/fleet.h"

/* A document in two parts. */
struct fleet_text {
	const char *head; /* the document, with "pairs": [] */
	size_t length;    /* of the head */
	const char *pairs;
	const char *pairs_end;
	char *made; /* owned; NULL: the text has no pairs, and is the head */
};

/* Splits a text, which must outlive the parts. It may be anything. Returns 0 or -ENOMEM. */
int fleet_text_open(struct fleet_text *parts, const char *text, size_t length, struct error *error);

/*
 * Adds the pairs to a fleet, which has been parsed from the head. Returns 0 or a negative errno; the
 * caller finishes the fleet in any case.
 */
int fleet_text_add_pairs(struct fleet *fleet, const struct fleet_text *parts, struct error *error);

void fleet_text_close(struct fleet_text *parts);

#endif
