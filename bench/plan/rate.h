/* SPDX-License-Identifier: MIT */
/*
 * Rates as people write them: messages per second (100k, 1M), bits of payload per second (10gbit,
 * 2.5Gb/s, 100MB/s), or percent of the case's maximum (10%). One number holds any of them: the
 * amount, with the unit in its highest bits. Messages are the plain number.
 */
#ifndef BENCH_PLAN_RATE_H
#define BENCH_PLAN_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_UNIT (7ULL << 60)
/* The largest amount of any unit. */
#define RATE_MOST 1000000000000000ULL

enum rate_unit {
	RATE_MESSAGES,
	RATE_BITS,
	RATE_PER_CENT,
};

static inline enum rate_unit rate_unit(uint64_t rate)
{
	return (enum rate_unit)((rate & RATE_UNIT) >> 60);
}

static inline uint64_t rate_amount(uint64_t rate)
{
	return rate & ~RATE_UNIT;
}

/*
 * Parses a rate: 1.5M, 100k, 10gbit, 2.5Gb/s, 100MiB/s, 10%. Returns false if any part is invalid.
 */
bool rate_parse(const char *text, uint64_t *rate);

/* Returns the largest amount of a unit. */
uint64_t rate_most(enum rate_unit unit);

/* Prints the shortest text for a rate. */
void rate_print(uint64_t rate, char *text, size_t size);

/* Converts a rate to messages per second, each of `bytes`. most: the rate that 100 % stands for. */
double rate_messages(uint64_t rate, uint64_t bytes, double most);

#endif
