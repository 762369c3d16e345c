/* SPDX-License-Identifier: MIT */
/*
 * The other end of connecting.h: what listens for the lane's own connection takes more of the
 * same client, one at a time, each with a queue pair, and gives up what the client does.
 * Whoever else comes is turned away.
 */
#ifndef BENCH_OP_CONNECT_SERVER_H
#define BENCH_OP_CONNECT_SERVER_H

#include "bench/lane/lane.h"

/* Until the alarm, whose reason is the error. A message is a connection that was accepted. */
int connect_server_run(struct lane *lane, struct error *error);

#endif
