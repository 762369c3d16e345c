/* SPDX-License-Identifier: MIT */
/*
 * One kind of figure: what it draws for each case, and the titles of its axes. Each kind is a row
 * of the table in charts.c, with its functions in one of drawing_*.c.
 */
#ifndef REPORTS_PAGE_DRAWING_H
#define REPORTS_PAGE_DRAWING_H

#include "reports/finding/load_knee.h"
#include "reports/page/chart.h"
#include "reports/table/cells.h"

#define DRAWING_SIZES 64
#define DRAWING_OPS   64

/* The sizes of an operation, in ascending order; only the first DRAWING_SIZES that are found. */
struct drawing_sizes {
	const char *op;
	uint64_t size[DRAWING_SIZES];
	size_t count;
};

/*
 * With more cases than this, figures show fewer sizes, which keeps a page below 2 MB. The figures
 * by size, which matter most, have the higher limit.
 */
#define DRAWING_CASES      160
#define DRAWING_CASES_MAIN 300

/* The input of all figures of a table. */
struct drawing_source {
	const struct table_unit *unit;
	const struct result *result;
	struct curves knees;
	struct drawing_sizes sizes[DRAWING_OPS];
	size_t n_sizes;
	size_t n_cases; /* in the table */
};

struct drawing {
	enum cells_table table; /* the table next to the figure */
	bool is_behind;         /* after the table; otherwise before it */
	struct chart chart;
	void (*prepare)(struct chart *chart, const struct drawing_source *source);
	/* Called for each case of the table. */
	void (*add)(struct chart *chart, const struct drawing_source *source,
		    const struct result_case *line);
};

#define DRAWING_NAME 160

/* The parts of a case's name, without its size. */
struct drawing_names {
	char operation[DRAWING_NAME]; /* with all parameters that differ from their default */
	char modes[DRAWING_NAME];
	const char *kind; /* of a latency, in words */
};

void drawing_name(struct drawing_names *names, const struct result_case *line);

void drawing_latency_axis(struct axis *axis);
void drawing_bandwidth_axis(struct axis *axis, const struct drawing_source *source);
void drawing_size_axis(struct axis *axis);

/* Formats the size as in the title of a panel. */
void drawing_name_size(char text[static HTML_NUMBER], const struct result_case *line);

/* Return whether the case has the smallest or the largest size of its operation. */
bool drawing_is_smallest(const struct drawing_source *source, const struct result_case *line);
bool drawing_is_largest(const struct drawing_source *source, const struct result_case *line);

/*
 * Returns whether the size is one of those that represent all: the smallest, the middle and the
 * largest, or with more than DRAWING_CASES cases only the middle one.
 */
bool drawing_is_representative(const struct drawing_source *source, const struct result_case *line);

/*
 * Returns whether the size of the case is to be drawn: all are with up to most cases, beyond that
 * every n-th. If not, marks the chart as thinned.
 */
bool drawing_has_room(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line, size_t most);

/* Sets y and the interval of the point: see bounded_of. */
void drawing_over_trials(struct svg_panel_point *point, const struct result_case *line,
			 const double *first, double value);

/* CPU time per message of client and server, in ns. */
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
