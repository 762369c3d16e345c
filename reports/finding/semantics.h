/* SPDX-License-Identifier: MIT */
/*
 * A table of what each operation needs from the server's program and what it costs there, grouped
 * by task. Each cell comes from the cases of a result.
 */
#ifndef REPORTS_FINDING_SEMANTICS_H
#define REPORTS_FINDING_SEMANTICS_H

#include <stdio.h>

#include "reports/result/result.h"

/* Prints nothing if no case of the result has probed what its operation needs. */
void semantics_print(FILE *out, const struct result *result);

#endif
