/* SPDX-License-Identifier: MIT */
/* A case as a document has it. */
#ifndef REPORTS_DOCUMENT_CASE_H
#define REPORTS_DOCUMENT_CASE_H

#include "reports/result/result.h"

/*
 * Where bins of histograms are put aside, an empty object stands in the place of each: they
 * are many where samples are, and as values take some ten times the memory of their text.
 */
struct document_bins {
	size_t count;
	struct document_place {
		const json_t *json;
		const struct hist *hist; /* of the case */
	} places[4];
};

/* aside is empty, or NULL: the whole case. NULL: no memory. */
json_t *document_make_case(const struct result_case *line, struct document_bins *aside);

/* Everything here is well below 2^63, which is as far as JSON's integers go. */
static inline json_t *document_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* NULL where a part of it has failed: what is not whole is not shown. */
static inline json_t *document_whole(json_t *made, int failed)
{
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

#endif
