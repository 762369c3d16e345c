/* SPDX-License-Identifier: MIT */
/*
 * Seals of control messages: a keyed MAC over a message, its head, and how many there
 * were before in that direction. One that is changed, left out, repeated or from
 * somebody else does not pass; it is not hidden. For one thread at a time.
 */
#ifndef BENCH_CONTROL_SEAL_H
#define BENCH_CONTROL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY  32
#define SEAL_SIZE 32

/* Of one direction. Zeroed: there is none. */
struct seal {
	uint8_t key[SEAL_KEY];
	uint64_t count;
	bool is_set;
};

void seal_begin(struct seal *seal, const uint8_t key[static SEAL_KEY]);
void seal_end(struct seal *seal);

/* Of the next message. */
void seal_make(struct seal *seal, uint32_t head, const void *body, size_t length,
	       uint8_t made[static SEAL_SIZE]);

/* Whether that is the next message's. */
bool seal_check(struct seal *seal, uint32_t head, const void *body, size_t length,
		const uint8_t found[static SEAL_SIZE]);

#endif
