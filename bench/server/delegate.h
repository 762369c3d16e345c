/* SPDX-License-Identifier: MIT */
/*
 * Runs one case as the client of another server, on behalf of this server's own client. Its
 * trials start when that client says so, at the same time as on other servers.
 */
#ifndef BENCH_SERVER_DELEGATE_H
#define BENCH_SERVER_DELEGATE_H

#include "bench/server/responder.h"

/*
 * Handles a "drive" message. A case that fails is reported to the client; returns an error only if
 * the client itself is gone.
 */
int delegate_run(struct control *control, json_t *message, const struct responder_terms *terms,
		 struct error *error);

#endif
