/* SPDX-License-Identifier: MIT */
/*
 * The server's side of one client: greets it and runs the cases that it asks for,
 * each with resources of its own, until it goes.
 */
#ifndef BENCH_SERVER_RESPONDER_H
#define BENCH_SERVER_RESPONDER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "bench/control/allowed_networks.h"
#include "bench/control/control.h"
#include "bench/control/secret.h"
#include "bench/server/quota.h"
#include "core/verbs/device.h"

/* What a server has for all of its clients, which do not change it but for the counts. */
struct responder_terms {
	const char *device;          /* that is offered alone; NULL: all are */
	const struct secret *secret; /* that a client has to have; zeroed: none */
	struct quota *quota;
	const struct allowed_networks
		*allowed; /* where clients may be, and servers that it drives */
	bool drives;      /* it does */
};

/*
 * Returns 0 when the client has said all it wanted; the error says why else. *is_known is
 * set as soon as it has greeted, and is one to be served.
 */
int responder_run(struct control *control, const struct responder_terms *terms,
		  atomic_bool *is_known, struct error *error);

#endif
