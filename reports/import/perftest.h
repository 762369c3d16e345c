/* SPDX-License-Identifier: MIT */
/*
 * What perftest's programs tell, whichever form they tell it in: how a run was made, and rows
 * of figures. Its text (import_perftest_text.c) and what it calls JSON (import_perftest_json.c)
 * become these, and these become cases. No column is taken for what it is not: t_max is the
 * largest but one and t_stdev has whole microseconds alone, so that neither is a statistic of
 * ours, and both stay beside the trial as they were printed.
 */
#ifndef REPORTS_IMPORT_PERFTEST_H
#define REPORTS_IMPORT_PERFTEST_H

#include <jansson.h>
#include <stdbool.h>

#include "reports/import/import.h"

/* 11 days: further no sample goes. */
#define PERFTEST_US_MOST 1e12

enum perftest_column {
	PERFTEST_SIZE,
	PERFTEST_ITERATIONS,
	PERFTEST_MIN,
	PERFTEST_MAX,
	PERFTEST_TYPICAL,
	PERFTEST_AVERAGE,
	PERFTEST_STDEV,
	PERFTEST_P99,
	PERFTEST_P99_9,
	PERFTEST_TPS,
	PERFTEST_BW_PEAK,
	PERFTEST_BW_AVERAGE,
	PERFTEST_MSG_RATE,
	PERFTEST_CPU,
	PERFTEST_COLUMNS,
};

enum perftest_unit {
	PERFTEST_NO_UNIT, /* JSON does not tell; it follows from the figures */
	PERFTEST_MIB,     /* which perftest calls MB */
	PERFTEST_GBIT,
};

enum perftest_end {
	PERFTEST_ANY_END, /* not told */
	PERFTEST_CLIENT,
	PERFTEST_SERVER,
};

/* One run of a program, from its own words; zeroed but for its parameters. */
struct perftest_run {
	const char *op;
	const char *transport;
	const char *link_layer;
	char device[64];
	unsigned int mtu;
	bool is_bandwidth;
	bool is_bidirectional;
	bool has_events;
	enum perftest_end end;
	json_t *parameters; /* under the names that options have */
};

struct perftest_row {
	double values[PERFTEST_COLUMNS]; /* NAN: there is no such column */
	enum perftest_unit unit;
	bool has_both;           /* of two directions each on its own: */
	double both[2];          /* messages per microsecond, here and there */
	const struct hist *hist; /* of all samples; NULL: they are not there */
};

/* As JSON has them. */
extern const char *const perftest_keys[PERFTEST_COLUMNS];

void perftest_row_init(struct perftest_row *row);

/* The name of a test, with spaces or underscores. -EINVAL: none that is known. */
int perftest_begin(struct perftest_run *run, const char *test, struct error *error);

/* What it says of itself; names that are not known here are no matter. */
int perftest_tell(struct perftest_run *run, const char *name, const char *value,
		  struct error *error);

void perftest_end(struct perftest_run *run);

/*
 * A number as perftest prints them, of so many bytes: digits, with a point among them, and
 * from samples with an exponent. No others: what is negative or nan has gone wrong.
 */
bool perftest_number(const char *text, size_t length, double *number);

/* The row becomes a trial. What cannot be is refused. */
int perftest_add(struct import *import, const struct perftest_run *run,
		 const struct perftest_row *row, struct error *error);

/* What a result has to tell of itself: numbers of bits in notes. */
enum perftest_note {
	PERFTEST_TRIMMED,
	PERFTEST_NO_STDEV,
	PERFTEST_HALVES,
	PERFTEST_DERIVED,
	PERFTEST_AT_SERVER,
	PERFTEST_NOTES,
};

/* The two forms. */
int perftest_add_text(struct import *import, const char *text, size_t length, struct error *error);
int perftest_add_json(struct import *import, const char *text, size_t length, struct error *error);

#endif
