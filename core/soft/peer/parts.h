/* SPDX-License-Identifier: MIT */
/* What the table of peers, how one is met, and the channels of each need of one another. */
#ifndef CORE_SOFT_PEER_PARTS_H
#define CORE_SOFT_PEER_PARTS_H

#include "core/base/compiler.h"
#include "core/soft/peer/message.h"
#include "core/soft/peer/peer.h"

/* Fetches the arena of the process of a slot and shows it as a peer. Under soft_process.meeting. */
void soft_peer_handshake(uint32_t slot);

/* From here on it is in the table, or destroyed. */
void soft_peer_show(struct soft_peer *peer);

/* One that is in no table. */
void soft_peer_destroy(struct soft_peer *peer);

/* Takes what the peer has said until now: 0, or a negative errno at its end. Under its mutex. */
int soft_peer_hear(struct soft_peer *peer);

/* A channel that it tells of: a descriptor that is kept is -1 afterwards. */
int soft_peer_take_channel(struct soft_peer *peer, const struct soft_message *message, int *fd);

/*
 * Whether writing to it can neither block for others than its readers nor raise a signal:
 * an eventfd and its like, which have no type of file.
 */
bool soft_peer_is_anonymous(int fd);

#endif
