/* SPDX-License-Identifier: MIT */
/*
 * The doctor's connection to a server. If the server cannot be reached, the reason is a finding;
 * otherwise it reports its devices and facts. The connection stays open, with its heartbeat, until
 * it is closed.
 */
#ifndef BENCH_DOCTOR_SERVER_H
#define BENCH_DOCTOR_SERVER_H

#include "bench/control/control.h"
#include "bench/control/secret.h"
#include "core/verbs/device.h"
#include "reports/result/result.h"

struct doctor_server {
	struct control control;
	bool is_open;  /* connected */
	bool has_pair; /* near and far are ports in one network */
	struct result_end near;
	struct result_end far; /* without a pair: the server's best port */
	json_t *facts;         /* of the server; NULL: not reached */
	json_t *before;        /* its noise when connected; NULL (as below): not reported */
	json_t *after;         /* its noise at the last note */
	json_t *counters;      /* changes of its device counters since then */
};

/* Which server to connect to, and how. */
struct doctor_server_wish {
	const char *host;
	uint16_t port;
	const char *device;          /* local device; NULL: any */
	const struct secret *secret; /* zeroed: none */
};

/* Connects to the server. own are this host's devices. Problems are added to findings. */
void doctor_server_open(struct doctor_server *connection, const struct doctor_server_wish *wish,
			const struct device_list *own, json_t *findings);
/*
 * Asks the server for changes of its noise and counters. Leaves them NULL if the server does not
 * report them.
 */
void doctor_server_note(struct doctor_server *connection);
void doctor_server_close(struct doctor_server *connection);

#endif
