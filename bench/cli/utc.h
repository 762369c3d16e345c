/* SPDX-License-Identifier: MIT */
/* The time of day, for results and their file names. */
#ifndef BENCH_CLI_UTC_H
#define BENCH_CLI_UTC_H

#include <time.h>

struct tm utc_now(void);

/* Prints the time of day in ISO 8601. */
void utc_stamp(char text[static 32]);

#endif
