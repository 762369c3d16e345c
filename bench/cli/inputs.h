/* SPDX-License-Identifier: MIT */
/* The result files that a command reads, and checks that it does not overwrite them. */
#ifndef BENCH_CLI_INPUTS_H
#define BENCH_CLI_INPUTS_H

#include <stddef.h>

#include "core/base/error.h"
#include "reports/fleet/fleet.h"
#include "reports/result/result.h"

#define INPUTS_NAME 4096 /* PATH_MAX */

/* Copies a path for printing: replaces control characters and invalid UTF-8 by '?'. */
void inputs_name(char name[static INPUTS_NAME], const char *path);

/* Makes an error printable that contains paths. */
void inputs_name_error(struct error *error);

/* Reads a result as parse_file does, with a printable error. */
int inputs_load(struct result *result, const char *path, struct error *error);

/* A file that is a result or a check of a fleet. */
struct inputs_file {
	bool is_fleet;
	union {
		struct result result;
		struct fleet fleet;
	};
};

/* Reads either, with a printable error. inputs_finish_file accepts a file that could not be read. */
int inputs_load_file(struct inputs_file *input, const char *path, struct error *error);
void inputs_finish_file(struct inputs_file *input);

/* Adds a path to an array that has room for it. Returns what is wrong with the path, or NULL. */
const char *inputs_add(const char **paths, size_t *count, const char *path);

/* Fails if there is no file. `what` names the missing operand in the error. */
int inputs_require(size_t count, const char *what, struct error *error);

/* Fails if the output of an option would overwrite one of the files. NULL is standard output. */
int inputs_spare(const char *const *paths, size_t count, const char *option, const char *output,
		 struct error *error);

#endif
