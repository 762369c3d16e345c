/* SPDX-License-Identifier: MIT */
/*
 * What is measured: a row for each shape on each path, and a few for what the loops
 * stand on. Each runs so many messages through a bed.
 */
#ifndef BENCH_MICRO_ROW_H
#define BENCH_MICRO_ROW_H

#include "bench/micro/bed.h"

struct row {
	const char *name;
	int (*run)(struct bed *bed, const struct loop_run *run, struct error *error);
	void (*calls)(struct bed *bed, uint64_t messages); /* NULL: there are none */
	struct bed_settings settings;
};

extern const struct row rows[];
extern const size_t n_rows;

/* NULL for a name that is none. */
const struct row *row_find(const char *name);

/* How many samples so many messages are to have; and how many are to be in windows. */
uint64_t row_samples(const struct row *row, uint64_t messages);
uint64_t row_counted(const struct row *row, uint64_t messages);

#endif
