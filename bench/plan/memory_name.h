/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the kinds of memory that cases name, since a parameter is a number. A number stands
 * for the same text until its last holder releases it. Plans hold theirs as long as the process
 * runs; a server releases the numbers of a client's case after it. May be called from any thread.
 */
#ifndef BENCH_PLAN_MEMORY_NAME_H
#define BENCH_PLAN_MEMORY_NAME_H

#include <stdint.h>

#include "core/base/memory_choice.h"

/* Number of different texts that can be held at once. */
#define MEMORY_NAMES 1024

/* Finds or assigns the number of a text or of its other spellings, and holds it. */
int memory_name_find(const char *text, uint64_t *number, struct error *error);

/* Adds a holder, and removes one. PARAMETER_AUTO and 0 are ignored. */
void memory_name_hold(uint64_t number);
void memory_name_release(uint64_t number);

/* Returns the text, the same for all spellings of a kind. */
const char *memory_name_text(uint64_t number);

/* Returns its choice. Host memory, a zeroed choice, for PARAMETER_AUTO and 0. */
const struct memory_choice *memory_name_choice(uint64_t number);

#endif
