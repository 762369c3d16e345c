/* SPDX-License-Identifier: MIT */
/*
 * The rows of the table: one for each loop shape on each path, and some for the loops' building
 * blocks. Each runs a number of messages through a bed.
 */
#ifndef BENCH_MICRO_ROW_H
#define BENCH_MICRO_ROW_H

#include "bench/micro/bed.h"

struct row {
	const char *name;
	int (*run)(struct bed *bed, const struct loop_run *run, struct error *error);
	void (*calls)(struct bed *bed, uint64_t messages); /* may be NULL */
	struct bed_settings settings;
};

extern const struct row rows[];
extern const size_t n_rows;

/* Returns NULL for an unknown name. */
const struct row *row_find(const char *name);

/* Return the expected number of samples, and of messages in throughput windows. */
uint64_t row_samples(const struct row *row, uint64_t messages);
uint64_t row_counted(const struct row *row, uint64_t messages);

#endif
