/* SPDX-License-Identifier: MIT */
/*
 * Payloads that identify their sender, case and position in the sequence, and their verification
 * by the receiver. The last byte is excluded if a loop polls for it. On reliable transports both
 * sides count messages alike. On others each message starts with eight bytes of its pattern, from
 * which the receiver derives its number.
 */
#ifndef BENCH_LANE_VERIFY_H
#define BENCH_LANE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"
#include "core/base/error.h"
#include "core/memory/memory.h"

struct verify {
	uint64_t every;              /* verify one message in N; 0: none */
	uint64_t until;              /* messages until the next verified one */
	uint64_t sequence;           /* number of this message */
	uint64_t own_key;            /* seed of the local pattern */
	uint64_t peer_key;           /* seed of the peer's pattern */
	const struct memory *memory; /* of both buffers */
	size_t sent;                 /* offsets in memory */
	size_t received;
	size_t length;
	bool is_fixed; /* all messages equal the first one */
	bool is_lossy; /* messages may be lost */
};

/* Patterns differ between client and server and between flows. */
void verify_init(struct verify *verify, uint64_t every, const char *id, bool is_server,
		 unsigned int flow);

/* Returns to the first message. */
void verify_begin(struct verify *verify);

/* Write the pattern of this message to the sending buffer, or only its first eight bytes. */
void verify_fill(struct verify *verify);
void verify_name(struct verify *verify);

/* Verifies the received message. On -EBADMSG the error names the position and the expected byte. */
int verify_check(struct verify *verify, struct error *error);

/*
 * Advances to the number found in the received message. A message without a plausible number is
 * taken for the next one and will fail verification.
 */
void verify_find(struct verify *verify);

/* Returns whether this message is to be verified. */
static ALWAYS_INLINE bool verify_is_due(const struct verify *verify)
{
	return verify->until == 1;
}

static ALWAYS_INLINE void verify_next(struct verify *verify)
{
	verify->sequence++;
	verify->until = verify->until == 1 ? verify->every : verify->until - 1;
}

#endif
