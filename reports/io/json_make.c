/* SPDX-License-Identifier: MIT */
#include "reports/io/json_make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/printable.h"

json_t *json_make_text(const char *text)
{
	json_t *made = json_string(text);
	char *plain = made ? NULL : strdup(text);

	if (!plain)
		return made;
	printable_copy(plain, strlen(plain) + 1, plain);
	made = json_string(plain);
	free(plain);
	return made;
}

void json_make_append(json_t **array, const char *format, va_list values)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, values);
	if (!*array)
		*array = json_array();
	json_array_append_new(*array, json_make_text(text));
}

json_t *json_make_number(double value)
{
	return isfinite(value) ? json_real(value) : NULL;
}
