/* SPDX-License-Identifier: MIT */
#include "bench/cli/spelling.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/base/compiler.h"

/* Shorter words are prefixes of too many names. */
#define PREFIX_LEAST 3

/* Words that users may type for a name that is spelled differently. */
static const struct {
	const char *word;
	const char *name;
} synonyms[] = {
	{"bandwidth",  "bw"          },
        {"throughput", "bw"          },
        {"rate",       "load"        },
	{"busy",       "poll"        },
        {"spin",       "poll"        },
        {"interrupt",  "event"       },
	{"sleep",      "event"       },
        {"faa",        "fetch-add"   },
        {"cas",        "compare-swap"},
	{"atomic",     "fetch-add"   },
        {"imm",        "write-imm"   },
        {"text",       "table"       },
	{"md",         "markdown"    },
        {"histogram",  "hgrm"        },
        {"rdma_cm",    "cm"          },
};

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static int lower(char letter)
{
	return tolower((unsigned char)letter);
}

unsigned int spelling_distance(const char *a, const char *b)
{
	/* of[i][j]: distance between the first i letters of a and the first j letters of b. */
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
			unsigned int other = lower(a[i - 1]) != lower(b[j - 1]);

			of[i][j] = least(of[i - 1][j], of[i][j - 1]) + 1;
			of[i][j] = least(of[i][j], of[i - 1][j - 1] + other);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				of[i][j] = least(of[i][j], of[i - 2][j - 2] + 1);
		}
	return of[n][m];
}

static bool is_synonym(const char *word, const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(synonyms); i++)
		if (!strcasecmp(word, synonyms[i].word) && !strcmp(name, synonyms[i].name))
			return true;
	return false;
}

/* Returns how far apart they are; UINT_MAX: too far. */
static unsigned int distance_if_near(const char *word, const char *name)
{
	size_t longer = strlen(word) > strlen(name) ? strlen(word) : strlen(name);
	size_t shorter = strlen(word) + strlen(name) - longer;
	unsigned int distance = spelling_distance(word, name);

	if (is_synonym(word, name))
		return 0;
	if (distance <= longer / 3)
		return distance;
	if (shorter >= PREFIX_LEAST && !strncasecmp(word, name, shorter))
		return distance;
	return UINT_MAX;
}

void spelling_begin(struct spelling *search, const char *word)
{
	*search = (struct spelling){.word = word, .distance = UINT_MAX};
}

void spelling_try(struct spelling *search, const char *name)
{
	unsigned int distance = distance_if_near(search->word, name);

	if (distance >= search->distance)
		return;
	search->nearest = name;
	search->distance = distance;
}
