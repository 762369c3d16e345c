/* SPDX-License-Identifier: MIT */
/*
 * Frames of the control channel: a length of four bytes in network byte order, followed by a JSON
 * object of that length. A frame that is too long or is not JSON is an error that ends the
 * connection.
 */
#ifndef BENCH_CONTROL_FRAME_H
#define BENCH_CONTROL_FRAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/control/seal.h"
#include "core/base/error.h"

#define FRAME_HEAD 4
#define FRAME_MAX  (1U << 20)
/* Limit while the peer is unknown: greetings are shorter. */
#define FRAME_GREETING (1U << 12)

/*
 * Maximum number of brackets, braces and commas in a message: each becomes a JSON node that needs
 * far more memory than its byte. The largest message has 4096 queue pairs (--connect qp) of 11
 * values each.
 */
#define FRAME_MEMBERS (1U << 16)
/* A heartbeat is shorter. */
#define FRAME_BEAT 64

/* Flag in the length: a seal follows the JSON and is included in the length. */
#define FRAME_SEALED (1U << 31)

/* A frame being received. Zeroed, it waits for the first byte. */
struct frame_reader {
	uint8_t head[FRAME_HEAD];
	size_t have; /* bytes received, including the head */
	uint32_t length;
	uint32_t limit; /* of a frame; 0: FRAME_MAX */
	char *body;
	bool is_sealed;   /* this frame */
	bool has_sealed;  /* a sealed frame has arrived, so all later ones must be sealed */
	struct seal seal; /* if set, unsealed frames are rejected unless frame_is_plain */
};

/*
 * Consumes received bytes, at most up to the end of one frame, and sets *used to their number.
 * Returns 1 and the message if a frame is complete, 0 if more bytes are needed, or a negative
 * errno.
 */
int frame_read(struct frame_reader *reader, const uint8_t *bytes, size_t length, size_t *used,
	       json_t **message, struct error *error);
void frame_finish(struct frame_reader *reader);

/* Returns whether the message is a heartbeat, which is never delivered. */
bool frame_is_beat(const json_t *message);

/* Returns whether a message is harmless unsealed: an attacker could do the same without it. */
bool frame_is_plain(const json_t *message);

/* Writes a frame of a body to a buffer with room for body, head and seal. Returns its length. */
size_t frame_put(uint8_t *frame, const char *body, size_t size, struct seal *seal);

/*
 * Encodes a message as a frame on the heap, which the caller frees. On failure *frame is NULL;
 * returns -EMSGSIZE if the message is too long. No seal is added if it is NULL or not set.
 */
int frame_encode_sealed(const json_t *message, struct seal *seal, uint8_t **frame, size_t *length,
			struct error *error);
uint8_t *frame_encode(const json_t *message, size_t *length);

#endif
