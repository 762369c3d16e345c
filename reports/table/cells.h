/* SPDX-License-Identifier: MIT */
/* The cells of result tables, formatted with the same digits in every output. */
#ifndef REPORTS_TABLE_CELLS_H
#define REPORTS_TABLE_CELLS_H

#include "reports/result/result.h"
#include "reports/table/grid.h"

/* Size of the heading of a table. */
#define CELLS_HEAD 960
/* Size of the part that names the hosts. */
#define CELLS_ENDS 400

/* The unit of bandwidths, such as Gb/s. */
struct table_unit;

/* Parses an option's value into a const struct table_unit *. Returns an error text, or NULL. */
const char *table_parse_unit(const char *text, void *unit);

/* Here and everywhere below, a unit of NULL means Gb/s. */
const char *table_unit_name(const struct table_unit *unit);
double table_unit_bytes(const struct table_unit *unit);

/* The tables of cases that have measurements. */
enum cells_table {
	CELLS_LATENCY,
	CELLS_BANDWIDTH,
	CELLS_LOAD,
	CELLS_CALLS, /* latencies and rates of verbs calls */
};

#define CELLS_TABLES (CELLS_CALLS + 1)

enum cells_table cells_table(const struct result_case *line);

/* Opens a table of that kind, without rows. */
void cells_open(struct grid *grid, const struct table_unit *unit, const struct result *result,
		enum cells_table which);

/* Returns the end of the id, after size and modes: all parameters that differ from the default. */
const char *cells_extras(const struct result_case *line);

/* Formats the completion modes: "poll", or "poll/event" if client and server differ. */
#define CELLS_MODES 160
void cells_modes(char text[static CELLS_MODES], const struct result_case *line);

/* Adds the first three cells of a row, which name the case. extras: those after the operation. */
void cells_names(struct grid *grid, const struct result_case *line, const char *extras);

/* Adds the row of a case with trials. */
void cells_add(struct grid *grid, const struct table_unit *unit, const struct result *result,
	       const struct result_case *line, const char *extras);

/*
 * Builds the whole table; has_windows: with the range of throughput windows. Returns false if it
 * has no rows. The caller closes it in either case.
 */
bool cells_grid(struct grid *grid, const struct table_unit *unit, const struct result *result,
		enum cells_table which, bool has_windows);

/* Returns the link rate; 0: unknown, or of a software device, which has no link. */
uint64_t cells_line_mbps(const struct result *result);

/* Formats the fairness. Returns false if the case has a single thread, queue pair and flow. */
bool cells_evenness(char text[static 160], const struct table_unit *unit,
		    const struct result_case *line);

/*
 * Formats "mean 12.34" for an imported latency that has a mean but no median, as other programs
 * report. Returns false for other cases.
 */
bool cells_lone_mean(const struct result_case *line, char text[static 64]);

/* Formats the heading: the hosts, and the settings that all cases have in common. */
void cells_head(char text[static CELLS_HEAD], const struct result *result);

/* Formats client and server; for imported results, the source and the device. */
void cells_pair(char text[static CELLS_ENDS], const struct result *result);

/* Formats a warning about cases that did not stabilize during warm-up. Returns false if all did. */
bool cells_unsteady(char text[static 256], const struct result *result);

/* Returns whether the case completed and has trials. */
bool cells_has_figures(const struct result_case *line);

/* Add cells with three significant digits to other tables: microseconds, and other values. */
void cells_put_us(struct grid *grid, double us);
void cells_put_amount(struct grid *grid, double amount);

#endif
