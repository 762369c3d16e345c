/* SPDX-License-Identifier: MIT */
#include "reports/table/sentences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/finding/load_knee.h"
#include "reports/finding/precision.h"
#include "reports/finding/qp_limit.h"
#include "reports/finding/summary.h"
#include "reports/io/json_member.h"
#include "reports/result/banner.h"
#include "reports/table/cells.h"
#include "reports/table/layout.h"

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

void said_kinds(const struct result *result, said *say, void *owner)
{
	bool is_present[RESULT_CALL + 1] = {0};
	char text[256] = "";
	size_t count = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		if (cells_has_figures(&result->cases[i]) && !result->cases[i].windows)
			is_present[result->cases[i].kind] = true;
	for (enum result_kind kind = RESULT_HALF; kind <= RESULT_COMPLETION; kind++) {
		size_t length = strlen(text);

		if (!is_present[kind])
			continue;
		snprintf(text + length, sizeof(text) - length, "%s: %s; ", result_kind_name(kind),
			 layout_explain_kind(kind));
		count++;
	}
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "compare only cases of one kind");
	if (count > 1 && banner_allows_times(result))
		say(owner, text);
}

/* Passes on the sentences of a summary, which are indented below its heading. */
struct unindented {
	said *say;
	void *owner;
};

static void say_unindented(void *owner, const char *text)
{
	const struct unindented *to = owner;

	if (*text == ' ')
		to->say(to->owner, text + strspn(text, " "));
}

void said_summary(const struct result *result, said *say, void *owner)
{
	struct unindented to = {say, owner};

	said_printed(result, summary_print, say_unindented, &to);
	said_kinds(result, say, owner);
	said_printed(result, precision_print, say, owner);
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

/* Codes of warnings, most important first: what happened during the run, then how it is set up. */
static const char *const importance[] = {
	"failed-trial", "link-errors", "lost-packets", "receiver-not-ready",
	"throttled",    "heat",        "steal",        "shared-cpu",
	"threads",      "mtu",         "link-layer",   "pcie",
	"numa",
};

static size_t rank_of(const json_t *warning)
{
	const char *code = json_member_or_empty(warning, "code");
	size_t i = 0;

	while (i < ARRAY_LENGTH(importance) && strcmp(importance[i], code) != 0)
		i++;
	return i;
}

static bool is_same(const json_t *one, const json_t *other)
{
	return json_equal(json_object_get(one, "what"), json_object_get(other, "what")) &&
	       json_equal(json_object_get(one, "mend"), json_object_get(other, "mend"));
}

/* Reports a warning with all hosts that have it, unless an earlier one has done so. */
static void say_warning(const json_t *warnings, size_t number, said *say, void *owner)
{
	const json_t *warning = json_array_get(warnings, number);
	const char *mend = json_member_or_empty(warning, "mend");
	char *text = NULL;
	size_t length = 0;
	FILE *memory;

	for (size_t i = 0; i < number; i++)
		if (is_same(json_array_get(warnings, i), warning))
			return;
	memory = open_memstream(&text, &length);
	if (!memory)
		return;
	fputs(json_member_or_empty(warning, "host"), memory);
	for (size_t i = number + 1; i < json_array_size(warnings); i++)
		if (is_same(json_array_get(warnings, i), warning))
			fprintf(memory, ", %s",
				json_member_or_empty(json_array_get(warnings, i), "host"));
	fprintf(memory, ": %s%s%s", json_member_or_empty(warning, "what"), *mend ? "; fix: " : "",
		mend);
	if (!fclose(memory))
		say(owner, text);
	free(text);
}

void said_warnings(const struct result *result, said *say, void *owner)
{
	const json_t *warning;
	size_t i;

	for (size_t rank = 0; rank <= ARRAY_LENGTH(importance); rank++)
		json_array_foreach(result->warnings, i,
				   warning) if (rank_of(warning) == rank &&
						json_is_true(json_object_get(warning, "spoils")))
			say_warning(result->warnings, i, say, owner);
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
