/* SPDX-License-Identifier: MIT */
/* The time of day, as results and their names have it. */
#ifndef BENCH_CLI_UTC_H
#define BENCH_CLI_UTC_H

#include <time.h>

struct tm utc_now(void);

/* ISO 8601. */
void utc_stamp(char text[static 32]);

#endif
