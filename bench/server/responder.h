/* SPDX-License-Identifier: MIT */
/*
 * The server's side of one client: authenticates it and runs the cases that it sends, each with
 * resources of its own, until it disconnects.
 */
#ifndef BENCH_SERVER_RESPONDER_H
#define BENCH_SERVER_RESPONDER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "bench/control/allowed_networks.h"
#include "bench/control/control.h"
#include "bench/control/secret.h"
#include "bench/server/allowed_files.h"
#include "bench/server/places.h"
#include "bench/server/quota.h"
#include "core/verbs/device.h"

/* Answers messages of clients that only a particular kind of server understands. */
struct responder_extension {
	/* Returns false if the message is none of its own. Otherwise sets error if the client is gone. */
	bool (*answer)(struct responder_extension *extension, struct control *control,
		       const json_t *message, struct error *error);
	/* The client has left. */
	void (*leave)(struct responder_extension *extension, const struct control *control);
};

/* Settings shared by all clients. Only quota and places change. */
struct responder_terms {
	const char *device;          /* the only device offered; NULL: all */
	const struct secret *secret; /* required from clients; zeroed: none */
	struct quota *quota;
	struct places *places;
	const struct allowed_networks *allowed; /* where clients may be */
	const struct allowed_files *files;      /* that clients may write to; NULL: none */
	bool is_own;                            /* the client started it, and may use all files */
	struct responder_extension *extension;  /* NULL: none */
};

/*
 * Serves a client. Returns 0 when the client says goodbye, otherwise an error with the reason.
 * Sets *is_known once the client is authenticated and admitted.
 */
int responder_run(struct control *control, const struct responder_terms *terms,
		  atomic_bool *is_known, struct error *error);

#endif
