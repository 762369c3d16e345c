/* SPDX-License-Identifier: MIT */
#include "reports/result/banner.h"

#include <string.h>

static bool is_soft(const struct result_end *end)
{
	return end->kind && !strcmp(end->kind, "soft");
}

const char *banner_of(const struct result *result)
{
	return is_soft(&result->client) || is_soft(&result->server) ? BANNER_SOFT : NULL;
}

static bool is_word(const struct result *result, size_t i, const char *word)
{
	const char *text = json_string_value(json_array_get(result->command, i));

	return text && !strcmp(text, word);
}

static bool is_tips(const struct result *result)
{
	bool is_found = is_word(result, 1, "tips");

	for (size_t i = 2; i < json_array_size(result->command) && !is_found; i++)
		is_found = is_word(result, i, "--preset=tips") ||
			   (is_word(result, i - 1, "--preset") && is_word(result, i, "tips"));
	return is_found;
}

static bool is_semantics(const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (result->cases[i].needs ||
		    json_is_true(json_object_get(result->cases[i].parameters, "needs")))
			return true;
	return false;
}

bool banner_allows_times(const struct result *result)
{
	return !banner_of(result) || (!is_tips(result) && !is_semantics(result));
}
