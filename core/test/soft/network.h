/* SPDX-License-Identifier: MIT */
/* Private network and mount namespaces for tests. A network namespace has only its loopback. */
#ifndef CORE_TEST_SOFT_NETWORK_H
#define CORE_TEST_SOFT_NETWORK_H

#include <stdbool.h>

/*
 * Prepares the process, which must not have threads yet. Returns whether its children may create
 * network namespaces; some machines forbid that, and tests are skipped there.
 */
bool network_prepare(void);

/* Moves this process into a new network namespace. Returns 0 or a negative errno. */
int network_enter(void);

/* Moves this process into a new mount namespace, so that no other process sees its mounts. */
int network_enter_mounts(void);

#endif
