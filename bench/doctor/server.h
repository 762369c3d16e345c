/* SPDX-License-Identifier: MIT */
/*
 * The doctor's visit to a server: what keeps a client from reaching it is a finding;
 * one that is reached tells its devices and its facts. The connection stays open, with
 * its heartbeat, until the visit is closed.
 */
#ifndef BENCH_DOCTOR_SERVER_H
#define BENCH_DOCTOR_SERVER_H

#include "bench/control/control.h"
#include "bench/control/secret.h"
#include "core/verbs/device.h"
#include "reports/result/result.h"

struct doctor_server {
	struct control control;
	bool is_open;  /* there is a connection */
	bool has_pair; /* near and far are two ports that share a network */
	struct result_end near;
	struct result_end far; /* without a pair: its best port */
	json_t *facts;         /* of the server's end; NULL: not reached */
	json_t *before;        /* its noise when it was reached; NULL, as the next two: not told */
	json_t *after;         /* its noise at the last note */
	json_t *counters;      /* what its device has counted since then */
};

/* Where to, and how. */
struct doctor_server_wish {
	const char *host;
	uint16_t port;
	const char *device;          /* of this end; NULL: any */
	const struct secret *secret; /* zeroed: none */
};

/* own: this host's devices. */
void doctor_server_open(struct doctor_server *connection, const struct doctor_server_wish *wish,
			const struct device_list *own, json_t *findings);
/* Asks what has changed at the server's end meanwhile. One that does not tell has none. */
void doctor_server_note(struct doctor_server *connection);
void doctor_server_close(struct doctor_server *connection);

#endif
