/* SPDX-License-Identifier: MIT */
#include "reports/compare/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/compare/sentences.h"
#include "reports/table/csv.h"

static void print_texts(FILE *out, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		csv_field(out, texts[i]);
		fputc(',', out);
	}
}

static void print_case(FILE *out, const struct result_case *line)
{
	const char *const names[] = {line->id, line->op, line->metric};
	const char *const others[] = {line->cq, line->server_cq, line->transport};

	print_texts(out, names, ARRAY_LENGTH(names));
	fprintf(out, "%" PRIu64 ",", line->size);
	print_texts(out, others, ARRAY_LENGTH(others));
}

/* As many digits as a double has right; nothing where it is not known. */
static void print_value(FILE *out, double value)
{
	if (!isnan(value))
		fprintf(out, "%.15g", value);
	fputc(',', out);
}

static void print_ends(FILE *out, const struct comparison *comparison)
{
	const char *banner = compare_banner(comparison);
	char text[COMPARE_TEXT];

	csv_field(out, banner ? banner : "");
	fputc(',', out);
	compare_forced(comparison, text);
	csv_field(out, text);
	fputc('\n', out);
}

/* Kind, figure and unit. */
static void print_figure(FILE *out, const struct result_case *line,
			 const struct compared_figure *figure)
{
	fprintf(out, "%s,%s,%s,",
		strcmp(line->metric, "bw") != 0 ? result_kind_name(line->kind) : "", figure->key,
		figure->measure);
}

static void print_cell(FILE *out, const struct compare_cell *cell)
{
	const struct ratio *ratio = &cell->ratio;
	const double values[] = {ratio->base, ratio->now,   ratio->ratio,   ratio->low,
				 ratio->high, cell->chance, cell->corrected};
	bool is_unclear = cell->judged.verdict == VERDICT_UNCLEAR;

	print_case(out, cell->line);
	print_figure(out, cell->line, cell->figure);
	for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
		print_value(out, values[i]);
	fprintf(out, "%zu,%zu,%s,", cell->n_runs[COMPARE_BASE], cell->n_runs[COMPARE_NEW],
		verdict_name(cell->judged.verdict));
	print_value(out, is_unclear ? verdict_detectable(&cell->judged) : (double)NAN);
	fputc(',', out);
}

/* In place of values. */
static void print_reason(FILE *out, const struct comparison *comparison, const char *why)
{
	fputs(",,,,,,,,,,,", out);
	csv_field(out, why);
	fputc(',', out);
	print_ends(out, comparison);
}

void compare_csv(FILE *out, const struct comparison *comparison)
{
	fputs("case,op,metric,bytes,cq,server_cq,transport,kind,figure,unit,base,new,ratio,low,"
	      "high,p,p_corrected,base_runs,new_runs,verdict,detectable,reason,banner,forced\n",
	      out);
	for (size_t i = 0; i < comparison->n_cells; i++) {
		print_cell(out, &comparison->cells[i]);
		print_ends(out, comparison);
	}
	for (size_t i = 0; i < comparison->n_gaps; i++) {
		print_case(out, comparison->gaps[i].line);
		fputs(",,,", out);
		print_reason(out, comparison, comparison->gaps[i].why);
	}
	for (size_t i = 0; i < comparison->n_unknown; i++) {
		const struct compare_unknown *unknown = &comparison->unknown[i];

		print_case(out, unknown->line);
		print_figure(out, unknown->line, compare_figure(unknown->number));
		print_reason(out, comparison, unknown->why);
	}
}
