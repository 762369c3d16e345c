/* SPDX-License-Identifier: MIT */
/* The digits of figures and sizes in tables, pages and sentences. */
#ifndef REPORTS_RESULT_DIGITS_H
#define REPORTS_RESULT_DIGITS_H

#include <stdint.h>

/* Decimal places of microseconds, whose resolution is 1 ns, and of other amounts. */
#define DIGITS_US     3
#define DIGITS_AMOUNT 12
#define DIGITS_RATIO  6

#define DIGITS_TEXT 352 /* holds any double */

/* Formats three significant digits and all digits before the decimal point, or "-" for NAN. */
void digits_print(char text[static DIGITS_TEXT], double value, int most_decimals);

#define DIGITS_SIZE 24

/* Formats a size in bytes as 64, 4k or 1M; as a plain number where no such unit divides it. */
void digits_size(char text[static DIGITS_SIZE], uint64_t bytes);

#endif
