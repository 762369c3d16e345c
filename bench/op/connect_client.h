/* SPDX-License-Identifier: MIT */
/*
 * The client side of op connect: the steps of a connection's life with rdma_cm. It connects to the
 * peer of the lane's own queue pair, and disconnects again. A sample is the time of the case's
 * step. The server side is connect_server.h. A separate event channel keeps these connections
 * apart from the lane's.
 */
#ifndef BENCH_OP_CONNECT_CLIENT_H
#define BENCH_OP_CONNECT_CLIENT_H

#include "bench/loop/loop.h"

int connect_client_run(struct lane *lane, const struct loop_run *run, struct error *error);

#endif
