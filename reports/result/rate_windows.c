/* SPDX-License-Identifier: MIT */
#include "reports/result/rate_windows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NS_PER_S 1000000000

void rate_windows_init(struct rate_windows *windows, uint64_t window_ns)
{
	memset(windows, 0, sizeof(*windows));
	windows->window_ns = window_ns;
}

/* Messages after the last window are zero, so that an odd last window merges with nothing. */
static void merge_pairs(struct rate_windows *windows)
{
	size_t half = (windows->count + 1) / 2;

	for (size_t i = 0; i < half; i++)
		windows->messages[i] = windows->messages[2 * i] + windows->messages[2 * i + 1];
	memset(windows->messages + half, 0, (windows->count - half) * sizeof(*windows->messages));
	windows->count = half;
	windows->window_ns *= 2;
}

static void cut(struct rate_windows *windows, size_t count)
{
	while (windows->count > count) {
		windows->rest += windows->messages[--windows->count];
		windows->messages[windows->count] = 0;
	}
}

static void merge_whole_pairs(struct rate_windows *windows)
{
	cut(windows, windows->count & ~(size_t)1);
	merge_pairs(windows);
}

COLD void rate_windows_move(struct rate_windows *windows, uint64_t at_ns)
{
	size_t index;

	while (at_ns / windows->window_ns >= RATE_WINDOWS_MAX)
		merge_pairs(windows);
	index = at_ns / windows->window_ns;
	if (index >= windows->count)
		windows->count = index + 1;
	windows->current = index;
	windows->begin_ns = index * windows->window_ns;
	windows->end_ns = windows->begin_ns + windows->window_ns;
}

void rate_windows_finish(struct rate_windows *windows, uint64_t duration_ns)
{
	while (duration_ns / windows->window_ns > RATE_WINDOWS_MAX)
		merge_pairs(windows);
	cut(windows, duration_ns / windows->window_ns);
	windows->count = duration_ns / windows->window_ns;
}

void rate_windows_lay_over(struct rate_windows *into, const struct rate_windows *from)
{
	unsigned int fold = 0; /* 2^fold windows of from make one of into */

	while (into->window_ns < from->window_ns)
		merge_pairs(into);
	while (from->window_ns << fold < into->window_ns)
		fold++;
	for (size_t i = 0; i < from->count; i++)
		into->messages[i >> fold] += from->messages[i];
	if (from->count && ((from->count - 1) >> fold) + 1 > into->count)
		into->count = ((from->count - 1) >> fold) + 1;
	into->rest += from->rest;
}

void rate_windows_forget(struct rate_windows *windows, uint64_t messages)
{
	cut(windows, 0);
	windows->rest = messages;
}

double rate_windows_between(const struct rate_windows *windows, uint64_t counted_ns,
			    uint64_t from_ns, uint64_t until_ns)
{
	double sum = 0;

	for (size_t i = 0; i < windows->count; i++) {
		uint64_t begin = i * windows->window_ns;
		uint64_t whole = begin + windows->window_ns;
		uint64_t end = begin < counted_ns && counted_ns < whole ? counted_ns : whole;
		uint64_t low = begin < from_ns ? from_ns : begin;
		uint64_t high = end > until_ns ? until_ns : end;

		if (low < high)
			sum += (double)windows->messages[i] * (double)(high - low) /
			       (double)(end - begin);
	}
	return sum;
}

static uint64_t add_up(const struct rate_windows *windows)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < windows->count; i++)
		sum += windows->messages[i];
	return sum;
}

void rate_windows_coarsen(struct rate_windows *windows, uint64_t least_messages)
{
	while (windows->count > 1 && add_up(windows) / windows->count < least_messages)
		merge_whole_pairs(windows);
}

static int check_lengths(uint64_t one_ns, uint64_t other_ns, struct error *error)
{
	uint64_t fine = one_ns < other_ns ? one_ns : other_ns;
	uint64_t coarse = one_ns < other_ns ? other_ns : one_ns;
	uint64_t ratio = coarse / fine;

	if (coarse % fine || ratio & (ratio - 1))
		return error_set(error, -EINVAL,
				 "windows of %" PRIu64 " and %" PRIu64 " ns cannot be merged",
				 one_ns, other_ns);
	return 0;
}

int rate_windows_append(struct rate_windows *into, const struct rate_windows *from,
			struct error *error)
{
	int code = check_lengths(into->window_ns, from->window_ns, error);
	unsigned int fold = 0; /* 2^fold windows of from make one of into */
	size_t whole;

	if (code)
		return code;
	while (into->window_ns < from->window_ns)
		merge_whole_pairs(into);
	while (from->window_ns << fold < into->window_ns)
		fold++;
	while (into->count + (from->count >> fold) > RATE_WINDOWS_MAX) {
		merge_whole_pairs(into);
		fold++;
	}
	whole = from->count >> fold << fold;
	for (size_t i = 0; i < whole; i++)
		into->messages[into->count + (i >> fold)] += from->messages[i];
	for (size_t i = whole; i < from->count; i++)
		into->rest += from->messages[i];
	into->count += whole >> fold;
	into->rest += from->rest;
	return 0;
}

uint64_t rate_windows_total(const struct rate_windows *windows)
{
	return add_up(windows) + windows->rest;
}

uint64_t rate_windows_rate(const struct rate_windows *windows, size_t window,
			   uint64_t message_bytes)
{
	unsigned __int128 bytes = (unsigned __int128)windows->messages[window] * message_bytes;
	unsigned __int128 rate;

	/* No link is that fast, but bytes * NS_PER_S must not overflow. */
	if (bytes > ~(unsigned __int128)0 / NS_PER_S)
		return UINT64_MAX;
	rate = bytes * NS_PER_S / windows->window_ns;
	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

void rate_windows_fill(const struct rate_windows *windows, uint64_t message_bytes,
		       struct hist *hist)
{
	hist_clear(hist);
	for (size_t i = 0; i < windows->count; i++)
		hist_add(hist, rate_windows_rate(windows, i, message_bytes));
}
