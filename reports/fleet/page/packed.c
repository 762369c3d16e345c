/* SPDX-License-Identifier: MIT */
#include "reports/fleet/page/packed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/export/xml.h"
#include "reports/fleet/blame/judge.h"

/* Later errors appear as the first one. */
#define ERRORS_MOST 100

#define FIGURE_BITS 14
#define FIGURE_ZERO ((1U << FIGURE_BITS) - 2)
#define FIGURE_MOST (FIGURE_ZERO - 1)
#define RUN_MOST    ((1U << 18) - 1)

struct packing {
	FILE *out;
	const struct fleet_matrix *matrix;
	double low;
	double step;
	const char *errors[ERRORS_MOST];
	size_t n_errors;
};

static void find_range(struct packing *packing)
{
	const struct fleet_matrix *matrix = packing->matrix;
	size_t n = matrix->fleet->n_nodes;
	double low = (double)INFINITY;
	double high = 0;

	for (size_t i = 0; i < n * n; i++) {
		double value = (double)matrix->cells[i].value;

		if (!matrix->cells[i].is_set || !(value > 0))
			continue;
		low = fmin(low, value);
		high = fmax(high, value);
	}
	packing->low = high > 0 ? low : 1;
	packing->step = high > low ? log(high / low) / FIGURE_MOST : 1;
}

static uint32_t error_number(struct packing *packing, const char *text)
{
	for (size_t i = 0; i < packing->n_errors; i++)
		if (!strcmp(packing->errors[i], text))
			return (uint32_t)i;
	/* Beyond the limit, a failure is shown without its reason. */
	if (packing->n_errors == ERRORS_MOST - 1 && *text)
		return error_number(packing, "");
	packing->errors[packing->n_errors] = text;
	return (uint32_t)packing->n_errors++;
}

static uint32_t encode(struct packing *packing, const struct fleet_cell *cell)
{
	const char *text = packing->matrix->fleet->pairs[cell->pair].error;
	uint32_t figure = FIGURE_ZERO;

	if (cell->faults & FLEET_FAULT_FAILED)
		figure = error_number(packing, text ? text : "");
	else if (cell->value > 0)
		figure = (uint32_t)lround(log((double)cell->value / packing->low) / packing->step);
	return (uint32_t)(cell->faults & 15) << FIGURE_BITS | (figure + 1);
}

static void print_digits(FILE *out, uint32_t value)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (int shift = 12; shift >= 0; shift -= 6)
		fputc(digits[value >> shift & 63], out);
}

static void print_cells(struct packing *packing)
{
	const struct fleet_matrix *matrix = packing->matrix;
	size_t n = matrix->fleet->n_nodes;

	fputs(" data-cells=\"", packing->out);
	for (size_t i = 0; i < n * n;) {
		uint32_t run = 0;

		while (i + run < n * n && run < RUN_MOST && !matrix->cells[i + run].is_set)
			run++;
		if (run)
			fputc('~', packing->out);
		print_digits(packing->out, run ? run : encode(packing, &matrix->cells[i]));
		i += run ? run : 1;
	}
	fputc('"', packing->out);
}

/* Prints the median by which yardstick_of judges. */
static void print_median(const struct packing *packing, const char *name, enum yardstick_kind kind,
			 double unit)
{
	const struct yardsticks *yardsticks = packing->matrix->yardsticks;
	const struct fleet_view *view = &packing->matrix->view;
	const struct yardstick *yardstick =
		yardstick_at(yardsticks, view->number, view->from_rail, kind);

	if (kind != YARDSTICK_SELF && yardstick->count < FLEET_OUTLIER_LEAST)
		yardstick =
			yardstick_at(yardsticks, view->number, view->from_rail, YARDSTICK_COMMON);
	if (yardstick->count)
		fprintf(packing->out, " data-%s=\"%.6g\"", name, yardstick->median / unit);
}

int fleet_pack(FILE *out, const struct table_unit *unit, const struct fleet_matrix *matrix,
	       struct error *error)
{
	const struct fleet_case *line = &matrix->fleet->cases[matrix->view.number];
	struct packing *packing = calloc(1, sizeof(*packing));
	double scale = fleet_unit(line, unit);

	if (!packing)
		return error_set_errno(error, -ENOMEM, "cannot draw the heat map");
	packing->out = out;
	packing->matrix = matrix;
	find_range(packing);
	print_cells(packing);
	fprintf(out, " data-low=\"%.9g\" data-step=\"%.9g\" data-unit=\"%s\"%s",
		packing->low / scale, packing->step, fleet_unit_name(line, unit),
		line->is_latency ? " data-latency" : "");
	print_median(packing, "within", YARDSTICK_WITHIN, scale);
	print_median(packing, "between", YARDSTICK_BETWEEN, scale);
	print_median(packing, "self", YARDSTICK_SELF, scale);
	fputs(" data-errors=\"", out);
	for (size_t i = 0; i < packing->n_errors; i++) {
		fputs(i ? "\n" : "", out);
		xml_print(out, packing->errors[i]);
	}
	fputc('"', out);
	free(packing);
	return 0;
}
