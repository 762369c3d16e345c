/* SPDX-License-Identifier: MIT */
/* Text from a peer or a user, made safe to show on a terminal. */
#ifndef CORE_BASE_PRINTABLE_H
#define CORE_BASE_PRINTABLE_H

#include <stddef.h>

/*
 * Copies the text, truncated to size, replacing every byte that is not printable ASCII by
 * '?'. into and text may be the same.
 */
void printable_copy(char *into, size_t size, const char *text);

#endif
