/* SPDX-License-Identifier: MIT */
/*
 * A log-linear histogram of nanoseconds with 2^10 bins per power of two: exact below 2048
 * ns, with a resolution of 1/1024 above, up to 137 s. Its size does not depend on the
 * number of samples. It also keeps the exact minimum, maximum, count and sum; over counts
 * samples beyond the last bin.
 */
#ifndef CORE_BASE_HIST_H
#define CORE_BASE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/compiler.h"

#define HIST_SUB_BITS 10
#define HIST_MAX_BITS 37
#define HIST_BINS     ((size_t)(HIST_MAX_BITS - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

/* The bins below min's and above max's are empty, so loops may skip them. */
struct hist {
	uint64_t count; /* including over */
	uint64_t over;
	uint64_t min;
	uint64_t max;
	uint64_t sum;
	unsigned __int128 sum_squares;
	uint64_t bins[HIST_BINS];
};

void hist_init(struct hist *hist);

/*
 * Allocates an empty histogram, without touching the memory of its bins. Returns NULL if
 * out of memory.
 */
struct hist *hist_create(void);

/*
 * Clears an initialized or zeroed histogram. Takes time proportional to the range of its
 * samples.
 */
void hist_clear(struct hist *hist);

static ALWAYS_INLINE size_t hist_index(uint64_t value)
{
	unsigned int shift;

	if (value < (2ULL << HIST_SUB_BITS))
		return value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - HIST_SUB_BITS;
	return ((size_t)(shift + 1) << HIST_SUB_BITS) +
	       ((value >> shift) & ((1U << HIST_SUB_BITS) - 1));
}

static ALWAYS_INLINE void hist_add(struct hist *hist, uint64_t value)
{
	hist->count++;
	hist->sum += value;
	hist->sum_squares += (unsigned __int128)value * value;
	if (value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
	if (likely(value < (1ULL << HIST_MAX_BITS)))
		hist->bins[hist_index(value)]++;
	else
		hist->over++;
}

/* The range of bins with samples: first to before end; first <= end <= HIST_BINS. */
size_t hist_first(const struct hist *hist);
size_t hist_end(const struct hist *hist);

/* Return the smallest value of a bin, and the smallest value above the bin. */
uint64_t hist_low(size_t index);
uint64_t hist_high(size_t index);

/* Adds all of one histogram to another. */
void hist_merge(struct hist *into, const struct hist *from);

/*
 * Returns the value that this share of the samples does not exceed (the median: 500000),
 * interpolated within its bin and clamped to the exact minimum and maximum. Returns 0 for
 * an empty histogram.
 */
double hist_quantile(const struct hist *hist, uint32_t parts_per_million);

/*
 * Returns whether at least ten samples lie beyond the quantile. With fewer, it would
 * describe those few samples rather than the distribution.
 */
bool hist_has_quantile(const struct hist *hist, uint32_t parts_per_million);

double hist_mean(const struct hist *hist);
double hist_stddev(const struct hist *hist);

#endif
