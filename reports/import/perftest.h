/* SPDX-License-Identifier: MIT */
/*
 * What perftest prints of a run: how it was made, and rows of figures. t_max is not the maximum
 * and t_stdev is truncated, so both are only kept beside the trial.
 */
#ifndef REPORTS_IMPORT_PERFTEST_H
#define REPORTS_IMPORT_PERFTEST_H

#include "reports/import/import.h"

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

/* The names of the columns in JSON. */
extern const char *const perftest_keys[PERFTEST_COLUMNS];

struct perftest_run {
	const char *op;
	const char *transport;
	const char *link_layer;
	char device[64];
	unsigned int mtu;
	bool is_bandwidth;
	bool is_bidirectional;
	bool has_events;
	json_t *parameters; /* by the names of verbmark's options */
};

struct perftest_row {
	double values[PERFTEST_COLUMNS]; /* NAN: there is no such column */
	double unit;                     /* bytes per unit of bandwidth; 0: unknown */
};

/* Add every run in the text, or the one of a file of --out_json. */
int perftest_add_text(struct import *import, const char *text, size_t length, struct error *error);
int perftest_add_json(struct import *import, const char *text, size_t length, struct error *error);

/* Adds the row as a trial of its case. */
int perftest_add(struct import *import, const struct perftest_run *run,
		 const struct perftest_row *row, struct error *error);

#endif
