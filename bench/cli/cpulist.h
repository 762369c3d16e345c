/* SPDX-License-Identifier: MIT */
/*
 * Sets of processors as the kernel writes them: "0-3,8". A list is plain data of one
 * KiB; what is no list, or names a processor beyond CPULIST_MAX, is refused as a whole.
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

/* Whether text is such a list, and not empty; NULL is none. */
bool cpulist_parse(struct cpulist *list, const char *text);

unsigned int cpulist_count(const struct cpulist *list);

/* How many of a are in b, too. */
unsigned int cpulist_common(const struct cpulist *a, const struct cpulist *b);

/* Those of a that are in b, too. */
struct cpulist cpulist_both(const struct cpulist *a, const struct cpulist *b);

struct cpulist cpulist_of(unsigned int cpu);

/* One of them by its place, from 0; CPULIST_MAX: there are not so many. */
unsigned int cpulist_nth(const struct cpulist *list, unsigned int place);

void cpulist_add(struct cpulist *list, unsigned int cpu);

/* Those of both, into the first. */
void cpulist_join(struct cpulist *into, const struct cpulist *from);

/* Back to text; where that is longer than size, its end is "...". */
void cpulist_print(const struct cpulist *list, char *text, size_t size);

#endif
