/* SPDX-License-Identifier: MIT */
#include "bench/rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/compiler.h"

struct unit {
	const char *name;
	uint64_t factor;
	enum rate_unit unit;
};

/* Of what means the same, the first one is printed. */
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

/* Digits, worth so much each at the first place. What a place cannot hold is none. */
static const char *add_digits(const char *text, uint64_t *amount, uint64_t *worth)
{
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*worth < 10 && digit)
			return NULL;
		*worth /= 10;
		*amount += digit * *worth;
	}
	return text;
}

bool rate_parse(const char *text, uint64_t *rate)
{
	const char *name = text + strspn(text, "0123456789.");
	const struct unit *unit = find_unit(name);
	uint64_t amount = 0;
	uint64_t worth;

	if (!unit || *text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		amount = amount * 10 + (uint64_t)(*text - '0');
		if (amount > rate_most(unit->unit))
			return false;
	}
	if (__builtin_mul_overflow(amount, unit->factor, &amount))
		return false;
	worth = unit->factor;
	if (*text == '.' && name > text + 1)
		text = add_digits(text + 1, &amount, &worth);
	if (text != name || !amount || amount > rate_most(unit->unit))
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
