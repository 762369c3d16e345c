/* SPDX-License-Identifier: MIT */
/*
 * perftest's output: the settings of a run, and rows of figures. A row is a JSON object of numbers
 * by their JSON names, whatever the input format. t_max is not the maximum, and t_stdev is
 * truncated, so both are only kept with the trial.
 */
#ifndef REPORTS_IMPORT_PERFTEST_H
#define REPORTS_IMPORT_PERFTEST_H

#include "reports/import/import.h"

#define PERFTEST_COLUMNS 14

struct perftest_column {
	const char *title; /* in text; if it ends with '[', a unit of bandwidth follows */
	const char *name;  /* in JSON */
	const char *statistic;
};

extern const struct perftest_column perftest_columns[PERFTEST_COLUMNS];

struct perftest_run {
	const char *op;
	const char *transport;
	const char *link_layer;
	char device[64];
	unsigned int mtu;
	bool is_bandwidth;
	bool is_bidirectional;
	bool has_events;
	double unit;        /* bytes per unit of bandwidth; 0: unknown */
	json_t *parameters; /* by the names of verbmark's options */
};

/* Add every run in the text, or the run in a file of --out_json. */
int perftest_add_text(struct import *import, const char *text, size_t length, struct error *error);
int perftest_add_json(struct import *import, const char *text, size_t length, struct error *error);

/* Adds the row as a trial of its case, which takes a reference to it. */
int perftest_add(struct import *import, const struct perftest_run *run, json_t *row,
		 struct error *error);

#endif
