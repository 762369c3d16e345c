/* SPDX-License-Identifier: MIT */
#include "reports/page/axis.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/result/digits.h"

/* The number of labels that fit. */
#define LABELS 6
/* Limits the endless scale of quantiles: 0.999999 has six nines. */
#define NINES_MOST 6
/* Up to this spread, a linear axis shows ratios well. */
#define MANY_TIMES 4

void axis_open(struct axis *axis, enum axis_scale scale)
{
	*axis = (struct axis){
		.scale = scale,
		.title = "",
		.unit_name = "",
		.unit = 1,
		.least = HUGE_VAL,
		.most = -HUGE_VAL,
	};
}

static bool is_logarithmic(const struct axis *axis)
{
	return axis->scale == AXIS_LOG || axis->scale == AXIS_SIZES;
}

void axis_include(struct axis *axis, double value)
{
	if (!isfinite(value) || (is_logarithmic(axis) && value <= axis->floor))
		return;
	axis->least = fmin(axis->least, value);
	axis->most = fmax(axis->most, value);
}

/* Rounds down to 1, 2 or 5 times a power of ten. */
static double round_down(double value)
{
	double power = pow(10, floor(log10(value) + 1e-9));
	double lead = value / power;

	return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

static double round_up(double value)
{
	double power = pow(10, floor(log10(value) + 1e-9));
	double lead = value / power;

	return (lead > 5 ? 10 : lead > 2 ? 5 : lead > 1 ? 2 : 1) * power;
}

/* Returns the number of nines of a fraction of 1: 3 for 0.999. */
static double nines(double part)
{
	return part < 1 ? fmin(-log10(1 - part), NINES_MOST) : NINES_MOST;
}

/* Returns the distance of ticks, in the unit of the values. */
static double linear_step(const struct axis *axis)
{
	double step = round_up((axis->most - axis->least) / axis->unit / LABELS);

	return (axis->is_counted ? fmax(1, step) : step) * axis->unit;
}

static void fit_log(struct axis *axis)
{
	axis->least = round_down(axis->least / axis->unit) * axis->unit;
	axis->most = round_up(axis->most / axis->unit) * axis->unit;
	if (axis->most <= axis->least)
		axis->most = round_up(axis->least / axis->unit * 1.5) * axis->unit;
}

/* Rounding the ends may lengthen the axis and so change the step: repeat until both fit. */
static void fit_linear(struct axis *axis)
{
	double step = 0;

	if (axis->scale == AXIS_LINEAR)
		axis->least = fmin(axis->least, 0);
	/* A single value is in the middle. */
	if (axis->most <= axis->least && !axis->is_counted) {
		axis->least *= 0.95;
		axis->most *= 1.05;
	}
	if (axis->most <= axis->least)
		axis->most = axis->least + axis->unit;
	while (linear_step(axis) > step) {
		step = linear_step(axis);
		axis->least = floor(axis->least / step + 1e-9) * step;
		axis->most = ceil(axis->most / step - 1e-9) * step;
	}
}

void axis_settle(struct axis *axis)
{
	if (axis->scale == AXIS_RATIO)
		axis->scale = axis->most > MANY_TIMES * axis->least ? AXIS_LOG : AXIS_RANGE;
}

void axis_fit(struct axis *axis)
{
	if (axis->least > axis->most)
		axis->least = axis->most = axis->unit;
	axis_settle(axis);
	switch (axis->scale) {
	case AXIS_LINEAR:
	case AXIS_RANGE:
	case AXIS_RATIO:
		fit_linear(axis);
		break;
	case AXIS_LOG:
		fit_log(axis);
		break;
	case AXIS_SIZES:
		if (axis->most > axis->least)
			break;
		axis->least /= 2;
		axis->most *= 2;
		break;
	case AXIS_NINES:
		axis->least = 0;
		axis->most = 1 - pow(10, -fmax(1, ceil(nines(axis->most) - 1e-9)));
		break;
	}
}

/* Maps a value to one that is linear in pixels. */
static double bend(const struct axis *axis, double value)
{
	switch (axis->scale) {
	case AXIS_LOG:
	case AXIS_SIZES:
		return log10(value);
	case AXIS_NINES:
		return nines(value);
	case AXIS_LINEAR:
	case AXIS_RANGE:
	case AXIS_RATIO:
		break;
	}
	return value;
}

double axis_at(const struct axis *axis, double value)
{
	double inside = fmin(fmax(value, axis->least), axis->most);
	double first = bend(axis, axis->least);
	double last = bend(axis, axis->most);
	double part = last > first ? (bend(axis, inside) - first) / (last - first) : 0;

	return axis->from + part * (axis->to - axis->from);
}

bool axis_switch(struct axis *axis)
{
	bool is_linear = axis->scale == AXIS_LINEAR || axis->scale == AXIS_RANGE;

	if (axis->is_counted || (!is_linear && axis->scale != AXIS_LOG))
		return false;
	axis->scale = is_linear ? AXIS_LOG : AXIS_LINEAR;
	return true;
}

const char *axis_scale_name(enum axis_scale scale)
{
	static const char *const names[] = {
		[AXIS_LINEAR] = "linear", [AXIS_RANGE] = "linear", [AXIS_LOG] = "log",
		[AXIS_SIZES] = "log",     [AXIS_NINES] = "nines",  [AXIS_RATIO] = "linear",
	};

	return names[scale];
}

/* Abbreviates thousands by a letter, since five digits do not fit. */
static void label(char text[static HTML_NUMBER], double value)
{
	static const struct {
		double least;
		double unit;
		char letter;
	} steps[] = {
		{1e12, 1e12, 'T'},
		{1e9,  1e9,  'G'},
		{1e6,  1e6,  'M'},
		{1e4,  1e3,  'k'},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(steps); i++) {
		if (value < steps[i].least * (1 - 1e-9))
			continue;
		snprintf(text, HTML_NUMBER, "%.6g%c", value / steps[i].unit, steps[i].letter);
		return;
	}
	snprintf(text, HTML_NUMBER, "%.6g", value);
}

/* Returns false if the array is full. */
static bool axis_add(struct axis_tick *ticks, size_t *count, double value, const char *text)
{
	if (*count >= AXIS_TICKS)
		return false;
	ticks[*count].value = value;
	snprintf(ticks[*count].label, sizeof(ticks->label), "%s", text);
	++*count;
	return true;
}

static size_t linear_ticks(const struct axis *axis, struct axis_tick *ticks)
{
	double step = linear_step(axis);
	size_t count = 0;
	char text[HTML_NUMBER];

	for (double i = 0; axis->least + i * step <= axis->most * (1 + 1e-9); i++) {
		double value = axis->least + i * step;

		label(text, value / axis->unit);
		if (!axis_add(ticks, &count, value, text))
			break;
	}
	return count;
}

/* Puts ticks at powers of ten: at every n-th if there are many, and between them if few. */
static size_t log_ticks(const struct axis *axis, struct axis_tick *ticks)
{
	static const double leads[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
	static const bool often[] = {true, false, false, true, false, false, false, true};
	double decades = log10(axis->most / axis->least);
	double step = decades > 2.2 ? ceil(decades / LABELS) : 1;
	double first = floor(log10(axis->least / axis->unit) + 1e-9);
	size_t count = 0;

	for (double power = first; pow(10, power) * axis->unit <= axis->most * 1.001;
	     power += step) {
		for (size_t i = 0; i < ARRAY_LENGTH(leads); i++) {
			double value = leads[i] * pow(10, power);
			char text[HTML_NUMBER];

			if ((decades > 2.2 && i) ||
			    (decades > 0.5 && (i >= ARRAY_LENGTH(often) || !often[i])) ||
			    value * axis->unit < axis->least * 0.999 ||
			    value * axis->unit > axis->most * 1.001)
				continue;
			label(text, value);
			if (!axis_add(ticks, &count, value * axis->unit, text))
				return count;
		}
	}
	return count;
}

static size_t size_ticks(const struct axis *axis, struct axis_tick *ticks)
{
	double first = ceil(log2(axis->least) - 1e-9);
	double last = floor(log2(axis->most) + 1e-9);
	double step = fmax(1, ceil((last - first) / LABELS));
	size_t count = 0;

	for (size_t i = 0; i < AXIS_TICKS; i++) {
		double power = first + step * (double)i;
		char text[HTML_NUMBER];

		if (power > last)
			break;
		digits_size(text, (uint64_t)exp2(power));
		axis_add(ticks, &count, exp2(power), text);
	}
	/* No power of two lies on the axis: label both ends. */
	for (int end = 0; end < 2 && first > last; end++) {
		double value = end ? axis->most : axis->least;
		char text[HTML_NUMBER];

		digits_size(text, (uint64_t)value);
		axis_add(ticks, &count, value, text);
	}
	return count;
}

static size_t nines_ticks(const struct axis *axis, struct axis_tick *ticks)
{
	static const struct axis_tick all[] = {
		{0.5,      "50%"     },
                {0.9,      "90%"     },
                {0.99,     "99%"     },
                {0.999,    "99.9%"   },
		{0.9999,   "99.99%"  },
                {0.99999,  "99.999%" },
                {0.999999, "99.9999%"},
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
		if (nines(all[i].value) <= nines(axis->most) + 1e-6)
			axis_add(ticks, &count, all[i].value, all[i].label);
	return count;
}

size_t axis_ticks(const struct axis *axis, struct axis_tick ticks[static AXIS_TICKS])
{
	switch (axis->scale) {
	case AXIS_LOG:
		return log_ticks(axis, ticks);
	case AXIS_SIZES:
		return size_ticks(axis, ticks);
	case AXIS_NINES:
		return nines_ticks(axis, ticks);
	case AXIS_LINEAR:
	case AXIS_RANGE:
	case AXIS_RATIO:
		break;
	}
	return linear_ticks(axis, ticks);
}

void axis_number(const struct axis *axis, double value, char text[static HTML_NUMBER])
{
	if (axis->scale == AXIS_SIZES)
		digits_size(text, (uint64_t)value);
	else if (axis->scale == AXIS_NINES)
		snprintf(text, HTML_NUMBER, "%.7g%%", 100 * value);
	else
		html_short(text, value / axis->unit, 3);
}

void axis_text(const struct axis *axis, double value, char text[static AXIS_TEXT])
{
	char number[HTML_NUMBER];

	axis_number(axis, value, number);
	snprintf(text, AXIS_TEXT, "%s%s%s", number, *axis->unit_name ? " " : "", axis->unit_name);
}
