/* SPDX-License-Identifier: MIT */
#include "reports/gate/sentences.h"
#include "reports/gate/show.h"

/* Escapes control characters and '%' in a message, as GitHub's runner requires. */
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

static const char *level_of(enum verdict verdict)
{
	if (verdict == VERDICT_UNCLEAR)
		return "warning";
	return verdict <= VERDICT_SAME ? "notice" : "error";
}

static void warn(void *owner, const char *text)
{
	print(owner, "warning", "verbmark gate", text);
}

void gate_annotations(FILE *out, const struct gate_record *gate)
{
	char text[GATE_TEXT];
	const json_t *note;
	size_t number;

	/* The sum comes first, because GitHub shows only ten annotations of a kind per step. */
	gate_sum(gate, text);
	print(out, level_of(gate_end(gate)), "verbmark gate", text);
	if (gate->invalid[0])
		print(out, "error", "verbmark gate", gate->invalid);
	for (size_t i = 0; i < gate->n_cells; i++) {
		const struct judge_cell *cell = &gate->cells[i];
		if (!gate_is_listed(gate, cell))
			continue;
		gate_describe_cell(text, cell);
		print(out, gate_verdict(gate, cell) == VERDICT_WORSE ? "error" : "warning",
		      "verbmark gate", text);
	}
	gate_say_others(gate, warn, out);
	json_array_foreach(gate->notes, number, note) warn(out, json_string_value(note));
}
