/* SPDX-License-Identifier: MIT */
/*
 * A noisy neighbour: a process that computes for a while, sleeps for a while, and so on, as
 * what else runs on a shared machine does. It ends with the process that started it.
 */
#ifndef BENCH_GATE_NOISY_PROCESS_H
#define BENCH_GATE_NOISY_PROCESS_H

#include <sys/types.h>

#include "core/base/error.h"

/* A process, or a negative errno. */
pid_t noisy_process_start(struct error *error);
/* 0: there is none. */
void noisy_process_stop(pid_t neighbour);

#endif
