/* SPDX-License-Identifier: MIT */
/* The detail of host memory that requests huge pages: "hugepages", or "hugepages=SIZE". */
#ifndef CORE_MEMORY_HUGE_H
#define CORE_MEMORY_HUGE_H

#include "core/base/error.h"

int huge_parse(const char *detail, struct error *error);

#endif
