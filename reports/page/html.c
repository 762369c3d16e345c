/* SPDX-License-Identifier: MIT */
#include "reports/page/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "reports/export/xml.h"

void html_text(FILE *out, const char *text)
{
	xml_print_but(out, text, "\n\t");
}

void html_start(FILE *out, const char *text, size_t letters)
{
	char start[1024];
	size_t length = 0;

	for (size_t i = 0; text[i] && i < sizeof(start) - 1; i++) {
		/* UTF-8 continuation bytes are not counted. */
		length += (text[i] & 0xc0) != 0x80;
		if (length > letters) {
			start[i] = '\0';
			html_text(out, start);
			fputs("\xe2\x80\xa6", out);
			return;
		}
		start[i] = text[i];
		start[i + 1] = '\0';
	}
	html_text(out, *text ? start : "");
}

void html_element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "<%s>", name);
	html_text(out, text);
	fprintf(out, "</%s>\n", name);
}

static bool is_same(const char *text, double value)
{
	double found = strtod(text, NULL);

	return found >= value && found <= value;
}

void html_exact(char text[static HTML_NUMBER], double value)
{
	int digits = 6;

	do
		snprintf(text, HTML_NUMBER, "%.*g", digits, value);
	while (!is_same(text, value) && ++digits <= 17);
}

/* Prints all digits before the decimal point, where %g would use an exponent. */
void html_short(char text[static HTML_NUMBER], double value, int digits)
{
	/* Rounding up may add a digit: 999.5 becomes 1000. */
	if (fabs(value) >= pow(10, digits) - 0.5 && fabs(value) < 1e10)
		snprintf(text, HTML_NUMBER, "%.0f", value);
	else
		snprintf(text, HTML_NUMBER, "%.*g", digits, value);
}
