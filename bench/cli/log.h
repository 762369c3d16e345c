/* SPDX-License-Identifier: MIT */
/*
 * What a server says on standard error, a line each time. It waits for nobody who reads that:
 * clients would wait as well. A line for which there is no room is lost, and the next one that
 * there is room for tells how many were. For any thread.
 */
#ifndef BENCH_CLI_LOG_H
#define BENCH_CLI_LOG_H

#include "core/base/compiler.h"

void log_say(const char *format, ...) FORMAT(1, 2);

#endif
