/* SPDX-License-Identifier: MIT */
#include "bench/cpulist.h"

#include <stdlib.h>

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
