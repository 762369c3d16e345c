/* SPDX-License-Identifier: MIT */
#include "reports/table/sentences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/finding/load_knee.h"
#include "reports/finding/qp_limit.h"
#include "reports/table/cells.h"

void said_knees(const struct result *result, said *say, void *owner)
{
	static const struct curve_kind *const kinds[] = {&load_knee_kind, &qp_limit_kind};
	struct curves curves;
	char text[CURVE_TEXT];

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		curves_open(&curves, result, kinds[i]);
		for (size_t j = 0; j < curves.count; j++) {
			curve_tell(&curves.curve[j], kinds[i], text);
			say(owner, text);
		}
		curves_close(&curves);
	}
}

void said_shares(const struct result *result, said *say, void *owner)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char share[160];
		char text[sizeof(line->id) + sizeof(share) + 4];

		if (!cells_has_figures(line) || !cells_evenness(share, NULL, line))
			continue;
		snprintf(text, sizeof(text), "%s: %s", line->id, share);
		say(owner, text);
	}
}

void said_means(const struct result *result, said *say, void *owner)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];
		char mean[64];
		char text[sizeof(line->id) + sizeof(mean) + 4];

		if (!cells_lone_mean(line, mean))
			continue;
		snprintf(text, sizeof(text), "%s: %s us", line->id, mean);
		say(owner, text);
	}
}

void said_printed(const struct result *result,
		  void (*print)(FILE *out, const struct result *result), said *say, void *owner)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	char *rest = NULL;

	if (!memory)
		return;
	print(memory, result);
	if (!fclose(memory) && text)
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			say(owner, line);
	free(text);
}
