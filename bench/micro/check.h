/* SPDX-License-Identifier: MIT */
/* Whether rows do what they are taken for: counts only, never a time. */
#ifndef BENCH_MICRO_CHECK_H
#define BENCH_MICRO_CHECK_H

/* Prints TAP. Returns how many failed. */
int check_all(void);

#endif
