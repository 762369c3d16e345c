/* SPDX-License-Identifier: MIT */
#include "reports/document/restore.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/io/json_member.h"

#define NS_PER_S 1000000000

/* Steps to try from the computed squares, because the figure is rounded. */
#define SLACK 16

typedef unsigned __int128 wide;

/* Bounds on the sum, from the bins. */
struct bounds {
	wide count;
	wide least;
	wide most;
	size_t first; /* first non-empty bin */
	size_t end;
};

static int check_scheme(const json_t *histogram, struct error *error)
{
	char scheme[32] = "";
	char unit[32] = "";
	uint64_t bits = 0;

	if (json_member_text(histogram, "scheme", scheme, sizeof(scheme), error) ||
	    json_member_text(histogram, "unit", unit, sizeof(unit), error) ||
	    json_member_count(histogram, "sub_bits", &bits, error))
		return -EINVAL;
	if (strcmp(scheme, "log2-linear") != 0 || bits != HIST_SUB_BITS || strcmp(unit, "ns") != 0)
		return error_set(error, -EINVAL, "unsupported bins: %s of %" PRIu64 " bits in %s",
				 scheme, bits, unit);
	return 0;
}

static bool take_bin(struct hist *hist, const json_t *bin, struct bounds *bounds)
{
	json_int_t low = json_integer_value(json_array_get(bin, 0));
	json_int_t high = json_integer_value(json_array_get(bin, 1));
	json_int_t count = json_integer_value(json_array_get(bin, 2));
	size_t index;

	if (json_array_size(bin) != 3 || low < 0 || low >= (json_int_t)1 << HIST_MAX_BITS ||
	    count < 1)
		return false;
	index = hist_index((uint64_t)low);
	if (index < bounds->end || hist_low(index) != (uint64_t)low ||
	    hist_high(index) != (uint64_t)high || !json_is_integer(json_array_get(bin, 0)))
		return false;
	if (!bounds->end)
		bounds->first = index;
	bounds->end = index + 1;
	hist->bins[index] = (uint64_t)count;
	bounds->count += (wide)count;
	bounds->least += (wide)low * (wide)count;
	bounds->most += (wide)(high - 1) * (wide)count;
	return true;
}

static int take_bins(struct hist *hist, const json_t *bins, struct bounds *bounds,
		     struct error *error)
{
	const json_t *bin;
	size_t i;

	json_array_foreach(bins, i, bin)
	{
		if (!take_bin(hist, bin, bounds))
			return error_set(error, -EINVAL, "bin %zu is invalid or out of order", i);
	}
	return 0;
}

/* Returns the bin of a value; HIST_BINS if it is beyond the bins. */
static size_t place(uint64_t value)
{
	return value < 1ULL << HIST_MAX_BITS ? hist_index(value) : HIST_BINS;
}

static bool are_extremes_right(const struct hist *hist, const struct bounds *bounds)
{
	size_t first = bounds->end ? bounds->first : HIST_BINS;

	return hist->min <= hist->max && place(hist->min) == first &&
	       place(hist->max) == (hist->over ? HIST_BINS : bounds->end - 1);
}

static int check_sums(const struct hist *hist, struct bounds bounds, struct error *error)
{
	bounds.count += hist->over;
	bounds.least += (wide)hist->over << HIST_MAX_BITS;
	bounds.most += (wide)hist->over * hist->max;
	if (bounds.count != hist->count)
		return error_set(error, -EINVAL, "the bins do not add up to the count %" PRIu64,
				 hist->count);
	if (hist->sum < bounds.least || hist->sum > bounds.most)
		return error_set(error, -EINVAL, "the bins do not allow the sum %" PRIu64,
				 hist->sum);
	if (hist->count && !are_extremes_right(hist, &bounds))
		return error_set(error, -EINVAL, "min and max do not match the outermost bins");
	return 0;
}

/* Converts squares about the integer part of the mean to squares about 0; see hist_stddev. */
static void set_squares(struct hist *hist, wide about_centre)
{
	uint64_t centre = hist->sum / hist->count;

	hist->sum_squares =
		about_centre + (wide)centre * ((wide)hist->sum + hist->sum % hist->count);
}

/* Returns the distance between doubles of that size. */
static wide step_at(double value)
{
	return value < 0x1p53 ? 1 : (wide)1 << (ilogb(value) - (DBL_MANT_DIG - 1));
}

