/* SPDX-License-Identifier: MIT */
/*
 * The frames of the control channel: a length of four bytes in network byte order,
 * and so much JSON, an object, behind it. A frame has a bound; what breaks it, or
 * is no JSON, is an error of that connection.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define WIRE_HEAD 4
#define WIRE_MAX  (1U << 20)

/* A frame being received: zeroed, it waits for the first byte. */
struct wire_reader {
	uint8_t head[WIRE_HEAD];
	size_t have; /* bytes of the frame, head included */
	uint32_t length;
	char *body;
};

/*
 * Takes bytes that have come, up to the end of one frame. *used says how many.
 * Returns 1 with the message when one is whole, 0 for more, or a negative errno.
 */
int wire_read(struct wire_reader *reader, const uint8_t *bytes, size_t length, size_t *used,
	      json_t **message, struct error *error);
void wire_finish(struct wire_reader *reader);

/*
 * Copies, cut to size, what the other end said: it goes to somebody's terminal, and
 * whatever is no plain text becomes '?'.
 */
void wire_printable(char *into, size_t size, const char *text);

/* A whole frame on the heap, or NULL. */
uint8_t *wire_frame(const json_t *message, size_t *length);

#endif
