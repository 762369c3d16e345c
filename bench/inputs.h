/* SPDX-License-Identifier: MIT */
/* The results that a command reads, by their paths, and what it writes beside them. */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <stddef.h>

#include "core/error.h"

/* There is one at least; called what, in the sentence. */
int inputs_require(size_t count, const char *what, struct error *error);

/* None of them is where the output goes; NULL: that is standard output. */
int inputs_spare(const char *const *paths, size_t count, const char *output, struct error *error);

#endif
