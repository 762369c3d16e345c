/* SPDX-License-Identifier: MIT */
/* The figures of cases in tables: with the same digits in every output. */
#ifndef REPORTS_TABLE_CELLS_H
#define REPORTS_TABLE_CELLS_H

#include "reports/result/result.h"
#include "reports/table/grid.h"

/* Room for the head of a table. */
#define CELLS_HEAD 960
/* And for who is in it. */
#define CELLS_ENDS 400
/* And, in that, for how many there was none for. */
#define CELLS_MORE 32

/* What a bandwidth is shown in, such as Gb/s. */
struct table_unit;

/* An option's parser: a const struct table_unit *, which is NULL for Gb/s as well. */
const char *table_parse_unit(const char *text, void *unit);

/* NULL, as everywhere, is Gb/s. */
const char *table_unit_name(const struct table_unit *unit);
double table_unit_bytes(const struct table_unit *unit);

/* The tables that there are, of cases with figures. */
enum cells_table {
	CELLS_LATENCY,
	CELLS_BANDWIDTH,
	CELLS_LOAD,
	CELLS_CALLS, /* latencies of what a program calls, and its rate */
};

enum cells_table cells_table(const struct result_case *line);

/* Opens a table of that kind, without rows. */
void cells_open(struct grid *grid, const struct table_unit *unit, enum cells_table which);

/* The rest of the id behind size and modes: all parameters that differ from their default. */
const char *cells_extras(const struct result_case *line);

/* The completion modes of both ends. */
#define CELLS_MODES 160
void cells_modes(char text[static CELLS_MODES], const struct result_case *line);

/* The first three cells of a row, which name the case. */
void cells_names(struct grid *grid, const struct result_case *line);

/* The row of a case with trials. */
void cells_add(struct grid *grid, const struct table_unit *unit, const struct result *result,
	       const struct result_case *line);

/* All cases of a table; false if it has no rows. Close the grid in either case. */
bool cells_grid(struct grid *grid, const struct table_unit *unit, const struct result *result,
		enum cells_table which);

/* How even what has several threads, queue pairs or flows is; false: nothing has. */
bool cells_evenness(char text[static 160], const struct table_unit *unit,
		    const struct result_case *line);

/* "n01 -> n02: 23.1 Gb/s". */
#define FLOWS_TEXT (2 * FLOWS_NAME + 64)
void cells_flow(char text[static FLOWS_TEXT], const struct table_unit *unit,
		const struct result_case *line, size_t number);

/* "mean 12.34", of what another program has measured for some time: there may be nothing else. */
bool cells_lone_mean(const struct result_case *line, char text[static 64]);

/* The two ends, and what all cases have in common. */
void cells_head(char text[static CELLS_HEAD], const struct result *result);

/* The client and the server; or what another program has told of either. */
void cells_pair(char text[static CELLS_ENDS], const struct result *result);

/* Whether cases were measured before they had become steady; then the sentence. */
bool cells_unsteady(char text[static 256], const struct result *result);

bool cells_has_figures(const struct result_case *line);

/* Figures of other tables, with the same digits: microseconds, and anything else. */
void cells_put_us(struct grid *grid, double us);
void cells_put_amount(struct grid *grid, double amount);

#endif
