/* SPDX-License-Identifier: MIT */
/*
 * Writes lines to a server's standard error. It never blocks, because clients would wait too: a
 * line that does not fit into the pipe is dropped, and the next one reports how many were. Any
 * thread may call it.
 */
#ifndef BENCH_CLI_LOG_H
#define BENCH_CLI_LOG_H

#include "core/base/compiler.h"

void log_say(const char *format, ...) FORMAT(1, 2);

#endif
