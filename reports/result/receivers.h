/* SPDX-License-Identifier: MIT */
/* The receivers of a multicast group: the messages that arrived at each, and those that it lost. */
#ifndef REPORTS_RESULT_RECEIVERS_H
#define REPORTS_RESULT_RECEIVERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct receiver {
	uint64_t arrived;
	uint64_t lost;
};

/* A zeroed struct has no receivers. */
struct receivers {
	size_t count;
	struct receiver *receiver;
};

/* Sets all counts to 0. Frees what the struct had before, which must be zeroed at first. */
int receivers_open(struct receivers *receivers, size_t count, struct error *error);
void receivers_close(struct receivers *receivers);

/* Adds those of another trial to into, which starts zeroed. -EINVAL: their numbers differ. */
int receivers_add(struct receivers *into, const struct receivers *from, struct error *error);

/* Returns whether a sum would exceed the integers of JSON. */
bool receivers_are_beyond(const struct receivers *one, const struct receivers *other);

/* Formats "3 receivers lost 0, 12, 0 messages". */
#define RECEIVERS_TEXT 160
void receivers_print(const struct receivers *receivers, char text[static RECEIVERS_TEXT]);

/* Convert to and from JSON. For decoding, receivers is zeroed; the caller closes it in any case. */
json_t *receivers_encode(const struct receivers *receivers);
int receivers_decode(struct receivers *receivers, const json_t *list, struct error *error);

#endif
