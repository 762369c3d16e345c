/* SPDX-License-Identifier: MIT */
/*
 * Maps registered memory of a peer into this process, so that copies need no system call. This
 * works for a region in a file that nobody can shrink, such as a sealed memfd. The kernel gives the
 * file's descriptor to any process that may copy from and to the peer.
 */
#ifndef CORE_SOFT_PEER_MAPPING_H
#define CORE_SOFT_PEER_MAPPING_H

#include <stdbool.h>

struct soft_peer;
struct soft_span;
struct soft_mappings;

/* Returns NULL if out of memory. That is no error: copies then go through the kernel. */
struct soft_mappings *soft_mappings_open(void);

/* Call when no thread uses the mappings anymore. Accepts NULL. */
void soft_mappings_close(struct soft_mappings *mappings);

/* Unmaps mappings that are no longer in use. Service thread only. */
void soft_mappings_sweep(void);

/*
 * Translates a span in the peer into local addresses. Returns false if a piece is not mapped. The
 * caller's lanes hold the regions while it uses the addresses.
 */
bool soft_mapping_span(const struct soft_peer *peer, const struct soft_span *remote,
		       struct soft_span *translated);

#endif
