/* SPDX-License-Identifier: MIT */
/*
 * Control messages of a fuzzer, one per line. Each passes through the framing of the control
 * channel, as if its peer had sent it.
 */
#ifndef BENCH_FUZZ_LINES_H
#define BENCH_FUZZ_LINES_H

#include <endian.h>
#include <jansson.h>
#include <string.h>

#include "bench/control/frame.h"
#include "core/fuzz/fuzz.h"

/* Returns the message of the next line, or NULL if it is invalid. Advances *at past the line. */
static inline json_t *lines_next(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *stop = memchr(*at, '\n', (size_t)(end - *at));
	size_t length = (size_t)((stop ? stop : end) - *at);
	const uint8_t *line = *at;
	uint32_t head = htobe32((uint32_t)length);
	struct frame_reader reader = {0};
	struct error error = {0};
	json_t *message = NULL;
	size_t used;
	int code;

	*at += length + (stop != NULL);
	if (!length)
		return NULL;
	FUZZ_CHECK(!frame_read(&reader, (uint8_t *)&head, sizeof(head), &used, &message, &error) &&
		   used == sizeof(head));
	code = frame_read(&reader, line, length, &used, &message, &error);
	FUZZ_CHECK(used == length && (code == 1) == (message != NULL));
	fuzz_check_error(code == 1 ? 0 : code, &error);
	return message;
}

#endif
