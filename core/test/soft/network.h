/* SPDX-License-Identifier: MIT */
/* Networks of a test's own, with a loopback each and nothing else; and mounts. */
#ifndef CORE_TEST_SOFT_NETWORK_H
#define CORE_TEST_SOFT_NETWORK_H

#include <stdbool.h>

/*
 * Prepares the process, before it has threads; whether children of it may enter networks
 * of their own: that is forbidden on some machines, and the test is skipped there.
 */
bool network_prepare(void);

/* This process is in a new one from now on: 0 or a negative errno. */
int network_enter(void);

/* The same of mounts: what it mounts nobody else sees. */
int network_enter_mounts(void);

#endif
