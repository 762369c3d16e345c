/* SPDX-License-Identifier: MIT */
#include "bench/cli/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/compiler.h"

/* U+00B5 and U+03BC in UTF-8: keyboards have either one. */
#define MICRO "\xc2\xb5"
#define MU    "\xce\xbc"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Reads digits. Returns the text after them, or NULL without digits, or if they do not fit. */
static const char *digits(const char *text, uint64_t *number)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++) {
		unsigned int digit = (unsigned int)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}
	*number = value;
	return text;
}

static bool with_unit(const char *text, const struct unit *units, size_t n_units, uint64_t *value)
{
	uint64_t number;
	const char *unit = digits(text, &number);

	if (!unit)
		return false;
	for (size_t i = 0; i < n_units; i++) {
		if (strcasecmp(unit, units[i].name) != 0)
			continue;
		return !__builtin_mul_overflow(number, units[i].factor, value);
	}
	return false;
}

bool value_count(const char *text, uint64_t least, uint64_t most, uint64_t *count)
{
	uint64_t number;
	const char *end = digits(text, &number);

	if (!end || *end || number < least || number > most)
		return false;
	*count = number;
	return true;
}

bool value_size(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"",    1      },
                {"k",   1 << 10},
                {"kb",  1 << 10},
                {"KiB", 1 << 10},
		{"m",   1 << 20},
                {"mb",  1 << 20},
                {"MiB", 1 << 20},
                {"g",   1 << 30},
		{"gb",  1 << 30},
                {"GiB", 1 << 30},
	};

	return with_unit(text, units, ARRAY_LENGTH(units), bytes);
}

bool value_duration(const char *text, unsigned int *ms)
{
	static const struct unit units[] = {
		{"",   1000   },
                {"ms", 1      },
                {"s",  1000   },
                {"m",  60000  },
                {"h",  3600000}
        };
	uint64_t value;

	if (!with_unit(text, units, ARRAY_LENGTH(units), &value) || value > INT_MAX)
		return false;
	*ms = (unsigned int)value;
	return true;
}

bool value_time(const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{"",        1000000000   },
                {"ns",      1            },
                {"us",      1000         },
		{MICRO "s", 1000         },
                {MU "s",    1000         },
                {"ms",      1000000      },
		{"s",       1000000000   },
                {"m",       60000000000  },
                {"h",       3600000000000}
        };

	return with_unit(text, units, ARRAY_LENGTH(units), ns);
}

/* Prints the value in the first unit in which it is a whole number. */
static void print_unit(uint64_t value, const struct unit *units, size_t n_units, char *text,
		       size_t size)
{
	size_t i = 0;

	while (i + 1 < n_units && (!value || value % units[i].factor))
		i++;
	snprintf(text, size, "%" PRIu64 "%s", value / units[i].factor, units[i].name);
}

void value_print_size(uint64_t bytes, char *text, size_t size)
{
	static const struct unit units[] = {
		{"g", 1 << 30},
                {"m", 1 << 20},
                {"k", 1 << 10},
                {"",  1      }
        };

	print_unit(bytes, units, ARRAY_LENGTH(units), text, size);
}

void value_print_time(uint64_t ns, char *text, size_t size)
{
	static const struct unit units[] = {
		{"s",  1000000000},
                {"ms", 1000000   },
                {"us", 1000      },
                {"ns", 1         }
        };

	print_unit(ns, units, ARRAY_LENGTH(units), text, size);
}
