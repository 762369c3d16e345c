/* SPDX-License-Identifier: MIT */
/*
 * The steps of a connection's life, by rdma_cm: made at the end that drives, to where the
 * lane's own queue pair is connected to, and taken away again. A sample is the time of the
 * step of the case. The other end accepts them: accepting.h. An event channel of their own
 * keeps them apart from the lane's.
 */
#ifndef BENCH_OP_CONNECT_CLIENT_H
#define BENCH_OP_CONNECT_CLIENT_H

#include "bench/loop/loop.h"

int connect_client_run(struct lane *lane, const struct loop_run *run, struct error *error);

#endif
