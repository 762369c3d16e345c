/* SPDX-License-Identifier: MIT */
/* A case as a member of a document. */
#ifndef REPORTS_DOCUMENT_CASE_H
#define REPORTS_DOCUMENT_CASE_H

#include "reports/result/result.h"

/*
 * Bins of histograms that are put aside; an empty object takes the place of each. With many samples
 * there are many bins, and JSON values need about ten times the memory of their text.
 */
struct document_bins {
	size_t count;
	struct document_place {
		const json_t *json;
		const struct hist *hist; /* owned by the case */
	} places[4];
};

/* Makes a case. aside: empty, or NULL to include all bins. Returns NULL if memory runs out. */
json_t *document_make_case(const struct result_case *line, struct document_bins *aside);

/* All values are well below 2^63, the limit of JSON's integers. */
static inline json_t *document_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Returns made, or releases it and returns NULL if a part of it failed. */
static inline json_t *document_whole(json_t *made, int failed)
{
	if (!failed)
		return made;
	json_decref(made);
	return NULL;
}

#endif
