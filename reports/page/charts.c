/* SPDX-License-Identifier: MIT */
#include "reports/page/charts.h"

#include <math.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/finding/bounded.h"
#include "reports/finding/paired_trials.h"
#include "reports/page/drawing.h"
#include "reports/result/digits.h"

#define NS_PER_US 1000.0

#define BANDS "Bands: 95 % confidence interval of the median over trials (six or more trials)."

/* Panels that are not folded: a row on most screens. */
#define OPEN 3

/* In the order of the page: figures that answer a question, then those that explain the answer. */
static const struct drawing drawings[] = {
	{
         .table = CELLS_LATENCY,
         .chart = {.title = "Latency by operation",
			  .says = "Two-sided and one-sided. " BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 1,
			  .least_series = 2},
         .prepare = drawing_prepare_latency_by_size,
         .add = drawing_add_latency_by_operation,
	 },
	{
         .table = CELLS_LATENCY,
         .chart = {.title = "Latency by size",
			  .says = BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 2},
         .prepare = drawing_prepare_latency_by_size,
         .add = drawing_add_latency_by_size,
	 },
	{
         .table = CELLS_LATENCY,
         .chart = {.title = "Latency by completion mode",
			  .says = BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 1,
			  .least_series = 2},
         .prepare = drawing_prepare_latency_by_size,
         .add = drawing_add_latency_by_mode,
	 },
	{
         .table = CELLS_LATENCY,
         .chart = {.title = "CPU time by completion mode",
			  .says = "Per message; for ping-pong tests, per round trip. Values below "
				  "1 ns are drawn at the bottom.",
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 1,
			  .least_series = 2},
         .prepare = drawing_prepare_cost,
         .add = drawing_add_cost,
	 },
	{
         .table = CELLS_LATENCY,
         .is_behind = true,
         .chart =
			{.title = "Percentiles",
			 .says = "Smallest, middle and largest size; with many cases, only the "
				 "middle size. Each further nine takes the same width. A line ends "
				 "where fewer than ten samples remain above it.",
			 .least = 2},
         .prepare = drawing_prepare_percentiles,
         .add = drawing_add_percentiles,
	 },
	{
         .table = CELLS_LATENCY,
         .is_behind = true,
         .chart = {.title = "Latency histograms",
			  .says = "Smallest size, up to p99.",
			  .mark = SVG_PANEL_BARS,
			  .least = 2},
         .prepare = drawing_prepare_histogram,
         .add = drawing_add_histogram,
	 },
	{
         .table = CELLS_LATENCY,
         .is_behind = true,
         .chart = {.title = "Latency by trial",
			  .says = "Trials in the order of the run; smallest, middle and largest "
				  "size.",
			  .least = 2},
         .prepare = drawing_prepare_latency_trials,
         .add = drawing_add_latency_trials,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Bandwidth by operation",
			  .says = "Two-sided and one-sided. " BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 1,
			  .least_series = 2},
         .prepare = drawing_prepare_bandwidth,
         .add = drawing_add_bandwidth_by_operation,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Bandwidth by size",
			  .says = BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 2},
         .prepare = drawing_prepare_bandwidth,
         .add = drawing_add_bandwidth,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Message rate by size",
			  .says = BANDS,
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 2},
         .prepare = drawing_prepare_message_rate,
         .add = drawing_add_message_rate,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "CPU time by completion mode",
			  .says = "Per message. Values below 1 ns are drawn at the bottom.",
			  .is_shared = true,
			  .n_open = OPEN,
			  .least = 1,
			  .least_series = 2},
         .prepare = drawing_prepare_cost,
         .add = drawing_add_cost,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .chart = {.title = "Throughput over time",
			  .says = "Largest size, all trials concatenated. With many throughput "
				  "windows, each point is the mean of several.",
			  .n_open = OPEN,
			  .least = 2},
         .prepare = drawing_prepare_windows,
         .add = drawing_add_windows,
	 },
	{
         .table = CELLS_BANDWIDTH,
         .is_behind = true,
         .chart = {.title = "Bandwidth by trial",
			  .says = "Trials in the order of the run; smallest, middle and largest "
				  "size.",
			  .least = 2},
         .prepare = drawing_prepare_bandwidth_trials,
         .add = drawing_add_bandwidth_trials,
	 },
	{
         .table = CELLS_LOAD,
         .chart = {.title = "Latency by rate", .says = BANDS, .n_open = OPEN, .least = 2},
         .prepare = drawing_prepare_load,
         .add = drawing_add_load,
	 },
};

