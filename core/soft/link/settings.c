/* SPDX-License-Identifier: MIT */
#include "core/soft/link/settings.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

#define TEN_SECONDS  UINT64_C(10000000000)
#define LOSS_WHOLE   UINT64_C(1000000000000000000)
#define FASTEST_BITS UINT64_C(10000000000000)

enum {
	LOSS_DIGITS = 18,
};

struct unit {
	const char *name;
	int power; /* of ten */
};

static const struct unit times[] = {
	{"ns", 0},
        {"us", 3},
        {"ms", 6},
        {"s",  9},
        {NULL, 0}
};
static const struct unit rates[] = {
	{"bit",  0 },
        {"kbit", 3 },
        {"mbit", 6 },
        {"gbit", 9 },
        {"tbit", 12},
        {NULL,   0 }
};
static const struct unit shares[] = {
	{"",   LOSS_DIGITS},
        {NULL, 0          }
};
static const struct word {
	const char *name;
	const struct unit *units; /* NULL: a whole number without a unit */
	const char *wanted;
	uint64_t least;
	uint64_t most;
	size_t member;
} words[] = {
	{"latency",   times,  "a time of at most 10s, like 2us",           0,    TEN_SECONDS,
	 offsetof(struct soft_link,										       latency_ns)     },
	{"bandwidth", rates,  "a rate from 1kbit to 10tbit, like 100gbit", 1000, FASTEST_BITS,
	 offsetof(struct soft_link,										       bits_per_second)},
	{"jitter",    times,  "a time of at most 10s, like 200ns",         0,    TEN_SECONDS,
	 offsetof(struct soft_link,										       jitter_ns)      },
	{"loss",      shares, "a probability from 0 to 1, like 1e-4",      0,    LOSS_WHOLE,
	 offsetof(struct soft_link,										       loss)           },
	{"seed",      NULL,   "a whole number",                            0,    UINT64_MAX,   offsetof(struct soft_link, seed)           },
};

/* Parses digits with an optional point and exponent, independent of the locale. */
static bool read_number(const char **at, double *number)
{
	locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
	char *end;

	if (!locale)
		return false;
	*number = strtod_l(*at, &end, locale);
	freelocale(locale);
	/* Reject signs, blanks, words such as inf, and hexadecimal numbers. */
	if (!isdigit((unsigned char)**at) || memchr(*at, 'x', (size_t)(end - *at)))
		return false;
	*at = end;
	return true;
}

/* Converts to the smallest unit. Fails unless the result is a whole number within the limits. */
static bool scale(const struct word *word, double number, int power, uint64_t *value)
{
	while (power--)
		number *= 10;
	if (number > (double)word->most || number < (double)word->least)
		return false;
	*value = (uint64_t)(number + 0.5);
	return fabs(number - (double)*value) < 1e-6;
}

static bool read_whole_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

static bool read_value(const struct word *word, const char *text, uint64_t *value)
{
	double number;

	if (!word->units)
		return read_whole_number(text, value);
	if (!read_number(&text, &number))
		return false;
	for (const struct unit *unit = word->units; unit->name; unit++)
		if (!strcmp(unit->name, text))
			return scale(word, number, unit->power, value);
	return false;
}

static int refuse(char *why, const char *format, ...) FORMAT(2, 3);

static int refuse(char *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, SOFT_LINK_WHY, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int read_word(struct soft_link *link, char *text, unsigned int *seen, char *why)
{
	char *value = strchr(text, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		if (strcmp(words[i].name, text) != 0)
			continue;
		if (*seen & 1U << i)
			return refuse(why, "%s is given twice", text);
		*seen |= 1U << i;
		if (!value)
			return refuse(why, "%s has no value; set %s= to %s", text, text,
				      words[i].wanted);
		if (read_value(&words[i], value,
			       (uint64_t *)(void *)((char *)link + words[i].member)))
			return 0;
		return refuse(why, "%s: '%.40s' is not %s", text, value, words[i].wanted);
	}
	return refuse(why, "unknown setting '%.40s'; use latency, bandwidth, jitter, loss or seed",
		      text);
}

/* Converts to a fraction of 2^64. The largest value counts as always. */
static uint64_t share(uint64_t loss)
{
	if (loss == LOSS_WHOLE)
		return UINT64_MAX;
	return (uint64_t)(((unsigned __int128)loss << 64) / LOSS_WHOLE);
}

int soft_link_parse(struct soft_link *link, const char *text, char why[static SOFT_LINK_WHY])
{
	char copy[256];
	unsigned int seen = 0;
	char *rest = copy;

	*link = (struct soft_link){.seed = 1};
	if (!text || !*text)
		return 0;
	if (strlen(text) >= sizeof(copy))
		return refuse(why, "longer than %zu characters", sizeof(copy) - 1);
	memcpy(copy, text, strlen(text) + 1);
	while (rest) {
		char *word = strsep(&rest, ",");

		if (read_word(link, word, &seen, why))
			return -EINVAL;
	}
	if (link->jitter_ns > link->latency_ns)
		return refuse(why, "jitter exceeds latency");
	link->loss = share(link->loss);
	link->is_on = true;
	return 0;
}
