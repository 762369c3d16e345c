/* SPDX-License-Identifier: MIT */
/* A case as a document has it. */
#ifndef REPORTS_DOCUMENT_CASE_H
#define REPORTS_DOCUMENT_CASE_H

#include "reports/result.h"

/* NULL: no memory. */
json_t *document_make_case(const struct result_case *line);

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
