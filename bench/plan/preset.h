/* SPDX-License-Identifier: MIT */
/* Named plans. Each is the text of a plan file; --plan reads a modified one. */
#ifndef BENCH_PLAN_PRESET_H
#define BENCH_PLAN_PRESET_H

#include <jansson.h>

#include "bench/cli/option.h"
#include "core/base/error.h"

/* The names of all presets, for help texts. */
#define PRESET_NAMES "quick, standard, full, semantics, verbs, tips, gate or fleet"

#define PRESETS 8
extern const struct option_value preset_names[PRESETS];

/* Parses the name of a preset: an option_parser for a const char *. */
const char *preset_parse_name(const char *text, void *field);

/* Returns the plan of that name, or -EINVAL with an error that lists the names. */
int preset_find(const char *name, json_t **plan, struct error *error);

/* Parses a plan from text. path is used in error messages. */
int preset_parse(const char *text, size_t length, const char *path, json_t **plan,
		 struct error *error);

/* Reads a plan from a file. */
int preset_load(const char *path, json_t **plan, struct error *error);

/* Prefixes an error in a plan with the path. Returns the error's code. */
int preset_blame(const char *path, struct error *error);

#endif
