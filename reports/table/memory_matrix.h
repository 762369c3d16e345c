/* SPDX-License-Identifier: MIT */
/*
 * A figure by kind of memory: a row for each kind of the client's, a column for each of the
 * server's. There is a matrix for each group of cases that differ in nothing else.
 */
#ifndef REPORTS_TABLE_MEMORY_MATRIX_H
#define REPORTS_TABLE_MEMORY_MATRIX_H

#include <jansson.h>
#include <stdbool.h>

#include "reports/table/cells.h"

/*
 * Returns the numbers of the cases of each matrix, in arrays by title; the caller owns the object.
 * NULL or empty: all cases use the same kinds.
 */
json_t *memory_matrix_groups(const struct result *result, const struct table_unit *unit);

/* Builds the matrix for one member of that object. The caller closes it. */
void memory_matrix_open(struct grid *grid, const struct table_unit *unit,
			const struct result *result, const json_t *group);

#define MEMORY_MATRIX_NOTE 96

/* Returns whether the matrix has no room for all kinds of the server, with a note that says so. */
bool memory_matrix_note(char note[static MEMORY_MATRIX_NOTE], const struct result *result,
			const json_t *group);

#endif