void drawing_latency_axis(struct axis *axis)
{
	axis_open(axis, AXIS_LOG);
	axis->title = "latency";
	axis->unit_name = "us";
	axis->unit = NS_PER_US;
}

void drawing_bandwidth_axis(struct axis *axis, const struct drawing_source *source)
{
	axis_open(axis, AXIS_LOG);
	axis->title = "bandwidth";
	axis->unit_name = table_unit_name(source->unit);
	axis->unit = table_unit_bytes(source->unit);
}

void drawing_size_axis(struct axis *axis)
{
	axis_open(axis, AXIS_SIZES);
	axis->title = "size";
	axis->unit_name = "bytes";
}

void drawing_name(struct drawing_names *names, const struct result_case *line)
{
	static const char *const kinds[] = {
		[RESULT_HALF] = "half round trip",
		[RESULT_FULL] = "full round trip",
		[RESULT_COMPLETION] = "until local completion",
		[RESULT_CALL] = "call",
	};

	snprintf(names->operation, DRAWING_NAME, "%s%s", line->op, cells_extras(line));
	cells_modes(names->modes, line);
	names->kind = kinds[line->kind];
}

void drawing_name_size(char text[static HTML_NUMBER], const struct result_case *line)
{
	char size[DIGITS_SIZE];

	digits_size(size, line->size);
	snprintf(text, HTML_NUMBER, "%s bytes", size);
}

void drawing_over_trials(struct svg_panel_point *point, const struct result_case *line,
			 const double *first, double value)
{
	struct bounded figure;

	bounded_of(&figure, line, first, value);
	point->y = figure.value;
	point->low = figure.low;
	point->high = figure.high;
}

static bool is_of(const struct result_case *line, enum cells_table which)
{
	return cells_has_figures(line) && cells_table(line) == which;
}

/* Returns NULL if there are more than DRAWING_OPS operations. */
static const struct drawing_sizes *sizes_of(const struct drawing_source *source,
					    const struct result_case *line)
{
	for (size_t i = 0; i < source->n_sizes; i++)
		if (!strcmp(source->sizes[i].op, line->op))
			return &source->sizes[i];
	return NULL;
}

/* Returns the position among the sizes of the operation; DRAWING_SIZES if it has no such size. */
static size_t rank_of(const struct drawing_sizes *sizes, uint64_t size)
{
	for (size_t i = 0; sizes && i < sizes->count; i++)
		if (sizes->size[i] == size)
			return i;
	return DRAWING_SIZES;
}

bool drawing_is_smallest(const struct drawing_source *source, const struct result_case *line)
{
	return rank_of(sizes_of(source, line), line->size) == 0;
}

bool drawing_is_largest(const struct drawing_source *source, const struct result_case *line)
{
	const struct drawing_sizes *sizes = sizes_of(source, line);

	return sizes && rank_of(sizes, line->size) == sizes->count - 1;
}

bool drawing_is_representative(const struct drawing_source *source, const struct result_case *line)
{
	const struct drawing_sizes *sizes = sizes_of(source, line);
	size_t rank = rank_of(sizes, line->size);

	if (rank == DRAWING_SIZES)
		return false;
	if (rank == sizes->count / 2)
		return true;
	return source->n_cases <= DRAWING_CASES && (rank == 0 || rank == sizes->count - 1);
}

bool drawing_has_room(struct chart *chart, const struct drawing_source *source,
		      const struct result_case *line, size_t most)
{
	const struct drawing_sizes *sizes = sizes_of(source, line);
	size_t rank = rank_of(sizes, line->size);
	size_t step = 1 + source->n_cases / most;

	if (rank != DRAWING_SIZES && (rank % step == 0 || rank == sizes->count - 1))
		return true;
	chart->is_thinned = true;
	return false;
}

/* Inserts a size in order, unless it is there already. */
static void add_size(struct drawing_sizes *sizes, uint64_t size)
{
	size_t at = sizes->count;

	if (rank_of(sizes, size) != DRAWING_SIZES || sizes->count == DRAWING_SIZES)
		return;
	for (; at && sizes->size[at - 1] > size; at--)
		sizes->size[at] = sizes->size[at - 1];
	sizes->size[at] = size;
	sizes->count++;
}

