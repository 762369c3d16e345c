/* SPDX-License-Identifier: MIT */
/* Functions shared by peer.c, handshake.c and channel.c. */
#ifndef CORE_SOFT_PEER_PARTS_H
#define CORE_SOFT_PEER_PARTS_H

#include "core/base/compiler.h"
#include "core/soft/peer/message.h"
#include "core/soft/peer/peer.h"

/*
 * Fetches the arena of the process of a slot and adds it as a peer. Call with
 * soft_process.connect_mutex held.
 */
void soft_peer_handshake(uint32_t slot);

/* Enters the peer into the table, or destroys it. */
void soft_peer_show(struct soft_peer *peer);

/* Destroys a peer that is in no table. */
void soft_peer_destroy(struct soft_peer *peer);

/*
 * Handles all messages received so far. Returns 0, or a negative errno if the connection ended.
 * Call with the peer's mutex held.
 */
int soft_peer_receive(struct soft_peer *peer);

/* Handles a channel message. Sets *fd to -1 if it keeps the descriptor. */
int soft_peer_take_channel(struct soft_peer *peer, const struct soft_message *message, int *fd);

/*
 * Returns whether fd is an eventfd or similar (its file has no type). Writing to such a descriptor
 * can block only because of its readers, and raises no signal.
 */
bool soft_peer_is_anonymous(int fd);

#endif
