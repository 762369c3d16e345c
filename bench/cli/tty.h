/* SPDX-License-Identifier: MIT */
/* Finds out how to show text on an output: its width, and whether it is colored. */
#ifndef BENCH_CLI_TTY_H
#define BENCH_CLI_TTY_H

#include "bench/cli/option.h"
#include "reports/table/terminal.h"

#define TTY_COLORS 3

/* The values of --color. */
extern const struct option_value tty_colors[TTY_COLORS];

/* The row of --color, which stores a const struct option_value *; is_it_rare as in its row. */
#define TTY_COLOR_ROW(field, is_it_rare)                                           \
	{                                                                          \
		"color", 0, "WHEN", NULL, (field),                                 \
			"color tables and warnings: auto, always or never (auto)", \
			.group = OPTION_OUTPUT, .is_rare = (is_it_rare),           \
			.values = OPTION_VALUES(tty_colors)                        \
	}

/*
 * The width is $COLUMNS if it is set, otherwise that of the terminal; other outputs are not
 * wrapped. color is one of tty_colors; NULL: auto.
 */
struct terminal tty_find(FILE *out, const struct option_value *color);

#endif
