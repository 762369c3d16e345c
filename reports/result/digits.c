/* SPDX-License-Identifier: MIT */
#include "reports/result/digits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"

void digits_print(char text[static DIGITS_TEXT], double value, int most_decimals)
{
	int decimals = 0;

	if (isnan(value)) {
		snprintf(text, DIGITS_TEXT, "-");
		return;
	}
	/* The exponent after rounding: 9.999 is shown as 10.0. */
	if (isfinite(value) && fabs(value) > 0) {
		snprintf(text, DIGITS_TEXT, "%.2e", value);
		decimals = 2 - atoi(strchr(text, 'e') + 1);
	}
	decimals = decimals < most_decimals ? decimals : most_decimals;
	snprintf(text, DIGITS_TEXT, "%.*f", decimals > 0 ? decimals : 0, value);
}

void digits_size(char text[static DIGITS_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"", "k", "M", "G"};
	size_t unit = 0;

	for (; unit + 1 < ARRAY_LENGTH(units) && bytes && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	snprintf(text, DIGITS_SIZE, "%" PRIu64 "%s", bytes, units[unit]);
}
