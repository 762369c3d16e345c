/* SPDX-License-Identifier: MIT */
/*
 * The CPUs that the threads of a case are pinned to, in one number: a single CPU, or a range with
 * a step, written 0-3 or 0-6+2. Each thread gets its own CPU; if there are more threads than CPUs,
 * the assignment starts over.
 */
#ifndef BENCH_PLAN_PIN_H
#define BENCH_PLAN_PIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a range of two or more CPUs. Returns false for any other text. */
bool pin_parse(const char *text, uint64_t *value);

void pin_print(uint64_t value, char *text, size_t size);

unsigned int pin_count(uint64_t value);

/* Returns the CPU of a thread. */
unsigned int pin_cpu(uint64_t value, unsigned int number);

#endif
