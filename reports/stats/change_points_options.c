/* SPDX-License-Identifier: MIT */
#include "reports/stats/change_points_options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reports/stats/change_points.h"

/* Parses digits with an optional point; *end is what follows. */
static bool take_number(const char *text, double *number, const char **end)
{
	size_t length = strspn(text, "0123456789.");
	char *stop;

	*number = strtod(text, &stop);
	*end = text + length;
	return length && stop == *end;
}

const char *change_points_parse_window(const char *text, void *window)
{
	const char *end;
	double number;

	if (!take_number(text, &number, &end) || *end || strchr(text, '.') ||
	    number < CHANGE_POINTS_WINDOW_LEAST || number > CHANGE_POINTS_WINDOW_MOST)
		return "is not a number of runs from 20 to 200";
	*(size_t *)window = (size_t)number;
	return NULL;
}

const char *change_points_parse_level(const char *text, void *level)
{
	const char *end;
	double number;

	/* A smaller level needs more than 100000 shuffles per change point. */
	if (!take_number(text, &number, &end) || *end || number < 0.00001 || number > 0.1)
		return "is not a probability from 0.00001 to 0.1";
	*(double *)level = number;
	return NULL;
}

const char *change_points_parse_magnitude(const char *text, void *magnitude)
{
	const char *end;
	double number;

	if (!take_number(text, &number, &end) || strcmp(end, "%") != 0 || number > 1000)
		return "is not a percentage such as 3%";
	*(double *)magnitude = number / 100;
	return NULL;
}
