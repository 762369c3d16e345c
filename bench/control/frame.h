/* SPDX-License-Identifier: MIT */
/*
 * The frames of the control channel: a length of four bytes in network byte order,
 * and so much JSON, an object, behind it. A frame has a bound; what breaks it, or
 * is no JSON, is an error of that connection.
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
/* Before it is known who it is: a greeting is shorter. */
#define FRAME_GREETING (1U << 12)

/*
 * Brackets and commas of a message: made a tree, each costs far more memory than its byte. The most
 * that there is are 4096 queue pairs that are connected by hand, of 11 each.
 */
#define FRAME_MEMBERS (1U << 16)
/* A heartbeat is shorter. */
#define FRAME_BEAT 64

/* In the length: a seal stands behind the JSON, and is counted in it. */
#define FRAME_SEALED (1U << 31)

/* A frame being received: zeroed, it waits for the first byte. */
struct frame_reader {
	uint8_t head[FRAME_HEAD];
	size_t have; /* bytes of the frame, head included */
	uint32_t length;
	uint32_t limit; /* of a frame; 0: FRAME_MAX */
	char *body;
	bool is_sealed;   /* this one */
	bool has_sealed;  /* one was, and so all are from then on */
	struct seal seal; /* where it is set nothing is taken without one but frame_is_plain */
};

/*
 * Takes bytes that have come, up to the end of one frame. *used says how many.
 * Returns 1 with the message when one is whole, 0 for more, or a negative errno.
 */
int frame_read(struct frame_reader *reader, const uint8_t *bytes, size_t length, size_t *used,
	       json_t **message, struct error *error);
void frame_finish(struct frame_reader *reader);

/* A heartbeat, of which nobody hears. */
bool frame_is_beat(const json_t *message);

/* What says nothing that an attacker might not do by closing, or keeping, a connection. */
bool frame_is_plain(const json_t *message);

/* A whole frame of a body, into room for that, a head and a seal. Returns its length. */
size_t frame_put(uint8_t *frame, const char *body, size_t size, struct seal *seal);

/*
 * A whole frame on the heap; NULL after a failure. One that is longer than may be is -EMSGSIZE. A
 * seal that is not set, or NULL, is none.
 */
int frame_encode_sealed(const json_t *message, struct seal *seal, uint8_t **frame, size_t *length,
			struct error *error);
uint8_t *frame_encode(const json_t *message, size_t *length);

#endif
