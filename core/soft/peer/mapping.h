/* SPDX-License-Identifier: MIT */
/*
 * Memory of a peer that is mapped here as well: of a region whose memory is a file that
 * nobody can shorten, as a sealed memfd is. The kernel hands the file out to whom it lets
 * copy from and to the peer. What goes through a window costs no call of the kernel.
 */
#ifndef CORE_SOFT_PEER_MAPPING_H
#define CORE_SOFT_PEER_MAPPING_H

#include <stdbool.h>

struct soft_peer;
struct soft_span;
struct soft_windows;

/* NULL: there are none, which is no error. */
struct soft_windows *soft_mappings_open(void);

/* When nobody uses them any more. Accepts NULL. */
void soft_mappings_close(struct soft_windows *windows);

/* The service thread's: unmaps what nobody uses any more. */
void soft_mappings_sweep(void);

/*
 * Where the pieces of a span of the peer's are here: false where one is not. Lanes hold
 * their regions until that is used no more.
 */
bool soft_mapping_span(const struct soft_peer *peer, const struct soft_span *there,
		       struct soft_span *near);

#endif
