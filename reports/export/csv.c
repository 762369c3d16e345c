/* SPDX-License-Identifier: MIT */
/* CSV as written by report: see csv.h. */
#include "reports/table/csv.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/export/export.h"

static void *open_csv(const struct export_choice *choice)
{
	struct export_text *text = calloc(1, sizeof(*text));

	if (text && export_text_open(text)) {
		free(text);
		return NULL;
	}
	if (text)
		csv_begin(text->out);
	return text;
}

static void close_csv(void *state)
{
	if (state)
		export_text_close(state);
	free(state);
}

static int add_csv(void *state, const struct result *result, const char *name, struct error *error)
{
	struct export_text *text = state;

	csv_add(text->out, result, name);
	return ferror(text->out) ? export_no_memory(error) : 0;
}

static int finish_csv(void *state, char **text, struct error *error)
{
	*text = export_text_take(state);
	return *text ? 0 : export_no_memory(error);
}

const struct export_format export_csv = {
	.name = "csv",
	.open = open_csv,
	.add = add_csv,
	.finish = finish_csv,
	.close = close_csv,
};
