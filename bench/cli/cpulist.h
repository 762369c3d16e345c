/* SPDX-License-Identifier: MIT */
/*
 * Sets of CPUs in the kernel's list format: "0-3,8". A list is plain data of 1 KiB. Text that is
 * not such a list, or that names a CPU beyond CPULIST_MAX, is rejected as a whole.
 */
#ifndef BENCH_CLI_CPULIST_H
#define BENCH_CLI_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_MAX 8192

struct cpulist {
	uint64_t words[CPULIST_MAX / 64];
};

/* Parses a non-empty list. Returns false if the text is not one, or is NULL. */
bool cpulist_parse(struct cpulist *list, const char *text);

/* Returns the number of CPUs in the list. */
unsigned int cpulist_count(const struct cpulist *list);

/* Returns the number of CPUs that are in both lists. */
unsigned int cpulist_common(const struct cpulist *a, const struct cpulist *b);

/* Returns the CPUs that are in both lists. */
struct cpulist cpulist_both(const struct cpulist *a, const struct cpulist *b);

/* Returns a list of one CPU. */
struct cpulist cpulist_of(unsigned int cpu);

/* Returns the CPU at that position, counted from 0, or CPULIST_MAX if there are fewer. */
unsigned int cpulist_nth(const struct cpulist *list, unsigned int place);

void cpulist_add(struct cpulist *list, unsigned int cpu);

/* Adds the CPUs of the second list to the first. */
void cpulist_join(struct cpulist *into, const struct cpulist *from);

/* Prints the list; if it does not fit, the text ends in "...". */
void cpulist_print(const struct cpulist *list, char *text, size_t size);

#endif
