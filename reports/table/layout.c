/* SPDX-License-Identifier: MIT */
#include "reports/table/layout.h"

#include <string.h>

static const char *color_kind(const char *cell)
{
	static const struct {
		enum result_kind kind;
		const char *color;
	} colors[] = {
		{RESULT_HALF,       terminal_green  },
		{RESULT_FULL,       terminal_blue   },
		{RESULT_COMPLETION, terminal_magenta},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(colors); i++)
		if (!strcmp(cell, result_kind_name(colors[i].kind)))
			return colors[i].color;
	return NULL;
}

static const char *color_schedule(const char *cell)
{
	return strcmp(cell, "kept") ? terminal_red : terminal_green;
}

static const char *color_main(const char *cell)
{
	return terminal_bold;
}

/* How columns are shown, by title. All other columns are always shown, without color. */
static const struct trait {
	const char *title;
	struct grid_view view;
	bool may_fold; /* into the heading, if all cells are the same */
} traits[] = {
	{"size",     {0},		       true },
	{"mode",     {0},		       true },
	{"kind",     {.color = color_kind},     true },
	{"schedule", {.color = color_schedule}, false},
	{"p50",      {.color = color_main},     false},
	{"Gb/s",     {.color = color_main},     false},
	{"lag p99",  {.rank = 1},               false},
	{"p99.9",    {.rank = 2},               false},
	{"max",      {.rank = 3},               false},
};

static const struct trait *find_trait(const char *title)
{
	for (size_t i = 0; i < ARRAY_LENGTH(traits); i++)
		if (!strcmp(traits[i].title, title))
			return &traits[i];
	return NULL;
}

/* Returns the table of a case that may have no figures yet. */
static enum cells_table table_of(const struct result_case *line)
{
	if (cells_has_figures(line))
		return cells_table(line);
	if (!strcmp(line->metric, "bw"))
		return CELLS_BANDWIDTH;
	if (!strcmp(line->metric, "load"))
		return CELLS_LOAD;
	return line->kind == RESULT_CALL ? CELLS_CALLS : CELLS_LATENCY;
}

static bool is_in(const struct result_case *line, enum cells_table which)
{
	return line->status != RESULT_SKIPPED && table_of(line) == which;
}

/* Adds the row of a case. Figures that are not known yet take the columns' usual width. */
static void add_row(struct grid *grid, const struct table_unit *unit, const struct result *result,
		    const struct result_case *line, const char *extras)
{
	size_t end = grid->n_cells + grid->n_columns;

	if (cells_has_figures(line)) {
		cells_add(grid, unit, result, line, extras);
		return;
	}
	cells_names(grid, line, extras);
	if (table_of(line) == CELLS_LATENCY)
		grid_put(grid, "%s", result_kind_name(line->kind));
	while (grid->memory && grid->n_cells < end)
		grid_put(grid, "%s", "");
}

/* Returns the extras that all cases of a table have in common, or NULL if they differ. */
static const char *common_extras(const struct result *result, enum cells_table which)
{
	const char *common = NULL;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (!is_in(line, which))
			continue;
		if (common && strcmp(common, cells_extras(line)) != 0)
			return NULL;
		common = cells_extras(line);
	}
	return common;
}

/* Returns the cell that all rows have in a column, or NULL if they differ. */
static const char *common_cell(struct grid *grid, size_t column)
{
	const char *cell = grid_cells(grid);
	const char *common = NULL;

	for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1) {
		if (i % grid->n_columns != column)
			continue;
		if (common && strcmp(common, cell) != 0)
			return NULL;
		common = cell;
	}
	return common;
}

static void append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", more);
}

/* Adds what all cases have in common: "LATENCY us: size 64, poll". */
static void add_common(struct table_layout *layout, const char *name, const char *text)
{
	bool is_first = !strchr(layout->heading, ':');

	append(layout->heading, sizeof(layout->heading), is_first ? ": " : ", ");
	append(layout->heading, sizeof(layout->heading), name);
	append(layout->heading, sizeof(layout->heading), text);
}

