/* SPDX-License-Identifier: MIT */
/*
 * Copies to and from a peer whose memory the kernel keeps closed: asked for, piece by
 * piece, from the peer's porter (porter.h). Who asks waits for each answer.
 */
#ifndef CORE_SOFT_PEER_COPY_CLIENT_H
#define CORE_SOFT_PEER_COPY_CLIENT_H

#include <stdint.h>

#include "core/soft/op/copy.h"
#include "core/soft/peer/copy_server.h"

struct soft_errands;
struct soft_peer;

/* A connection to the porter of the process of a slot; NULL: there is none. */
struct soft_errands *soft_copy_client_open(uint32_t slot);

/* Whoever waits for an answer stops waiting; nothing is done from now on. Accepts NULL. */
void soft_copy_client_stop(struct soft_errands *errands);

/* Accepts NULL. */
void soft_copy_client_close(struct soft_errands *errands);

/* 0 or a negative errno, as copy.h has them. A peer whose porter does not answer is left. */
int soft_copy_client_run(const struct soft_peer *peer, enum soft_copy_kind kind,
			 const struct soft_span *there, const struct soft_span *here);

#endif
