/* SPDX-License-Identifier: MIT */
/*
 * Parses the link specification in VERBMARK_SOFT, such as
 * latency=2us,bandwidth=100gbit,jitter=200ns,loss=1e-4,seed=7. model.h describes how the link
 * behaves.
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
	uint64_t bits_per_second; /* 0: unlimited */
	uint64_t loss;            /* per 2^64 messages */
	uint64_t seed;
};

/*
 * Parses a link specification. NULL or an empty text means no link. Returns 0, or -EINVAL with the
 * reason in `why`.
 */
int soft_link_parse(struct soft_link *link, const char *text, char why[static SOFT_LINK_WHY]);

#endif
