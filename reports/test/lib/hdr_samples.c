/* SPDX-License-Identifier: MIT */
/*
 * Prints histograms for another implementation to check: a line "NAME VALUE COUNT" for each sample,
 * then "NAME STRING" with the encoded histogram.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/document/hdr.h"

#define TOP ((1ULL << HIST_MAX_BITS) - 1)

static struct hist hist;
static const char *name;

static void begin(const char *of)
{
	hist_init(&hist);
	name = of;
}

static void add(uint64_t value, uint64_t count)
{
	hist.bins[hist_index(value)] += count;
	hist.count += count;
	if (value < hist.min)
		hist.min = value;
	if (value > hist.max)
		hist.max = value;
	printf("%s %" PRIu64 " %" PRIu64 "\n", name, value, count);
}

static void end(void)
{
	struct error error = {0};
	char *text = hdr_encode(&hist, &error);

	if (!text) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	printf("%s %s\n", name, text);
	free(text);
}

static void one(const char *of, uint64_t value)
{
	begin(of);
	add(value, 1);
	end();
}

static void powers(void)
{
	begin("powers-of-two");
	for (unsigned int bit = 0; bit < HIST_MAX_BITS; bit++)
		for (uint64_t step = 0; step < 3; step++)
			add((1ULL << bit) - 1 + step, bit + 1);
	end();
}

static void counts(void)
{
	begin("counts-of-every-length");
	/* The total is still below 2^63. */
	add(1, 1ULL << 62);
	for (unsigned int bit = 0; bit < 62; bit++)
		add(3 * bit + bit % 3, (1ULL << bit) - bit % 2);
	end();
}

static void million(void)
{
	uint64_t random = 88172645463325252ULL;

	begin("a-million-at-random");
	for (unsigned int i = 0; i < 1000000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		add(random >> (64 - HIST_MAX_BITS + i % 30), 1);
	}
	end();
}

static void edges(void)
{
	begin("both-ends-of-every-bin");
	for (size_t i = 0; i < HIST_BINS; i++) {
		add(hist_low(i), 1);
		add(hist_high(i) - 1, i % 200);
	}
	end();
}

int main(void)
{
	begin("nothing");
	end();
	one("0", 0);
	one("1", 1);
	one("2047", 2047);
	one("2048", 2048);
	one("largest", TOP);
	powers();
	counts();
	edges();
	million();
	return 0;
}
