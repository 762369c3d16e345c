/* SPDX-License-Identifier: MIT */
/*
 * Functions that the soft device has not. What they are called with is not looked at, so
 * that their files do without the headers of the two libraries.
 */
#ifndef CORE_SOFT_UNSUPPORTED_H
#define CORE_SOFT_UNSUPPORTED_H

#include <errno.h>
#include <stddef.h>

#include "core/soft/export.h"

#define REFUSE_POINTER(name)          \
	SOFT_EXPORT void *name(void); \
	SOFT_EXPORT void *name(void)  \
	{                             \
		errno = ENOSYS;       \
		return NULL;          \
	}                             \
	_Static_assert(1, "")

#endif
