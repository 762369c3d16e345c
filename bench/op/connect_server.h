/* SPDX-License-Identifier: MIT */
/*
 * The server side of op connect (see connect_client.h): the listener of the lane's own connection
 * accepts further connections of the same client, one at a time, each with a queue pair, and
 * destroys them when the client does. All other clients are rejected.
 */
#ifndef BENCH_OP_CONNECT_SERVER_H
#define BENCH_OP_CONNECT_SERVER_H

#include "bench/lane/lane.h"

/* Runs until the alarm, whose reason is the error. Counts each accepted connection as a message. */
int connect_server_run(struct lane *lane, struct error *error);

#endif
