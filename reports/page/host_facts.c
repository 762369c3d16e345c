/* SPDX-License-Identifier: MIT */
#include "reports/page/host_facts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reports/page/html.h"
#include "reports/page/table.h"
#include "reports/result/fingerprint.h"

/* The maximum nesting shown; documents from elsewhere may be nested deeper. */
#define DEPTH_MAX 4

/* The table being built: one column per host or result. */
struct facts {
	struct grid grid;
	const char *end;   /* prefix of all names, or empty */
	bool is_differing; /* omit facts that do not differ */
	size_t count;
	const json_t *column[HOST_FACTS_MOST];
	const char *fingerprint[HOST_FACTS_MOST];
};

/* The values of one name in all columns. */
struct level {
	const struct level *above; /* NULL: this is a section */
	const char *name;
	int depth;
	const json_t *value[HOST_FACTS_MOST];
};

/* A null member counts as missing. */
static const json_t *host_facts_find(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

static bool is_same(const json_t *one, const json_t *other)
{
	return one == other || (one && other && json_equal(one, other));
}

static bool differs(const struct facts *facts, const struct level *level)
{
	for (size_t i = 1; i < facts->count; i++)
		if (!is_same(level->value[0], level->value[i]))
			return true;
	return false;
}

static void put_value(struct grid *grid, const json_t *value)
{
	char *text = NULL;

	if (value && !json_is_string(value))
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	grid_put(grid, "%s",
		 !value                  ? "-"
		 : json_is_string(value) ? json_string_value(value)
		 : text                  ? text
					 : "");
	free(text);
}

/* Puts the names of all levels, outermost first. */
static void begin_name(struct grid *grid, const struct level *level)
{
	if (level->above)
		begin_name(grid, level->above);
	grid_begin(grid, "%s%s", level->above ? " " : "", level->name);
}

static bool is_hard(const struct level *level)
{
	const char *member = NULL;

	for (; level->above; level = level->above)
		member = level->name;
	return fingerprint_has(level->name, member);
}

static void put_fact(struct facts *facts, const struct level *level)
{
	bool is_other = differs(facts, level);

	if (facts->is_differing && !is_other)
		return;
	grid_begin(&facts->grid, "%s", facts->end);
	begin_name(&facts->grid, level);
	grid_put(&facts->grid, "%s", "");
	for (size_t i = 0; i < facts->count; i++)
		put_value(&facts->grid, level->value[i]);
	grid_put(&facts->grid, "%s", !is_other ? "" : is_hard(level) ? "differs, hard" : "differs");
}

static void put_facts(struct facts *facts, const struct level *above);

static void put_level(struct facts *facts, const struct level *above, const char *name)
{
	const json_t *const *from = above ? above->value : facts->column;
	struct level level = {above, name, above ? above->depth + 1 : 1, {NULL}};
	bool has_members = false;

	for (size_t i = 0; i < facts->count; i++) {
		level.value[i] = host_facts_find(from[i], name);
		has_members = has_members || json_is_object(level.value[i]);
	}
	if (has_members && level.depth < DEPTH_MAX)
		put_facts(facts, &level);
	else
		put_fact(facts, &level);
}

/* Puts all members of a level; of the whole document if above is NULL. */
static void put_facts(struct facts *facts, const struct level *above)
{
	const json_t *const *from = above ? above->value : facts->column;
	json_t *names = json_object();
	const char *name;
	json_t *unused;

	for (size_t i = 0; i < facts->count; i++)
		json_object_update_missing(names, (json_t *)(uintptr_t)from[i]);
	json_object_foreach(names, name, unused)
	{
		put_level(facts, above, name);
	}
	json_decref(names);
}

static void put_fingerprints(struct facts *facts)
{
	bool is_other = false;

	for (size_t i = 1; i < facts->count; i++)
		is_other = is_other || strcmp(facts->fingerprint[0], facts->fingerprint[i]) != 0;
	if (facts->is_differing && !is_other)
		return;
	grid_put(&facts->grid, "%shard fingerprint", facts->end);
	for (size_t i = 0; i < facts->count; i++)
		grid_put(&facts->grid, "%s", *facts->fingerprint[i] ? facts->fingerprint[i] : "-");
	grid_put(&facts->grid, "%s", is_other ? "differs" : "");
}

static void put_all(struct facts *facts)
{
	put_fingerprints(facts);
	put_facts(facts, NULL);
}

_Static_assert(HOST_FACTS_MOST + 2 <= GRID_COLUMNS, "each host needs a column");

/* names: titles of the columns. */
static void open_grid(struct facts *facts, const char *const *names)
{
	grid_open(&facts->grid);
	grid_words(&facts->grid, (const char *const[]){"fact"}, 1);
	grid_words(&facts->grid, names, facts->count);
	grid_words(&facts->grid, (const char *const[]){"difference"}, 1);
}

static void print_and_close(FILE *out, struct facts *facts)
{
	if (!facts->is_differing)
		fputs("<details>\n<summary>All facts of client and server</summary>\n", out);
	fputs("<p>Hard facts determine what is measured: results that differ in one are not "
	      "compared, and a client and a server that differ in one are not alike.</p>\n",
	      out);
	if (facts->grid.n_cells)
		page_table(out, &facts->grid);
	else
		html_element(out, "p", "None.");
	if (!facts->is_differing)
		fputs("</details>\n", out);
	grid_close(&facts->grid);
}

void host_facts_print(FILE *out, const struct result *result)
{
	char client[sizeof(result->client.host) + 16];
	char server[sizeof(client)];
	struct facts facts = {
		.end = "",
		.count = 2,
		.column = {result->client.facts,       result->server.facts      },
		.fingerprint = {result->client.fingerprint, result->server.fingerprint},
	};

	if (!facts.column[0] && !facts.column[1])
		return;
	html_element(out, "h3", "Host facts");
	snprintf(client, sizeof(client), "client: %s", result->client.host);
	snprintf(server, sizeof(server), "server: %s", result->server.host);
	open_grid(&facts, (const char *const[]){client, server});
	put_all(&facts);
	print_and_close(out, &facts);
}

static void put_end_facts(struct facts *facts, const struct host_facts_of *results, bool is_server)
{
	facts->end = is_server ? "server " : "client ";
	for (size_t i = 0; i < facts->count; i++) {
		const struct result *result = results[i].result;
		const struct result_end *end = is_server ? &result->server : &result->client;

		facts->column[i] = end->facts;
		facts->fingerprint[i] = end->fingerprint;
	}
	put_all(facts);
}

void host_facts_print_differing(FILE *out, const struct host_facts_of *results, size_t count)
{
	struct facts facts = {
		.is_differing = true,
		.count = count < HOST_FACTS_MOST ? count : HOST_FACTS_MOST,
	};
	const char *names[HOST_FACTS_MOST];

	if (count < 2)
		return;
	html_element(out, "h3", "Host facts that differ");
	if (count > facts.count)
		fprintf(out, "<p>The first %zu of %zu results.</p>\n", facts.count, count);
	for (size_t i = 0; i < facts.count; i++)
		names[i] = results[i].name;
	open_grid(&facts, names);
	put_end_facts(&facts, results, false);
	put_end_facts(&facts, results, true);
	print_and_close(out, &facts);
}
