/* SPDX-License-Identifier: MIT */
#include "reports/table/memory_matrix.h"

#include <math.h>
#include <string.h>

#include "reports/finding/bounded.h"

#define NS_PER_US 1000.0

#define CLIENT "memory"
#define SERVER "server-memory"

/* A matrix has room for this many kinds of the server. */
#define KINDS_MOST (GRID_COLUMNS - 1)

/* Different kinds of each end, in the order of their cases, as names of objects. */
struct kinds {
	json_t *clients;
	json_t *servers;
};

/* Cases omit the default. */
static const char *kind_of(const struct result_case *line, const char *end)
{
	const char *name = json_string_value(json_object_get(line->parameters, end));

	return name ? name : "host";
}

static void open_kinds(struct kinds *kinds)
{
	kinds->clients = json_object();
	kinds->servers = json_object();
}

static void close_kinds(struct kinds *kinds)
{
	json_decref(kinds->clients);
	json_decref(kinds->servers);
}

static void add_kinds(struct kinds *kinds, const struct result_case *line)
{
	json_object_set_new(kinds->clients, kind_of(line, CLIENT), json_true());
	json_object_set_new(kinds->servers, kind_of(line, SERVER), json_true());
}

static size_t combinations(const struct kinds *kinds)
{
	return json_object_size(kinds->clients) * json_object_size(kinds->servers);
}

static bool is_shown(const struct result_case *line)
{
	/* The server only answers calls. */
	return cells_has_figures(line) && cells_table(line) != CELLS_CALLS;
}

static bool has_kinds(const struct result *result)
{
	struct kinds kinds;
	size_t count;

	open_kinds(&kinds);
	for (size_t i = 0; i < result->n_cases; i++)
		if (is_shown(&result->cases[i]))
			add_kinds(&kinds, &result->cases[i]);
	count = combinations(&kinds);
	close_kinds(&kinds);
	return count > 1;
}

/* Removes the kind of memory of one end from an id. */
static void cut_kind(char *id, const struct result_case *line, const char *end)
{
	char part[CASE_ID];
	char *found;

	snprintf(part, sizeof(part), "/%s-%s", end, kind_of(line, end));
	found = strstr(id, part);
	if (found)
		memmove(found, found + strlen(part), strlen(found + strlen(part)) + 1);
}

/* Formats what the cases of a matrix have in common: kinds of latency must not be compared. */
static void print_title(char title[static CASE_ID], const struct result_case *line,
			const struct table_unit *unit)
{
	size_t length;

	snprintf(title, CASE_ID, "%s", line->id);
	cut_kind(title, line, SERVER);
	cut_kind(title, line, CLIENT);
	length = strlen(title);
	if (line->windows)
		snprintf(title + length, CASE_ID - length, ", %s", table_unit_name(unit));
	else
		snprintf(title + length, CASE_ID - length, ", p50 (%s) in us",
			 result_kind_name(line->kind));
}

static void find_kinds(struct kinds *kinds, const struct result *result, const json_t *group)
{
	const json_t *number;
	size_t i;

	open_kinds(kinds);
	json_array_foreach(group, i, number)
		add_kinds(kinds, &result->cases[json_integer_value(number)]);
}

/* Returns whether the group has several kinds, and figures for half of their combinations. */
static bool is_matrix(const struct result *result, const json_t *group)
{
	struct kinds kinds;
	size_t count;

	find_kinds(&kinds, result, group);
	count = combinations(&kinds);
	close_kinds(&kinds);
	return count > 1 && 2 * json_array_size(group) >= count;
}

json_t *memory_matrix_groups(const struct result *result, const struct table_unit *unit)
{
	json_t *groups = has_kinds(result) ? json_object() : NULL;
	const char *title;
	json_t *group;
	void *next;

	for (size_t i = 0; groups && i < result->n_cases; i++) {
		char text[CASE_ID];

		if (!is_shown(&result->cases[i]))
			continue;
		print_title(text, &result->cases[i], unit);
		if (!json_object_get(groups, text))
			json_object_set_new(groups, text, json_array());
		json_array_append_new(json_object_get(groups, text), json_integer((json_int_t)i));
	}
	json_object_foreach_safe(groups, next, title, group)
	{
		if (!is_matrix(result, group))
			json_object_del(groups, title);
	}
	return groups;
}

/* Returns the case with these kinds, or NULL. */
static const struct result_case *find_case(const struct result *result, const json_t *group,
					   const char *client, const char *server)
{
	const json_t *number;
	size_t i;

	json_array_foreach(group, i, number)
	{
		const struct result_case *line = &result->cases[json_integer_value(number)];

		if (!strcmp(kind_of(line, CLIENT), client) &&
		    !strcmp(kind_of(line, SERVER), server))
			return line;
	}
	return NULL;
}

static void put_figure(struct grid *grid, const struct table_unit *unit,
		       const struct result_case *line)
{
	struct bounded rate;

	if (!line) {
		cells_put_us(grid, (double)NAN);
	} else if (line->windows) {
		bounded_rate(&rate, line);
		cells_put_amount(grid, rate.value * (double)line->size / table_unit_bytes(unit));
	} else {
		cells_put_us(grid, result_named(line, "p50") / NS_PER_US);
	}
}

/* The titles are the result's own. */
static void open_columns(struct grid *grid, const struct result *result, const json_t *group)
{
	struct kinds added;
	const json_t *number;
	size_t i;

	grid_open(grid);
	grid_words(grid, (const char *const[]){"client"}, 1);
	open_kinds(&added);
	json_array_foreach(group, i, number)
	{
		const struct result_case *line = &result->cases[json_integer_value(number)];
		const char *name = kind_of(line, SERVER);

		if (!json_object_get(added.servers, name) && grid->n_columns <= KINDS_MOST)
			grid_add_columns(grid, &(struct grid_column){name, GRID_FIGURES, 7}, 1);
		add_kinds(&added, line);
	}
	close_kinds(&added);
}

void memory_matrix_open(struct grid *grid, const struct table_unit *unit,
			const struct result *result, const json_t *group)
{
	struct kinds kinds;
	const char *client;
	json_t *value;

	open_columns(grid, result, group);
	find_kinds(&kinds, result, group);
	json_object_foreach(kinds.clients, client, value)
	{
		grid_put(grid, "%s", client);
		for (size_t i = 1; i < grid->n_columns; i++)
			put_figure(grid, unit,
				   find_case(result, group, client, grid->columns[i].title));
	}
	close_kinds(&kinds);
}

bool memory_matrix_note(char note[static MEMORY_MATRIX_NOTE], const struct result *result,
			const json_t *group)
{
	struct kinds kinds;
	size_t count;

	find_kinds(&kinds, result, group);
	count = json_object_size(kinds.servers);
	close_kinds(&kinds);
	if (count <= KINDS_MOST)
		return false;
	snprintf(note, MEMORY_MATRIX_NOTE,
		 "%zu more kinds of the server have no column; the tables of cases have them",
		 count - KINDS_MOST);
	return true;
}
