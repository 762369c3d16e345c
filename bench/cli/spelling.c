/* SPDX-License-Identifier: MIT */
#include "bench/cli/spelling.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int spelling_distance(const char *a, const char *b)
{
	/* Of what begins a, and what begins b. */
	unsigned int of[SPELLING_LONGEST + 1][SPELLING_LONGEST + 1];
	size_t n = strlen(a);
	size_t m = strlen(b);

	if (n > SPELLING_LONGEST || m > SPELLING_LONGEST)
		return UINT_MAX;
	for (unsigned int i = 0; i <= n; i++)
		of[i][0] = i;
	for (unsigned int j = 0; j <= m; j++)
		of[0][j] = j;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			unsigned int other = a[i - 1] != b[j - 1];

			of[i][j] = least(of[i - 1][j], of[i][j - 1]) + 1;
			of[i][j] = least(of[i][j], of[i - 1][j - 1] + other);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				of[i][j] = least(of[i][j], of[i - 2][j - 2] + 1);
		}
	return of[n][m];
}
