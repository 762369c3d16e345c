/* SPDX-License-Identifier: MIT */
/*
 * A server that is the client of another one, because its own client has asked for that:
 * one case, whose trials begin when that client says so, together with others elsewhere.
 */
#ifndef BENCH_SERVER_DELEGATE_H
#define BENCH_SERVER_DELEGATE_H

#include "bench/server/responder.h"

/*
 * Answers such an order. A case that fails is told to the client: an error is only that the
 * client itself is gone.
 */
int delegate_run(struct control *control, json_t *message, const struct responder_terms *terms,
		 struct error *error);

#endif
