/* SPDX-License-Identifier: MIT */
/*
 * Whether a command runs on the machine's own devices or on the software device, soft0.
 * That is a library which has to be loaded in front of all others: where it is wanted and
 * not there, the program is executed again with it in LD_PRELOAD, once. What the program
 * starts in turn does not inherit it, but for itself. All of this is the main thread's, before
 * any other.
 */
#ifndef BENCH_HOST_SOFT_DEVICE_H
#define BENCH_HOST_SOFT_DEVICE_H

#include <stdbool.h>

#include "core/base/error.h"

#define SOFT_DEVICE_NAME "soft0"

/* First of all in main: keeps the words, and tidies up after being executed again. */
void soft_device_begin(char *argv[]);

/* In a child that is to execute this program: it need not do so twice. */
void soft_device_pass_on(void);

/*
 * Settles a --device that is soft0 or auto; auto is NULL then: any. Does not return where
 * the program is executed again.
 */
int soft_device_choose(const char **device, struct error *error);

/*
 * Fails where there is no device at all, unless soft0 may take its place and does; not that
 * of one that was asked for by name (NULL: any).
 */
int soft_device_require(const char *device, bool may_be_soft, struct error *error);

/* Returns whether this program executed itself again to load the software device. */
bool soft_device_has_replaced(void);

/* Whether libibverbs, or what stands in for it, has a device of that name here. */
bool soft_device_is_soft(void);

#endif
