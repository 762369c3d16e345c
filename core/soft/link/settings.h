/* SPDX-License-Identifier: MIT */
/*
 * The link that VERBMARK_SOFT asks for, as in
 * latency=2us,bandwidth=100gbit,jitter=200ns,loss=1e-4,seed=7: what is read of it.
 * model.h says how it behaves.
 */
#ifndef CORE_SOFT_LINK_SETTINGS_H
#define CORE_SOFT_LINK_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_LINK_VARIABLE "VERBMARK_SOFT"

enum {
	SOFT_LINK_WHY = 160,
};

struct soft_link {
	bool is_on;
	uint64_t latency_ns;
	uint64_t jitter_ns;
	uint64_t bits_per_second; /* 0: as fast as it goes */
	uint64_t loss;            /* of 2^64 messages */
	uint64_t seed;
};

/*
 * Reads what a link is to be like. NULL and the empty text are no link. 0, or -EINVAL and
 * a sentence that says why.
 */
int soft_link_parse(struct soft_link *link, const char *text, char why[static SOFT_LINK_WHY]);

#endif
