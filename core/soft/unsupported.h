/* SPDX-License-Identifier: MIT */
/*
 * Functions that the soft device does not support. They ignore their arguments, so their source
 * files do not need the headers of the two libraries.
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
