/* SPDX-License-Identifier: MIT */
/* The results that a command reads, by their paths, and what it writes beside them. */
#ifndef BENCH_CLI_INPUTS_H
#define BENCH_CLI_INPUTS_H

#include <stddef.h>

#include "core/base/error.h"
#include "reports/result/result.h"

#define INPUTS_NAME 4096 /* as long as a path may be */

/* The path as it is shown: what would do something to a terminal, or is no UTF-8, is '?'. */
void inputs_name(char name[static INPUTS_NAME], const char *path);

/* The same of a sentence that names files. */
void inputs_name_error(struct error *error);

/* As parse_file, and so is the sentence shown. */
int inputs_load(struct result *result, const char *path, struct error *error);

/* One more, where there is room for it. NULL, or what is wrong. */
const char *inputs_add(const char **paths, size_t *count, const char *path);

/* There is one at least; called what, in the sentence. */
int inputs_require(size_t count, const char *what, struct error *error);

/* None of them is where the output of that option goes; NULL: that is standard output. */
int inputs_spare(const char *const *paths, size_t count, const char *option, const char *output,
		 struct error *error);

#endif
