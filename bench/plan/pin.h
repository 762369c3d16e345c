/* SPDX-License-Identifier: MIT */
/*
 * Processors that the threads of a case are pinned to, in one number: one of them, or
 * those from a first to a last in equal steps, as 0-3 or 0-6+2. Each thread has its own;
 * where there are more threads, they begin again with the first.
 */
#ifndef BENCH_PLAN_PIN_H
#define BENCH_PLAN_PIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Several of them: a range of two or more. False for any other text. */
bool pin_parse(const char *text, uint64_t *value);

void pin_print(uint64_t value, char *text, size_t size);

unsigned int pin_count(uint64_t value);

/* That of the thread of that number. */
unsigned int pin_cpu(uint64_t value, unsigned int number);

#endif
