/* SPDX-License-Identifier: MIT */
#include "reports/bout_said.h"
#include "reports/bout_show.h"

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

void bout_annotations(FILE *out, const struct bout *bout)
{
	char text[BOUT_TEXT];
	bool is_told = false;
	const json_t *note;
	size_t number;

	/* The sum first: of each kind ten are shown, of a step. */
	bout_sum(bout, text);
	print(out, bout_end(bout) == BOUT_PASSED ? "notice" : "error", "verbmark gate", text);
	if (bout->invalid[0])
		print(out, "error", "verbmark gate", bout->invalid);
	for (size_t i = 0; i < bout->n_cells; i++) {
		enum duel_verdict verdict = bout->cells[i].verdict;

		bout_tell_cell(text, &bout->cells[i]);
		if (bout_is_short(bout, &bout->cells[i])) {
			if (!is_told)
				print(out, "warning", "verbmark gate", bout->cells[i].why);
			is_told = true;
			continue;
		}
		if (verdict == DUEL_REGRESSED)
			print(out, "error", "verbmark gate", text);
		else if (verdict == DUEL_INVALID || verdict == DUEL_INCONCLUSIVE)
			print(out, "warning", "verbmark gate", text);
	}
	json_array_foreach(bout->notes, number, note)
		print(out, "warning", "verbmark gate", json_string_value(note));
}
