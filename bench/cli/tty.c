/* SPDX-License-Identifier: MIT */
#include "bench/cli/tty.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Narrower widths, which would break figures, count as this one. */
#define WIDTH_LEAST 40
#define WIDTH_MOST  10000

const struct option_value tty_colors[TTY_COLORS] = {
	{"auto",   "on a terminal, unless NO_COLOR is set"},
	{"always", "also in files and pipes"              },
	{"never",  "no color"			     },
};

/* See no-color.org: any non-empty value of NO_COLOR disables color. */
static bool wants_color(FILE *out)
{
	const char *refused = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if ((refused && *refused) || !terminal || !strcmp(terminal, "dumb"))
		return false;
	return isatty(fileno(out));
}

static int width_of(FILE *out)
{
	const char *text = getenv("COLUMNS");
	long width = text ? strtol(text, NULL, 10) : 0;
	struct winsize size;

	if (width <= 0 && isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (width <= 0 || width > WIDTH_MOST)
		return 0;
	return width < WIDTH_LEAST ? WIDTH_LEAST : (int)width;
}

struct terminal tty_find(FILE *out, const struct option_value *color)
{
	bool is_auto = !color || color == &tty_colors[0];

	return (struct terminal){
		.out = out,
		.width = width_of(out),
		.is_colored = is_auto ? wants_color(out) : color == &tty_colors[1],
	};
}
