/* SPDX-License-Identifier: MIT */
/*
 * Seals of control messages: a keyed MAC over a message, its head, and the number of messages
 * before it in that direction. A message that was altered, dropped, repeated or forged does not
 * verify. Messages are not encrypted. Not thread-safe.
 */
#ifndef BENCH_CONTROL_SEAL_H
#define BENCH_CONTROL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY  32
#define SEAL_SIZE 32

/* State of one direction. Zeroed: messages are not sealed. */
struct seal {
	uint8_t key[SEAL_KEY];
	uint64_t count;
	bool is_set;
};

void seal_begin(struct seal *seal, const uint8_t key[static SEAL_KEY]);
void seal_end(struct seal *seal);

/* Makes the seal of the next message. */
void seal_make(struct seal *seal, uint32_t head, const void *body, size_t length,
	       uint8_t made[static SEAL_SIZE]);

/* Returns whether that is the seal of the next message. */
bool seal_check(struct seal *seal, uint32_t head, const void *body, size_t length,
		const uint8_t found[static SEAL_SIZE]);

#endif
