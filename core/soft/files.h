/* SPDX-License-Identifier: MIT */
/*
 * Files of the kernel that UCX reads instead of calling libibverbs: the device node, and the types
 * and interfaces of GIDs in sysfs. The functions of libc that it uses for them find soft0's; all
 * other paths reach the kernel.
 */
#ifndef CORE_SOFT_FILES_H
#define CORE_SOFT_FILES_H

#include <sys/stat.h>

#include "core/soft/export.h"

/* Headers rename the functions to open64 and so on, so the labels set their names. */
SOFT_EXPORT int soft_files_open(const char *path, int flags, ...) __asm__("open");
SOFT_EXPORT int soft_files_stat(const char *path, struct stat *status) __asm__("stat");
SOFT_EXPORT int soft_files_access(const char *path, int mode) __asm__("access");

#endif
