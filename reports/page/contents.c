/* SPDX-License-Identifier: MIT */
#include "reports/page/contents.h"

#include <stdbool.h>
#include <string.h>

#define FEW 2

struct heading {
	const char *start; /* at its tag */
	char level;        /* '2' to '4' */
	const char *text;
	size_t length;
};

/* Finds the next heading from here on. Returns false at the end. */
static bool find(struct heading *heading, const char *html)
{
	while ((html = strstr(html, "<h"))) {
		const char *text = strchr(html, '>');
		const char *end = text ? strstr(text, "</h") : NULL;

		if (end && html[2] >= '2' && html[2] <= '4') {
			*heading =
				(struct heading){html, html[2], text + 1, (size_t)(end - text - 1)};
			return true;
		}
		html += 2;
	}
	return false;
}

void contents_print(FILE *out, const char *html)
{
	struct heading heading;
	size_t count = 0;

	for (const char *at = html; find(&heading, at); at = heading.text)
		count++;
	if (count <= FEW)
		return;
	fputs("<nav aria-label=\"Contents\"><ol>\n", out);
	for (size_t i = 1; i <= count && find(&heading, html); i++) {
		fprintf(out, "<li class=\"h%c\"><a href=\"#s%zu\">", heading.level, i);
		fwrite(heading.text, 1, heading.length, out);
		fputs("</a></li>\n", out);
		html = heading.text;
	}
	fputs("</ol></nav>\n", out);
}

void contents_print_targets(FILE *out, const char *html)
{
	const char *end = html + strlen(html);
	struct heading heading;

	for (size_t i = 1; find(&heading, html); i++) {
		/* The id follows the name of the tag. */
		const char *name = heading.start + strlen("<h2");

		fwrite(html, 1, (size_t)(name - html), out);
		fprintf(out, " id=\"s%zu\"", i);
		html = name;
	}
	fwrite(html, 1, (size_t)(end - html), out);
}
