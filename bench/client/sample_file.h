/* SPDX-License-Identifier: MIT */
/* The file of --samples: each measured latency in order, as CSV. */
#ifndef BENCH_CLIENT_SAMPLE_FILE_H
#define BENCH_CLIENT_SAMPLE_FILE_H

#include <stdio.h>

#include "bench/loop/samples.h"
#include "core/base/error.h"

struct sample_file {
	const char *path;
	FILE *file;
	int failure; /* errno of the first write that failed; nothing is written afterwards */
};

/* Creates the file and writes its header. */
int sample_file_open(struct sample_file *file, const char *path, struct error *error);

/* Appends the latencies of one thread in one trial. Both numbers count from 1. */
void sample_file_add(struct sample_file *file, const char *id, size_t trial, unsigned int thread,
		     const struct samples *samples);

/* Reports any failed write. Does nothing if the file is not open. */
int sample_file_close(struct sample_file *file, struct error *error);

#endif
