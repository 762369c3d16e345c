/* SPDX-License-Identifier: MIT */
#include "core/base/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MILLION    1000000
#define LEAST_TAIL 10
#define SUB_BINS   ((uint64_t)1 << HIST_SUB_BITS)

void hist_init(struct hist *hist)
{
	memset(hist, 0, sizeof(*hist));
	hist->min = UINT64_MAX;
}

struct hist *hist_create(void)
{
	struct hist *hist = calloc(1, sizeof(*hist));

	if (hist)
		hist->min = UINT64_MAX;
	return hist;
}

static size_t place(uint64_t value)
{
	return value < 1ULL << HIST_MAX_BITS ? hist_index(value) : HIST_BINS;
}

size_t hist_first(const struct hist *hist)
{
	return hist->count ? place(hist->min) : 0;
}

size_t hist_end(const struct hist *hist)
{
	size_t last = place(hist->max);

	if (!hist->count)
		return 0;
	return last < HIST_BINS ? last + 1 : HIST_BINS;
}

void hist_clear(struct hist *hist)
{
	size_t first = hist_first(hist);

	memset(hist->bins + first, 0, (hist_end(hist) - first) * sizeof(hist->bins[0]));
	hist->count = hist->over = hist->max = hist->sum = 0;
	hist->sum_squares = 0;
	hist->min = UINT64_MAX;
}

uint64_t hist_low(size_t index)
{
	uint64_t group = index >> HIST_SUB_BITS;

	if (group < 2)
		return index;
	return (SUB_BINS + (index & (SUB_BINS - 1))) << (group - 1);
}

uint64_t hist_high(size_t index)
{
	uint64_t group = index >> HIST_SUB_BITS;

	return hist_low(index) + (group < 2 ? 1 : (uint64_t)1 << (group - 1));
}

void hist_merge(struct hist *into, const struct hist *from)
{
	into->count += from->count;
	into->over += from->over;
	into->sum += from->sum;
	into->sum_squares += from->sum_squares;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	for (size_t i = hist_first(from), end = hist_end(from); i < end; i++)
		into->bins[i] += from->bins[i];
}

/* Returns the bin of the sample with that rank, from 1, or HIST_BINS if it is beyond the bins. */
static size_t find_rank(const struct hist *hist, uint64_t rank, uint64_t *before)
{
	size_t end = hist_end(hist);
	uint64_t seen = 0;

	for (size_t i = hist_first(hist); i < end; i++) {
		if (seen + hist->bins[i] >= rank) {
			*before = seen;
			return i;
		}
		seen += hist->bins[i];
	}
	*before = seen;
	return HIST_BINS;
}

static double clamp(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

double hist_quantile(const struct hist *hist, uint32_t parts_per_million)
{
	unsigned __int128 wanted = (unsigned __int128)hist->count * parts_per_million;
	uint64_t rank = (uint64_t)((wanted + MILLION - 1) / MILLION);
	uint64_t before;
	uint64_t width;
	size_t bin;

	if (!hist->count)
		return 0;
	if (!rank)
		rank = 1;
	bin = find_rank(hist, rank, &before);
	if (bin == HIST_BINS)
		return (double)hist->max;
	/* Samples are assumed to be evenly spread over a bin; a bin of one value is exact. */
	width = hist_high(bin) - hist_low(bin) - 1;
	return clamp((double)hist_low(bin) + (double)width * ((double)(rank - before) - 0.5) /
						     (double)hist->bins[bin],
		     (double)hist->min, (double)hist->max);
}

bool hist_has_quantile(const struct hist *hist, uint32_t parts_per_million)
{
	return (unsigned __int128)hist->count * (MILLION - parts_per_million) >=
	       (unsigned __int128)LEAST_TAIL * MILLION;
}

double hist_mean(const struct hist *hist)
{
	return hist->count ? (double)hist->sum / (double)hist->count : 0;
}

/*
 * Computes the squares about an integer next to the mean, in exact integer arithmetic. In
 * floating point, the difference of two large sums would lose the jitter.
 */
double hist_stddev(const struct hist *hist)
{
	unsigned __int128 center;
	unsigned __int128 squares;
	double rest;
	double variance;

	if (hist->count < 2)
		return 0;
	center = hist->sum / hist->count;
	rest = (double)(hist->sum % hist->count);
	squares = hist->sum_squares + hist->count * center * center - 2 * center * hist->sum;
	variance =
		((double)squares - rest * rest / (double)hist->count) / (double)(hist->count - 1);
	/* With the large sums that a document may contain, rounding can make a zero negative. */
	return variance > 0 ? sqrt(variance) : 0;
}
