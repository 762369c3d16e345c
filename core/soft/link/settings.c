/* SPDX-License-Identifier: MIT */
#include "core/soft/link/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
static const struct unit numbers[] = {
	{"",   0},
        {NULL, 0}
};

static const struct word {
	const char *name;
	const struct unit *units;
	const char *wanted;
	uint64_t least;
	uint64_t most;
	size_t member;
} words[] = {
	{"latency",   times,   "a time of at most 10s, like 2us",           0,    TEN_SECONDS,
	 offsetof(struct soft_link,											latency_ns)     },
	{"bandwidth", rates,   "a rate from 1kbit to 10tbit, like 100gbit", 1000, FASTEST_BITS,
	 offsetof(struct soft_link,											bits_per_second)},
	{"jitter",    times,   "a time of at most 10s, like 200ns",         0,    TEN_SECONDS,
	 offsetof(struct soft_link,											jitter_ns)      },
	{"loss",      shares,  "a share from 0 to 1, like 1e-4",            0,    LOSS_WHOLE,
	 offsetof(struct soft_link,											loss)           },
	{"seed",      numbers, "a whole number",                            0,    UINT64_MAX,   offsetof(struct soft_link, seed)           },
};

struct number {
	uint64_t digits;
	int power;
};

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* Digits with at most one point among them; false: none, or too many. */
static bool take_digits(const char **at, struct number *number)
{
	bool has_point = false;
	bool has_digit = false;

	for (; is_digit(**at) || (**at == '.' && !has_point); (*at)++) {
		if (**at == '.') {
			has_point = true;
			continue;
		}
		if (__builtin_mul_overflow(number->digits, 10, &number->digits) ||
		    __builtin_add_overflow(number->digits, (uint64_t)(**at - '0'), &number->digits))
			return false;
		has_digit = true;
		number->power -= has_point;
	}
	return has_digit;
}

/* Independent of the program's locale, which strtod() is not. */
static bool take_number(const char **at, struct number *number)
{
	int sign = 1;
	int power = 0;

	*number = (struct number){0};
	if (!take_digits(at, number))
		return false;
	if (**at != 'e')
		return true;
	(*at)++;
	if (**at == '-' || **at == '+')
		sign = *(*at)++ == '-' ? -1 : 1;
	if (!is_digit(**at))
		return false;
	for (; is_digit(**at); (*at)++)
		if (power < 100)
			power = power * 10 + (**at - '0');
	number->power += sign * power;
	return true;
}

/* False: too much, or not a whole number of what it is counted in. */
static bool scale(struct number number, int power, uint64_t *value)
{
	*value = number.digits;
	if (!*value)
		return true;
	for (power += number.power; power > 0; power--)
		if (__builtin_mul_overflow(*value, 10, value))
			return false;
	for (; power < 0; power++) {
		if (*value % 10)
			return false;
		*value /= 10;
	}
	return true;
}

static bool read_value(const struct word *word, const char *text, uint64_t *value)
{
	struct number number;

	if (!take_number(&text, &number))
		return false;
	for (const struct unit *unit = word->units; unit->name; unit++)
		if (!strcmp(unit->name, text))
			return scale(number, unit->power, value) && *value >= word->least &&
			       *value <= word->most;
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
			return refuse(why, "%s is there twice", text);
		*seen |= 1U << i;
		if (!value)
			return refuse(why, "%s has no value: %s=, and %s", text, text,
				      words[i].wanted);
		if (read_value(&words[i], value,
			       (uint64_t *)(void *)((char *)link + words[i].member)))
			return 0;
		return refuse(why, "%s: '%.40s' is not %s", text, value, words[i].wanted);
	}
	return refuse(why, "'%.40s' is none of latency, bandwidth, jitter, loss, seed", text);
}

/* 1 of 2^64 less is as good as always. */
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
		return refuse(why, "more than %zu letters", sizeof(copy) - 1);
	memcpy(copy, text, strlen(text) + 1);
	while (rest) {
		char *word = strsep(&rest, ",");

		if (read_word(link, word, &seen, why))
			return -EINVAL;
	}
	if (link->jitter_ns > link->latency_ns)
		return refuse(why, "jitter is more than latency");
	link->loss = share(link->loss);
	link->is_on = true;
	return 0;
}
