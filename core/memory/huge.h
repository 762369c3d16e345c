/* SPDX-License-Identifier: MIT */
/* The detail of host memory that requests huge pages: "hugepages", or "hugepages=SIZE". */
#ifndef CORE_MEMORY_HUGE_H
#define CORE_MEMORY_HUGE_H

#include <stddef.h>

#include "core/memory/memory.h"

int huge_parse(char detail[static MEMORY_TEXT], struct error *error);

/* Returns the size of a page, or 0 if the kernel has no huge pages. NULL: the default size. */
size_t huge_page(const char *detail);

#endif
