/* SPDX-License-Identifier: MIT */
/* The content of a file, repeated, with which the client fills its buffers. Owns its bytes. */
#ifndef BENCH_LANE_PAYLOAD_H
#define BENCH_LANE_PAYLOAD_H

#include "core/base/error.h"
#include "core/memory/memory.h"

struct payload {
	char *bytes; /* NULL: none */
	size_t size;
};

/* Reads a file of at most 1 GiB. */
int payload_open(struct payload *payload, const char *path, struct error *error);

/* Accepts a zeroed payload. */
void payload_close(struct payload *payload);

/* Fills the first `length` bytes of memory. */
void payload_fill(const struct payload *payload, const struct memory *memory, size_t length);

#endif
