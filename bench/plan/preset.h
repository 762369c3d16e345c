/* SPDX-License-Identifier: MIT */
/*
 * Plans by name. Each is the text of a plan file; --plan takes one that is changed.
 */
#ifndef BENCH_PLAN_PRESET_H
#define BENCH_PLAN_PRESET_H

#include <jansson.h>

#include "bench/cli/option.h"
#include "core/base/error.h"

/* The names of all presets, for help texts. */
#define PRESET_NAMES "quick, standard, full, semantics, tips or gate"

#define PRESETS 6
extern const struct option_value preset_names[PRESETS];

/* Parses the name of a preset: an option_parser for a const char *. */
const char *preset_parse_name(const char *text, void *field);

/* The plan of that name, or -EINVAL with the names that there are. */
int preset_find(const char *name, json_t **plan, struct error *error);

/* A plan from text; path is where that is from, for what is wrong with it. */
int preset_parse(const char *text, size_t length, const char *path, json_t **plan,
		 struct error *error);

/* The same from a file. */
int preset_load(const char *path, json_t **plan, struct error *error);

/* Puts the path in front of what is wrong in a plan that was read. Returns the error's code. */
int preset_blame(const char *path, struct error *error);

#endif
