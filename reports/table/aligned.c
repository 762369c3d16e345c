/* SPDX-License-Identifier: MIT */
#include "reports/table/aligned.h"

int aligned_columns(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

void aligned_print(FILE *out, const struct cells *cells, size_t number, int width)
{
	const struct cell *cell = &cells->cell[number];
	int rest = width - aligned_columns(cell->text);

	if (number > 0)
		fputc(' ', out);
	/* Nothing is put behind the last one. */
	if (!cell->is_name)
		fprintf(out, "%*s%s", rest > 0 ? rest : 0, "", cell->text);
	else if (number + 1 == cells->count)
		fprintf(out, " %s", cell->text);
	else
		fprintf(out, "%s%*s", cell->text, rest > 0 ? rest : 0, "");
}

void aligned_widen(int width[static CELLS_MAX], const struct cells *cells)
{
	for (size_t i = 0; i < cells->count; i++) {
		int needed = aligned_columns(cells->cell[i].text);

		if (needed > width[i])
			width[i] = needed;
	}
}

void aligned_row(FILE *out, const struct cells *cells, const int width[static CELLS_MAX])
{
	for (size_t i = 0; i < cells->count; i++)
		aligned_print(out, cells, i, width[i]);
	fputc('\n', out);
}
