/* SPDX-License-Identifier: MIT */
/*
 * Whether two results are of alike circumstances, so that a difference between their
 * figures is one of what was to be compared.
 */
#ifndef REPORTS_ALIKE_H
#define REPORTS_ALIKE_H

#include "core/error.h"
#include "reports/result.h"

struct alike {
	const struct result *result;
	const char *name; /* of its file */
};

/*
 * -EXDEV: they are not; the sentence names an end, and what of it is what in which file.
 * What a result does not tell is no difference.
 */
int alike_check(const struct alike *before, const struct alike *now, struct error *error);

/* Whether both ends have told their circumstances. */
bool alike_is_known(const struct result *result);

#endif
