/* SPDX-License-Identifier: MIT */
/* Checks that rows do what they claim, by counts only, never by time. */
#ifndef BENCH_MICRO_CHECK_H
#define BENCH_MICRO_CHECK_H

/* Prints TAP. Returns the number of failures. */
int check_all(void);

#endif
