/* SPDX-License-Identifier: MIT */
/*
 * What operations need of the other end's program and what they cost it, by what one
 * wants to do: each cell from the cases of a result.
 */
#ifndef REPORTS_FINDING_SEMANTICS_H
#define REPORTS_FINDING_SEMANTICS_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing of a result in which no case has found out what it needs. */
void semantics_print(FILE *out, const struct result *result);

/*
 * Whether times are shown at all: not where the software device was asked what operations
 * need, since nobody is to choose one by how fast it is there.
 */
bool semantics_has_times(const struct result *result);

#endif
