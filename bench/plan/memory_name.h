/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the kinds of memory that cases name, since a parameter is a number. A number stands
 * for the same text as long as the process runs. May be called from any thread.
 */
#ifndef BENCH_PLAN_MEMORY_NAME_H
#define BENCH_PLAN_MEMORY_NAME_H

#include <stdint.h>

#include "core/base/memory_choice.h"

/* Number of different texts that a process can use. */
#define MEMORY_NAMES 1024

/* Finds or assigns the number of a text. */
int memory_name_find(const char *text, uint64_t *number, struct error *error);

/* Returns the text: the kind in lower case, and its detail as given. */
const char *memory_name_text(uint64_t number);

/* Returns its choice. Host memory, a zeroed choice, for PARAMETER_AUTO. */
const struct memory_choice *memory_name_choice(uint64_t number);

#endif