static void find_sizes(struct drawing_source *source, enum cells_table which)
{
	for (size_t i = 0; i < source->result->n_cases; i++) {
		const struct result_case *line = &source->result->cases[i];
		size_t op = 0;

		if (!is_of(line, which))
			continue;
		source->n_cases++;
		while (op < source->n_sizes && strcmp(source->sizes[op].op, line->op) != 0)
			op++;
		if (op == DRAWING_OPS)
			continue;
		if (op == source->n_sizes)
			source->sizes[source->n_sizes++].op = line->op;
		add_size(&source->sizes[op], line->size);
	}
}

/* Calls are drawn like other latencies, but in separate figures. */
static enum cells_table drawn_of(enum cells_table which)
{
	return which == CELLS_CALLS ? CELLS_LATENCY : which;
}

static void print(FILE *out, const struct drawing_source *source, enum cells_table which,
		  const struct drawing *figure)
{
	const struct result *result = source->result;
	struct chart chart = figure->chart;

	figure->prepare(&chart, source);
	for (size_t i = 0; i < result->n_cases; i++)
		if (is_of(&result->cases[i], which))
			figure->add(&chart, source, &result->cases[i]);
	chart_print(out, &chart);
}

static void print_all(FILE *out, const struct charts *figures, enum cells_table which,
		      bool is_behind)
{
	struct drawing_source source = {.unit = figures->unit, .result = figures->result};

	find_sizes(&source, which);
	curves_open(&source.knees, source.result, &load_knee_kind);
	for (size_t i = 0; i < ARRAY_LENGTH(drawings); i++)
		if (drawings[i].table == drawn_of(which) && drawings[i].is_behind == is_behind)
			print(out, &source, which, &drawings[i]);
	curves_close(&source.knees);
}

void charts_print_before(FILE *out, const struct charts *figures, enum cells_table which)
{
	print_all(out, figures, which, false);
}

void charts_print_behind(FILE *out, const struct charts *figures, enum cells_table which)
{
	print_all(out, figures, which, true);
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static double number_of(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static void add_ratio(struct chart *chart, const char *panel, const json_t *pair, size_t row)
{
	static const struct {
		const char *key;
		const char *title;
	} titles[] = {
		{"p50_ns",         "p50"         },
		{"mean_ns",        "mean"        },
		{"messages_per_s", "message rate"},
		{"client_cpu_ns",  "CPU"         },
	};
	const json_t *ratio = json_object_get(pair, "ratio");
	const json_t *interval = json_object_get(ratio, "interval");
	const struct svg_panel_point point = {
		.x = number_of(ratio, "value"),
		.y = (double)row,
		.low = json_is_null(interval) ? (double)NAN : number_of(interval, "low"),
		.high = json_is_null(interval) ? (double)NAN : number_of(interval, "high"),
		.id = text_of(pair, "case"),
		.note = text_of(pair, "verdict"),
	};

	for (size_t i = 0; i < ARRAY_LENGTH(titles); i++)
		if (!strcmp(titles[i].key, text_of(pair, "figure")))
			chart_add(chart, panel, titles[i].title, &point);
}

void charts_print_ratios(FILE *out, const struct charts *figures)
{
	struct chart chart = {
		.title = "Ratios",
		.says = "Ratio of the two cases of each pair, with its interval over pairs of runs. The "
			"dotted line means no difference. Lower is better for times, higher for rates.",
		.mark = SVG_PANEL_INTERVALS,
		.level = {1, "no difference"},
		.least = 1,
	};
	json_t *turns = paired_trials_make(figures->result);
	const json_t *by;
	size_t i;

	axis_open(&chart.x, AXIS_RATIO);
	chart.x.title = "ratio";
	axis_open(&chart.y, AXIS_LINEAR);
	json_array_foreach(turns, i, by)
	{
		const json_t *tip = json_object_get(by, "tip");
		const json_t *pair;
		char panel[SVG_PANEL_TITLE];
		size_t j;

		snprintf(panel, sizeof(panel), "%.60s%s%.120s", text_of(by, "by"), tip ? ": " : "",
			 text_of(by, "tip"));
		json_array_foreach(json_object_get(by, "pairs"), j, pair)
			add_ratio(&chart, panel, pair, j + 1);
	}
	chart_print(out, &chart);
	json_decref(turns);
}
