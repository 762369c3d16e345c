/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"

/* Within a message a line's end and '%' are escaped, as the runner wants them. */
static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '%' || (unsigned char)*text < ' ')
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
}

static void print(FILE *out, const char *level, const char *title, const char *text)
{
	fprintf(out, "::%s title=%s::", level, title);
	print_escaped(out, text);
	fputc('\n', out);
}

static void warn(void *owner, const char *text)
{
	print(owner, "warning", "verbmark gate", text);
}

void bout_annotations(FILE *out, const struct bout *bout)
{
	char text[BOUT_TEXT];
	const json_t *note;
	size_t number;

	/* The sum first: of each kind ten are shown, of a step. */
	bout_sum(bout, text);
	print(out, bout_end(bout) == BOUT_PASSED ? "notice" : "error", "verbmark gate", text);
	if (bout->invalid[0])
		print(out, "error", "verbmark gate", bout->invalid);
	for (size_t i = 0; i < bout->n_cells; i++) {
		const struct duel_cell *cell = &bout->cells[i];
		bool is_worse = bout_verdict(bout, cell) == DUEL_REGRESSED;

		if (!bout_is_told(bout, cell))
			continue;
		bout_tell_cell(text, cell);
		print(out, is_worse ? "error" : "warning", "verbmark gate", text);
	}
	bout_say_others(bout, warn, out);
	json_array_foreach(bout->notes, number, note) warn(out, json_string_value(note));
}
