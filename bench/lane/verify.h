/* SPDX-License-Identifier: MIT */
/*
 * Payloads that name their sender, their case and their place in the sequence, and the
 * check of them at the far end. The last byte is left alone where a loop polls for it.
 * Where nothing is lost both ends count alike, one for each message; where messages may
 * be, each of them begins with eight bytes of its pattern, which tell its number.
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
	uint64_t every;              /* one message in so many; 0: none */
	uint64_t until;              /* messages until the next one */
	uint64_t sequence;           /* of this message */
	uint64_t near;               /* what the pattern of our messages begins with, */
	uint64_t far;                /* and of theirs */
	const struct memory *memory; /* of both messages, */
	size_t sent;                 /* and where they begin in it */
	size_t received;
	size_t length;
	bool is_fixed; /* every message is the first one again */
	bool is_lossy; /* some may never come */
};

/* is_server: each end has the other's pattern for its far one; flow: so has each of them. */
void verify_init(struct verify *verify, uint64_t every, const char *id, bool is_server,
		 unsigned int flow);

/* Back to the first message. */
void verify_begin(struct verify *verify);

/* Writes the pattern of this message into what is sent; or its name alone. */
void verify_fill(struct verify *verify);
void verify_name(struct verify *verify);

/* Looks at what was received; -EBADMSG names the place, and what it should be. */
int verify_check(struct verify *verify, struct error *error);

/*
 * Goes to the message that was received, as it says itself. What says nothing believable
 * is taken for the one that is next, and to be checked: it is wrong.
 */
void verify_find(struct verify *verify);

/* Whether this message is one to be checked. */
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
