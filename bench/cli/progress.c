/* SPDX-License-Identifier: MIT */
#include "bench/cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/cli/tty.h"
#include "core/base/clock.h"

/* Lines that do not replace themselves are this far apart. */
#define LINES_NS (30 * NS_PER_S)

/* The trials of a case are shown at most this often. */
#define TRIALS_NS (NS_PER_S / 10)

#define COLUMNS      80
#define COLUMNS_MOST 240

enum {
	BAR_MOST = 20,   /* without the brackets */
	BAR_ENOUGH = 10, /* until the case has been shortened */
	BAR_LEAST = 5,
	WHAT_LEAST = 16, /* shorter ids are hard to recognize: shorten the bar first */
};

void progress_init(struct progress *progress, FILE *out, bool is_forced, bool is_quiet,
		   uint64_t estimate_ns)
{
	bool is_shown = is_forced || !is_quiet;

	*progress = (struct progress){.out = is_shown ? out : NULL,
				      .is_terminal = is_shown && isatty(fileno(out)),
				      .is_eager = is_forced};
	progress_restart(progress, estimate_ns);
	progress->shown_ns = progress->is_terminal ? 0 : progress->start_ns;
}

void progress_restart(struct progress *progress, uint64_t estimate_ns)
{
	progress->start_ns = clock_now_ns();
	progress->estimate_ns = estimate_ns;
	progress->left = (struct duration_left){0};
}

static size_t find_columns(FILE *out)
{
	struct terminal terminal = tty_find(out, NULL);

	return terminal.width ? (size_t)terminal.width : COLUMNS;
}

/* Appends a bar of that many cells between brackets. */
static void add_bar(char *text, size_t cells, double share)
{
	size_t filled = (size_t)((double)cells * share);

	*text++ = '[';
	memset(text, '=', filled);
	memset(text + filled, ' ', cells - filled);
	memcpy(text + cells, "] ", sizeof("] "));
}

/* Replaces the middle of a text that is longer than `room`. */
static void shorten(char *to, const char *text, size_t room)
{
	size_t length = strlen(text);
	size_t tail = room > 2 ? (room - 2) / 2 : 0;

	if (length <= room)
		memcpy(to, text, length + 1);
	else if (tail)
		snprintf(to, room + 1, "%.*s..%s", (int)(room - 2 - tail), text,
			 text + length - tail);
}

/* Formats what follows the case: the trial and the times. */
static void format_rest(char text[static PROGRESS_TEXT], const struct progress_step *step,
			uint64_t elapsed_ns, uint64_t left_ns)
{
	char elapsed[DURATION_TEXT];
	char left[DURATION_TEXT];
	char of[32] = "";
	char trial[80] = "";

	duration_words(elapsed, elapsed_ns);
	duration_words(left, left_ns);
	if (step->n_trials)
		snprintf(of, sizeof(of), " of %" PRIu64, step->n_trials);
	if (step->trial)
		snprintf(trial, sizeof(trial), ", trial %" PRIu64 "%s", step->trial, of);
	snprintf(text, PROGRESS_TEXT, "%s, %s, %s left", trial, elapsed, left);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

void progress_format(char text[static PROGRESS_TEXT], const struct progress_step *step,
		     uint64_t elapsed_ns, uint64_t left_ns, size_t columns)
{
	double all_ns = (double)elapsed_ns + (double)left_ns;
	size_t room = least(columns, COLUMNS_MOST) - 1;
	size_t cells = BAR_MOST;
	char rest[PROGRESS_TEXT];
	char what[COLUMNS_MOST] = "";
	char head[80];
	char bar[BAR_MOST + 4] = "";
	size_t fixed;
	size_t wanted;

	snprintf(head, sizeof(head), "%zu/%zu %s%s", step->number, step->count, step->unit,
		 step->what ? ", " : "");
	format_rest(rest, step, elapsed_ns, left_ns);
	fixed = strlen(head) + strlen(rest);
	wanted = step->what ? strlen(step->what) : 0;
	/* Brackets and a space are part of the bar. */
	while (cells > BAR_ENOUGH && fixed + wanted + cells + 3 > room)
		cells--;
	wanted = least(wanted, WHAT_LEAST);
	while (cells && fixed + wanted + cells + 3 > room)
		cells = cells > BAR_LEAST ? cells - 1 : 0;
	if (cells)
		add_bar(bar, cells, all_ns > 0 ? (double)elapsed_ns / all_ns : 0);
	fixed += strlen(bar);
	if (step->what)
		shorten(what, step->what, fixed < room ? room - fixed : 0);
	snprintf(text, room + 1, "%s%s%s%s", bar, head, what, rest);
}

/* Prints a complete line. */
static void print_line(FILE *out, const struct progress_step *step, uint64_t elapsed_ns,
		       uint64_t left_ns)
{
	char elapsed[DURATION_TEXT];
	char left[DURATION_TEXT];

	duration_words(elapsed, elapsed_ns);
	duration_words(left, left_ns);
	fprintf(out, "%zu/%zu %s, %s%s%s elapsed, %s left\n", step->number, step->count, step->unit,
		step->what ? step->what : "", step->what ? ", " : "", elapsed, left);
}

static bool is_due(const struct progress *progress, const struct progress_step *step,
		   uint64_t now_ns)
{
	bool is_new = step->number != progress->number || !progress->shown_ns;

	if (progress->is_terminal || progress->is_eager)
		return is_new || (progress->is_terminal && now_ns - progress->shown_ns > TRIALS_NS);
	return now_ns - progress->shown_ns > LINES_NS;
}

void progress_show(struct progress *progress, const struct progress_step *step)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t elapsed_ns = now_ns - progress->start_ns;
	uint64_t left_ns;
	char text[PROGRESS_TEXT];

	if (!progress->out)
		return;
	left_ns =
		duration_left_update(&progress->left, now_ns, step->done_ns, progress->estimate_ns);
	if (!is_due(progress, step, now_ns))
		return;
	progress->shown_ns = now_ns;
	progress->number = step->number;
	if (progress->is_terminal) {
		progress_format(text, step, elapsed_ns, left_ns, find_columns(progress->out));
		fprintf(progress->out, "\r\033[K%s", text);
	} else {
		print_line(progress->out, step, elapsed_ns, left_ns);
	}
	fflush(progress->out);
}

void progress_wipe(struct progress *progress)
{
	if (!progress->is_terminal || !progress->shown_ns)
		return;
	progress->shown_ns = 0;
	fputs("\r\033[K", progress->out);
	fflush(progress->out);
}
