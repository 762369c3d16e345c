/* SPDX-License-Identifier: MIT */
/*
 * What tests do to the machine: commands of its shell, and a device that they may remove.
 */
#ifndef CORE_TEST_LIB_SPARE_H
#define CORE_TEST_LIB_SPARE_H

#include "core/base/compiler.h"

/* Runs a command of the shell; returns its exit status. */
int shell(const char *format, ...) FORMAT(1, 2);

/* Runs it again and again until its status is 0. */
void shell_until(const char *command);

/* A device to be taken away, on a network of its own: a cmocka setup and teardown. */
#define SPARE_DEVICE "vmspare"
#define SPARE_HOST   "10.89.77.1"

int spare_make(void **unused);
int spare_remove(void **state);

#endif
