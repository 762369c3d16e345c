/* SPDX-License-Identifier: MIT */
/* Changes that tests make to the machine: shell commands, and a device that may be removed. */
#ifndef CORE_TEST_LIB_SPARE_H
#define CORE_TEST_LIB_SPARE_H

#include "core/base/compiler.h"

/* Runs a shell command. Returns its exit status. */
int shell(const char *format, ...) FORMAT(1, 2);

/* Repeats the command until its status is 0. */
void shell_until(const char *command);

/* A removable device on a network of its own: a cmocka setup and teardown. */
#define SPARE_DEVICE "vmspare"
#define SPARE_HOST   "10.89.77.1"

int spare_make(void **unused);
int spare_remove(void **state);

#endif
