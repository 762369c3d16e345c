/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a command runs on the machine's own devices or on the software device, soft0.
 * soft0 is a library that must be loaded before all others: if it is wanted but not loaded, the
 * program re-executes itself once with the library in LD_PRELOAD. Other programs that it starts do
 * not inherit that. Call all functions from the main thread, before there are others.
 */
#ifndef BENCH_HOST_SOFT_DEVICE_H
#define BENCH_HOST_SOFT_DEVICE_H

#include <stdbool.h>

#include "core/base/error.h"

#define SOFT_DEVICE_NAME "soft0"

/* Call first in main. Keeps argv, and restores the environment after a re-execution. */
void soft_device_begin(char *argv[]);

/* Call in a child that will execute this program: it then need not re-execute itself. */
void soft_device_pass_on(void);

/*
 * Handles --device soft0 and auto; auto sets *device to NULL, for any device. Does not return if
 * the program is re-executed.
 */
int soft_device_choose(const char **device, struct error *error);

/*
 * Fails if there is no device at all, unless soft0 may replace it and can be loaded. soft0 never
 * replaces a device that was named; device = NULL: none was.
 */
int soft_device_require(const char *device, bool may_be_soft, struct error *error);

/* Returns whether this program executed itself again to load the software device. */
bool soft_device_has_replaced(void);

/* Returns whether libibverbs, or its replacement, has the software device. */
bool soft_device_is_soft(void);

#endif
