/* SPDX-License-Identifier: MIT */
#include "core/base/printable.h"

void printable_copy(char *into, size_t size, const char *text)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		into[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
	into[i] = '\0';
}
