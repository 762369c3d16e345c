/* SPDX-License-Identifier: MIT */
/*
 * Copies to and from a peer whose memory the kernel does not let this process access: sends each
 * piece as a request to the peer's copy server (copy_server.h) and waits for the answer.
 */
#ifndef CORE_SOFT_PEER_COPY_CLIENT_H
#define CORE_SOFT_PEER_COPY_CLIENT_H

#include <stdint.h>

#include "core/soft/memory/copy.h"
#include "core/soft/peer/copy_server.h"

struct soft_copy_client;
struct soft_peer;

/* Connects to the copy server of a slot's process. Returns NULL if that fails. */
struct soft_copy_client *soft_copy_client_open(uint32_t slot);

/* Wakes all threads that wait for an answer and fails all later copies. Accepts NULL. */
void soft_copy_client_stop(struct soft_copy_client *client);

/* Accepts NULL. */
void soft_copy_client_close(struct soft_copy_client *client);

/*
 * Returns 0 or a negative errno, as in copy.h. Disconnects a peer whose copy server does not
 * answer.
 */
int soft_copy_client_run(const struct soft_peer *peer, enum soft_copy_kind kind,
			 const struct soft_span *remote, const struct soft_span *local);

#endif
