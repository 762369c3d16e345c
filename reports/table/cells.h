/* SPDX-License-Identifier: MIT */
/*
 * What of a case tables show, as texts: the same figures with the same digits,
 * whatever the table is made of.
 */
#ifndef REPORTS_TABLE_CELLS_H
#define REPORTS_TABLE_CELLS_H

#include "reports/result/result.h"

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

#define CELLS_MAX 16

struct cell {
	char text[160];
	bool is_name; /* words, not a figure: they begin where their column does */
	int width;    /* that its column has at least; 0: a name is as long as it is */
};

struct cells {
	size_t count;
	struct cell cell[CELLS_MAX];
};

/* The tables that there are, of cases with figures. */
enum cells_table {
	CELLS_LATENCY,
	CELLS_BANDWIDTH,
	CELLS_LOAD,
	CELLS_CALLS, /* latencies of what a program calls, and its rate */
};

enum cells_table cells_table(const struct result_case *line);

/* What a case is called: its first three cells, without any figure. */
void cells_names(struct cells *cells, const struct result_case *line);

/* Of the table in which the case is: a latency's is not a bandwidth's. */
void cells_title(struct cells *cells, const struct table_unit *unit,
		 const struct result_case *line);

/* Of a case with trials. */
void cells_fill(struct cells *cells, const struct table_unit *unit, const struct result *result,
		const struct result_case *line);

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

/* For other tables, cells of the same kind: a word, the title of figures, and figures. */
void cells_put_name(struct cells *cells, const char *text);
void cells_put_title(struct cells *cells, const char *text);
void cells_put_us(struct cells *cells, double us);
void cells_put_amount(struct cells *cells, double amount);

/* What a bandwidth is shown in, and how many bytes per second that is; NULL: Gb/s. */
const char *cells_unit(const struct table_unit *unit, double *bytes);

#endif
