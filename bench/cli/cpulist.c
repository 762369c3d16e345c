/* SPDX-License-Identifier: MIT */
#include "bench/cli/cpulist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_number(const char **text, unsigned long *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*number = strtoul(*text, &end, 10);
	*text = end;
	return *number < CPULIST_MAX;
}

bool cpulist_parse(struct cpulist *list, const char *text)
{
	*list = (struct cpulist){0};
	for (;;) {
		unsigned long first;
		unsigned long last;

		if (!text || !take_number(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &last) || last < first)
				return false;
		}
		for (unsigned long cpu = first; cpu <= last; cpu++)
			list->words[cpu / 64] |= 1ULL << (cpu % 64);
		if (*text != ',')
			return !*text;
		text++;
	}
}

unsigned int cpulist_count(const struct cpulist *list)
{
	return cpulist_common(list, list);
}

unsigned int cpulist_common(const struct cpulist *a, const struct cpulist *b)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < CPULIST_MAX / 64; i++)
		count += (unsigned int)__builtin_popcountll(a->words[i] & b->words[i]);
	return count;
}

struct cpulist cpulist_both(const struct cpulist *a, const struct cpulist *b)
{
	struct cpulist both;

	for (unsigned int i = 0; i < CPULIST_MAX / 64; i++)
		both.words[i] = a->words[i] & b->words[i];
	return both;
}

void cpulist_add(struct cpulist *list, unsigned int cpu)
{
	if (cpu < CPULIST_MAX)
		list->words[cpu / 64] |= 1ULL << (cpu % 64);
}

struct cpulist cpulist_of(unsigned int cpu)
{
	struct cpulist list = {0};

	cpulist_add(&list, cpu);
	return list;
}

void cpulist_join(struct cpulist *into, const struct cpulist *from)
{
	for (unsigned int i = 0; i < CPULIST_MAX / 64; i++)
		into->words[i] |= from->words[i];
}

static bool has(const struct cpulist *list, unsigned int cpu)
{
	return cpu < CPULIST_MAX && list->words[cpu / 64] >> (cpu % 64) & 1;
}

unsigned int cpulist_nth(const struct cpulist *list, unsigned int place)
{
	unsigned int cpu = 0;

	while (cpu < CPULIST_MAX && (!has(list, cpu) || place--))
		cpu++;
	return cpu;
}

void cpulist_print(const struct cpulist *list, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int cpu = 0; cpu < CPULIST_MAX; cpu++) {
		unsigned int last = cpu;
		char piece[32];
		size_t length;

		if (!has(list, cpu))
			continue;
		while (has(list, last + 1))
			last++;
		length = (size_t)snprintf(piece, sizeof(piece), last > cpu ? "%s%u-%u" : "%s%u",
					  used ? "," : "", cpu, last);
		/* Always leave room for the dots. */
		if (used + length + sizeof(",...") > size) {
			snprintf(text + used, size - used, "%s...", used ? "," : "");
			return;
		}
		memcpy(text + used, piece, length + 1);
		used += length;
		cpu = last;
	}
}
