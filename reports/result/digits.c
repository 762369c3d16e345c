/* SPDX-License-Identifier: MIT */
#include "reports/result/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