static int restore_squares(struct hist *hist, double deviation, struct error *error)
{
	/* Integer deviations from the integer part of the mean have this sum; squares are no less. */
	uint64_t least = hist->sum % hist->count;
	double rest = (double)least;
	double about = deviation * deviation * (double)(hist->count - 1) +
		       rest * rest / (double)hist->count;
	wide squares;

	/* The squares are at most the largest value times the sum: 2^126. */
	if (about > (double)hist->max * (double)hist->sum * (1 + 1e-9))
		return error_set(error, -EINVAL, "a stddev of %g is impossible", deviation);
	squares = (wide)(about + 0.5);
	if (squares < least)
		squares = least;
	for (wide i = 0; i < SLACK; i++) {
		wide off = i * step_at(about);

		set_squares(hist, squares + off);
		if (hist_stddev(hist) == deviation)
			return 0;
		set_squares(hist, squares - least > off ? squares - off : least);
		if (hist_stddev(hist) == deviation)
			return 0;
	}
	set_squares(hist, squares);
	return 0;
}

static int take_histogram(struct hist *hist, const json_t *histogram, struct error *error)
{
	struct bounds bounds = {0};
	json_t *bins;
	int code = check_scheme(histogram, error);

	if (code || json_member_count(histogram, "count", &hist->count, error) ||
	    json_member_count(histogram, "sum", &hist->sum, error) ||
	    json_member_count(histogram, "min", &hist->min, error) ||
	    json_member_count(histogram, "max", &hist->max, error) ||
	    json_member_count(histogram, "over", &hist->over, error) ||
	    json_member_array(histogram, "bins", &bins, error))
		return -EINVAL;
	code = take_bins(hist, bins, &bounds, error);
	if (!code)
		code = check_sums(hist, bounds, error);
	if (!code && !hist->count)
		hist_clear(hist);
	return code;
}

static int restore(struct hist *hist, const json_t *latency, struct error *error)
{
	json_t *histogram;
	uint64_t count;
	double deviation = 0;
	int code;

	if (json_member_count(latency, "count", &count, error) ||
	    json_member_object(latency, "histogram", &histogram, error))
		return -EINVAL;
	code = take_histogram(hist, histogram, error);
	if (code)
		return code;
	if (count != hist->count)
		return error_set(error, -EINVAL, "count does not match the histogram");
	if (!count)
		return 0;
	if (count > 1 && json_member_figure(latency, "stddev", &deviation, error))
		return -EINVAL;
	return restore_squares(hist, deviation, error);
}

int restore_hist(struct hist *hist, const json_t *latency, struct error *error)
{
	int code;

	hist_clear(hist);
	code = restore(hist, latency, error);
	if (code)
		hist_init(hist);
	return code;
}

/* Returns the smallest number of messages in a window with that rate, or UINT64_MAX. */
static uint64_t messages_of(const struct rate_windows *windows, uint64_t rate,
			    uint64_t message_bytes)
{
	wide per_message = (wide)message_bytes * NS_PER_S;
	wide messages;

	if (!message_bytes)
		return rate ? UINT64_MAX : 0;
	messages = ((wide)rate * windows->window_ns + per_message - 1) / per_message;
	return messages > UINT64_MAX ? UINT64_MAX : (uint64_t)messages;
}

static int take_windows(struct rate_windows *windows, const json_t *rates, uint64_t message_bytes,
			struct error *error)
{
	const json_t *json;
	size_t i;

	json_array_foreach(rates, i, json)
	{
		json_int_t rate = json_integer_value(json);

		if (!json_is_integer(json) || rate < 0)
			return error_set(error, -EINVAL, "window %zu is not a count", i);
		windows->messages[i] = messages_of(windows, (uint64_t)rate, message_bytes);
		if (windows->messages[i] > windows->rest ||
		    rate_windows_rate(windows, i, message_bytes) != (uint64_t)rate)
			return error_set(error, -EINVAL,
					 "window %zu is not a possible number of messages", i);
		windows->rest -= windows->messages[i];
	}
	windows->count = i;
	return 0;
}

int restore_windows(struct rate_windows *windows, const json_t *bandwidth, uint64_t message_bytes,
		    struct error *error)
{
	uint64_t window_ns;
	uint64_t duration_ns;
	uint64_t messages;
	json_t *rates;

	if (json_member_count(bandwidth, "window_ns", &window_ns, error) ||
	    json_member_count(bandwidth, "duration_ns", &duration_ns, error) ||
	    json_member_count(bandwidth, "messages", &messages, error) ||
	    json_member_array(bandwidth, "windows", &rates, error))
		return -EINVAL;
	if (!window_ns || json_array_size(rates) > RATE_WINDOWS_MAX ||
	    (wide)window_ns * json_array_size(rates) > duration_ns)
		return error_set(error, -EINVAL,
				 "%zu windows of %" PRIu64 " ns do not fit into %" PRIu64 " ns",
				 json_array_size(rates), window_ns, duration_ns);
	rate_windows_init(windows, window_ns);
	windows->rest = messages;
	return take_windows(windows, rates, message_bytes, error);
}
