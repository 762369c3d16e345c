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
