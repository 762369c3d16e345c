/* SPDX-License-Identifier: MIT */
/*
 * One kind of figure: what it draws of each case, and how its axes are called. A figure is
 * a row of the table in figures.c, with its functions in one of drawing_*.c.
 */
#ifndef REPORTS_PAGE_DRAWING_H
#define REPORTS_PAGE_DRAWING_H

#include "reports/finding/load_knee.h"
#include "reports/page/chart.h"
#include "reports/table/cells.h"

#define DRAWING_SIZES 64
#define DRAWING_OPS   64

/* Those of an operation, in their order; of very many the first that were found. */
struct drawing_sizes {
	const char *op;
	uint64_t size[DRAWING_SIZES];
	size_t count;
};

/*
 * More cases than this, and figures that are not of all sizes are of fewer still: a page is
 * to stay below 2 MB.
 */
#define DRAWING_CASES      160
#define DRAWING_CASES_MAIN 300

/* What all figures of a table are made from. */
struct drawing_source {
	const struct table_unit *unit;
	const struct result *result;
	struct curves knees;
	struct drawing_sizes sizes[DRAWING_OPS];
	size_t n_sizes;
	size_t n_cases; /* in the table */
};

struct drawing {
	enum cells_table table; /* that it stands with */
	bool is_behind;         /* that, and else before it */
	struct chart chart;
	void (*prepare)(struct chart *chart, const struct drawing_source *source);
	/* The case is in that table. */
	void (*add)(struct chart *chart, const struct drawing_source *source,
		    const struct result_case *line);
};

#define DRAWING_NAME 160

/* What a case is called, without its size: the operation with what is not at its default. */
struct drawing_names {
	char operation[DRAWING_NAME];
	char modes[DRAWING_NAME];
	const char *kind; /* of a latency, in words */
};

void drawing_name(struct drawing_names *names, const struct result_case *line);

void drawing_latency_axis(struct axis *axis);
void drawing_bandwidth_axis(struct axis *axis, const struct drawing_source *source);
void drawing_size_axis(struct axis *axis);

/* The size as a name of a series. */
void drawing_name_size(char text[static HTML_NUMBER], const struct result_case *line);

bool drawing_is_least(const struct drawing_source *source, const struct result_case *line);
bool drawing_is_most(const struct drawing_source *source, const struct result_case *line);

/* The least, a middle and the largest stand for all; where there are many, the middle one. */
bool drawing_is_telling(const struct drawing_source *source, const struct result_case *line);

/*
 * Whether there is room for its size: there is for all, below DRAWING_CASES. most: of cases,
 * where not for all; where there is none, the chart is thinned.
 */
bool drawing_has_room(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line, size_t most);

/* Where the point is, and its interval: see bounded_of. */
void drawing_over_trials(struct svg_panel_point *point, const struct result_case *line,
			 const double *first, double pooled);

/* Processor time of both ends for each message, ns. */
void drawing_add_cost(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line);
void drawing_prepare_cost(struct chart *chart, const struct drawing_source *source);

void drawing_prepare_latency_by_size(struct chart *chart, const struct drawing_source *source);
void drawing_add_latency_by_size(struct chart *chart, const struct drawing_source *source,
				 const struct result_case *line);
void drawing_add_latency_by_mode(struct chart *chart, const struct drawing_source *source,
				 const struct result_case *line);
void drawing_add_latency_by_operation(struct chart *chart, const struct drawing_source *source,
				      const struct result_case *line);
void drawing_prepare_percentiles(struct chart *chart, const struct drawing_source *source);
void drawing_add_percentiles(struct chart *chart, const struct drawing_source *source,
			     const struct result_case *line);
void drawing_prepare_histogram(struct chart *chart, const struct drawing_source *source);
void drawing_add_histogram(struct chart *chart, const struct drawing_source *source,
			   const struct result_case *line);
void drawing_prepare_latency_trials(struct chart *chart, const struct drawing_source *source);
void drawing_add_latency_trials(struct chart *chart, const struct drawing_source *source,
				const struct result_case *line);

void drawing_prepare_bandwidth(struct chart *chart, const struct drawing_source *source);
void drawing_add_bandwidth(struct chart *chart, const struct drawing_source *source,
			   const struct result_case *line);
void drawing_add_bandwidth_by_operation(struct chart *chart, const struct drawing_source *source,
					const struct result_case *line);
void drawing_prepare_message_rate(struct chart *chart, const struct drawing_source *source);
void drawing_add_message_rate(struct chart *chart, const struct drawing_source *source,
			      const struct result_case *line);
void drawing_prepare_windows(struct chart *chart, const struct drawing_source *source);
void drawing_add_windows(struct chart *chart, const struct drawing_source *source,
			 const struct result_case *line);
void drawing_prepare_bandwidth_trials(struct chart *chart, const struct drawing_source *source);
void drawing_add_bandwidth_trials(struct chart *chart, const struct drawing_source *source,
				  const struct result_case *line);

void drawing_prepare_load(struct chart *chart, const struct drawing_source *source);
void drawing_add_load(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line);

#endif
