/* SPDX-License-Identifier: MIT */
/* A comparison as a JSON document, schema verbmark.comparison/1. */
#ifndef REPORTS_COMPARE_JSON_H
#define REPORTS_COMPARE_JSON_H

#include <jansson.h>

#include "reports/compare/compare.h"

#define COMPARE_SCHEMA "verbmark.comparison/1"

/* version: the running verbmark's. Returns NULL if memory runs out. */
json_t *compare_make(const struct comparison *comparison, const char *version);

#endif
