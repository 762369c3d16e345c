/* SPDX-License-Identifier: MIT */
#include "bench/plan/rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/compiler.h"

struct unit {
	const char *name;
	uint64_t factor;
	enum rate_unit unit;
};

/* The first of several equivalent units is used for printing. */
static const struct unit units[] = {
	{"T",      1000000000000, RATE_MESSAGES},
	{"G",      1000000000,    RATE_MESSAGES},
	{"M",      1000000,       RATE_MESSAGES},
	{"k",      1000,          RATE_MESSAGES},
	{"",       1,             RATE_MESSAGES},
	{"tbit",   1000000000000, RATE_BITS    },
	{"gbit",   1000000000,    RATE_BITS    },
	{"mbit",   1000000,       RATE_BITS    },
	{"kbit",   1000,          RATE_BITS    },
	{"bit",    1,             RATE_BITS    },
	{"%",      1,             RATE_PER_CENT},
	{"m",      1000000,       RATE_MESSAGES},
	{"g",      1000000000,    RATE_MESSAGES},
	{"K",      1000,          RATE_MESSAGES},
	{"msg/s",  1,             RATE_MESSAGES},
	{"kmsg/s", 1000,          RATE_MESSAGES},
	{"Mmsg/s", 1000000,       RATE_MESSAGES},
	{"Tbit",   1000000000000, RATE_BITS    },
	{"Gbit",   1000000000,    RATE_BITS    },
	{"Mbit",   1000000,       RATE_BITS    },
	{"Kbit",   1000,          RATE_BITS    },
	{"b/s",    1,             RATE_BITS    },
	{"kb/s",   1000,          RATE_BITS    },
	{"Mb/s",   1000000,       RATE_BITS    },
	{"Gb/s",   1000000000,    RATE_BITS    },
	{"Tb/s",   1000000000000, RATE_BITS    },
	{"B/s",    8,             RATE_BITS    },
	{"kB/s",   8000,          RATE_BITS    },
	{"MB/s",   8000000,       RATE_BITS    },
	{"GB/s",   8000000000,    RATE_BITS    },
	{"TB/s",   8000000000000, RATE_BITS    },
	{"KiB/s",  8ULL << 10,    RATE_BITS    },
	{"MiB/s",  8ULL << 20,    RATE_BITS    },
	{"GiB/s",  8ULL << 30,    RATE_BITS    },
};

uint64_t rate_most(enum rate_unit unit)
{
	static const uint64_t most[] = {
		[RATE_MESSAGES] = RATE_MOST,
		[RATE_BITS] = RATE_MOST,
		[RATE_PER_CENT] = 1000,
	};

	return most[unit];
}

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Adds the digits after a decimal point. Their value must be a whole number. */
static bool add_part(const char *digits, size_t length, uint64_t factor, uint64_t *amount)
{
	uint64_t part = 0;
	uint64_t parts = 1;

	while (length && digits[length - 1] == '0')
		length--;
	for (size_t i = 0; i < length; i++) {
		if (factor % 10 == 0)
			factor /= 10;
		else if (__builtin_mul_overflow(parts, 10, &parts))
			return false;
		if (__builtin_mul_overflow(part, 10, &part) ||
		    __builtin_add_overflow(part, (uint64_t)(digits[i] - '0'), &part))
			return false;
	}
	if (__builtin_mul_overflow(part, factor, &part) || part % parts)
		return false;
	return !__builtin_add_overflow(*amount, part / parts, amount);
}

bool rate_parse(const char *text, uint64_t *rate)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits);
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;
	const struct unit *unit = find_unit(text + whole + (part ? part + 1 : 0));
	uint64_t amount = 0;

	if (!unit || !whole)
		return false;
	for (size_t i = 0; i < whole; i++) {
		amount = amount * 10 + (uint64_t)(text[i] - '0');
		if (amount > rate_most(unit->unit))
			return false;
	}
	if (__builtin_mul_overflow(amount, unit->factor, &amount) ||
	    !add_part(text + whole + 1, part, unit->factor, &amount))
		return false;
	if (!amount || amount > rate_most(unit->unit))
		return false;
	*rate = amount | (uint64_t)unit->unit << 60;
	return true;
}

void rate_print(uint64_t rate, char *text, size_t size)
{
	uint64_t amount = rate_amount(rate);
	size_t i = 0;

	while (units[i].unit != rate_unit(rate) ||
	       (units[i].factor > 1 && (!amount || amount % units[i].factor)))
		i++;
	snprintf(text, size, "%" PRIu64 "%s", amount / units[i].factor, units[i].name);
}

double rate_messages(uint64_t rate, uint64_t bytes, double most)
{
	double amount = (double)rate_amount(rate);

	switch (rate_unit(rate)) {
	case RATE_BITS:
		return amount / 8 / (double)bytes;
	case RATE_PER_CENT:
		return amount * most / 100;
	case RATE_MESSAGES:
		break;
	}
	return amount;
}