const char *layout_explain_kind(enum result_kind kind)
{
	static const char *const texts[] = {
		[RESULT_HALF] = "half a round trip",
		[RESULT_FULL] = "a full round trip",
		[RESULT_COMPLETION] = "until the local completion",
		[RESULT_CALL] = "the duration of the call",
	};

	return texts[kind];
}

static const char *explain_cell(const char *cell)
{
	for (enum result_kind kind = RESULT_HALF; kind <= RESULT_CALL; kind++)
		if (!strcmp(result_kind_name(kind), cell))
			return layout_explain_kind(kind);
	return cell;
}

/* Moves columns with the same cell in every row to the heading. */
static void fold(struct table_layout *layout, struct grid *grid)
{
	for (size_t i = 0; i < grid->n_columns; i++) {
		const char *title = grid->columns[i].title;
		const struct trait *trait = find_trait(title);
		const char *common = common_cell(grid, i);
		bool is_kind = !strcmp(title, "kind");

		if (!trait || !trait->may_fold || !grid->n_cells)
			continue;
		grid->views[i].is_hidden = common != NULL;
		if (!common || !*common)
			continue;
		add_common(layout, !strcmp(title, "size") ? "size " : "",
			   is_kind ? explain_cell(common) : common);
	}
}

/* Opens a grid whose first column has no title, and returns that title, which the heading shows. */
static const char *open_grid(struct grid *grid, const struct table_unit *unit,
			     const struct result *result, enum cells_table which)
{
	const char *title;

	cells_open(grid, unit, result, which);
	title = grid->columns[0].title;
	grid->columns[0].title = "";
	for (size_t i = 0; i < grid->n_columns; i++) {
		const struct trait *trait = find_trait(grid->columns[i].title);

		if (trait)
			grid->views[i] = trait->view;
	}
	return title;
}

/* Hides columns that do not fit, and notes their titles. */
static void squeeze(struct table_layout *layout, struct grid *grid, int width)
{
	bool was_hidden[GRID_COLUMNS];

	for (size_t i = 0; i < grid->n_columns; i++)
		was_hidden[i] = grid->views[i].is_hidden;
	grid_squeeze(grid, width);
	for (size_t i = 0; i < grid->n_columns; i++) {
		if (was_hidden[i] || !grid->views[i].is_hidden)
			continue;
		append(layout->dropped, sizeof(layout->dropped), layout->dropped[0] ? ", " : "");
		append(layout->dropped, sizeof(layout->dropped), grid->columns[i].title);
	}
}

void layout_make(struct table_layout *layout, const struct table_unit *unit,
		 const struct result *result, enum cells_table which, int width)
{
	const char *extras = common_extras(result, which);
	struct grid grid;

	*layout = (struct table_layout){.has_extras = !extras || !*extras};
	append(layout->heading, sizeof(layout->heading), open_grid(&grid, unit, result, which));
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *line = &result->cases[i];

		if (is_in(line, which))
			add_row(&grid, unit, result, line,
				layout->has_extras ? cells_extras(line) : "");
	}
	fold(layout, &grid);
	if (!layout->has_extras)
		add_common(layout, "", extras + 1);
	grid_fit(&grid);
	squeeze(layout, &grid, grid.n_cells ? width : 0);
	for (size_t i = 0; i < grid.n_columns; i++) {
		layout->column_width[i] = grid.columns[i].width;
		layout->is_hidden[i] = grid.views[i].is_hidden;
	}
	grid_close(&grid);
}

void layout_open(const struct table_layout *layout, struct grid *grid,
		 const struct table_unit *unit, const struct result *result, enum cells_table which)
{
	open_grid(grid, unit, result, which);
	for (size_t i = 0; i < grid->n_columns; i++) {
		grid->columns[i].width = layout->column_width[i];
		grid->views[i].is_hidden = layout->is_hidden[i];
	}
}
