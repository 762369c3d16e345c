/* SPDX-License-Identifier: MIT */
#include "reports/page/host_facts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reports/io/json_member.h"
#include "reports/page/html.h"
#include "reports/result/fingerprint.h"

/* How deep facts lie: a document of somebody else's may be deeper. */
#define DEPTH_MAX 4

/* The rows of one end, or of both ends as columns. */
struct facts {
	FILE *out;
	const char *end;   /* in front of all names; or empty */
	bool is_differing; /* those that do not differ are left out */
	size_t count;
	const json_t *column[HOST_FACTS_MOST];
	const char *fingerprint[HOST_FACTS_MOST];
	size_t n_rows; /* that were printed */
};

/* One name in all columns. */
struct level {
	const struct level *above; /* NULL: a section */
	const char *name;
	int depth;
	const json_t *value[HOST_FACTS_MOST];
};

/* What is not known is not there, however a document says so. */
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

static void print_value(FILE *out, const json_t *value)
{
	char *text = NULL;

	if (value && !json_is_string(value))
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
	fputs("<td>", out);
	html_text(out, !value                  ? "-"
		       : json_is_string(value) ? json_string_value(value)
		       : text                  ? text
					       : "");
	fputs("</td>", out);
	free(text);
}

/* The names that lead there. */
static void print_name(FILE *out, const struct level *level)
{
	if (level->above) {
		print_name(out, level->above);
		fputc(' ', out);
	}
	html_text(out, level->name);
}

static bool is_hard(const struct level *level)
{
	const char *member = NULL;

	for (; level->above; level = level->above)
		member = level->name;
	return fingerprint_has(level->name, member);
}

static void begin_row(struct facts *facts)
{
	fputs("<tr><th scope=\"row\" align=\"left\">", facts->out);
	html_text(facts->out, facts->end);
	facts->n_rows++;
}

static void print_fact(struct facts *facts, const struct level *level)
{
	bool is_other = differs(facts, level);
	FILE *out = facts->out;

	if (facts->is_differing && !is_other)
		return;
	begin_row(facts);
	print_name(out, level);
	fputs("</th>", out);
	for (size_t i = 0; i < facts->count; i++)
		print_value(out, level->value[i]);
	fprintf(out, "<td>%s</td></tr>\n",
		!is_other        ? ""
		: is_hard(level) ? "differs, hard"
				 : "differs");
}

static void print_facts(struct facts *facts, const struct level *above);

static void print_level(struct facts *facts, const struct level *above, const char *name)
{
	const json_t *const *from = above ? above->value : facts->column;
	struct level level = {above, name, above ? above->depth + 1 : 1, {NULL}};
	bool has_members = false;

	for (size_t i = 0; i < facts->count; i++) {
		level.value[i] = host_facts_find(from[i], name);
		has_members = has_members || json_is_object(level.value[i]);
	}
	if (has_members && level.depth < DEPTH_MAX)
		print_facts(facts, &level);
	else
		print_fact(facts, &level);
}

/* above NULL: of all sections. */
static void print_facts(struct facts *facts, const struct level *above)
{
	const json_t *const *from = above ? above->value : facts->column;
	json_t *names = json_object();
	const char *name;
	json_t *unused;

	for (size_t i = 0; i < facts->count; i++)
		json_object_update_missing(names, (json_t *)(uintptr_t)from[i]);
	json_object_foreach(names, name, unused)
	{
		print_level(facts, above, name);
	}
	json_decref(names);
}

static void print_fingerprints(struct facts *facts)
{
	bool is_other = false;

	for (size_t i = 1; i < facts->count; i++)
		is_other = is_other || strcmp(facts->fingerprint[0], facts->fingerprint[i]) != 0;
	if (facts->is_differing && !is_other)
		return;
	begin_row(facts);
	fputs("hard fingerprint</th>", facts->out);
	for (size_t i = 0; i < facts->count; i++) {
		const char *text = facts->fingerprint[i];

		fputs("<td>", facts->out);
		html_text(facts->out, *text ? text : "-");
		fputs("</td>", facts->out);
	}
	fprintf(facts->out, "<td>%s</td></tr>\n", is_other ? "differs" : "");
}

static void begin_table(FILE *out)
{
	fputs("<p>A hard fact is one that decides what is measured: results that differ in one are "
	      "not compared, and two ends that do are not alike.</p>\n"
	      "<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n<thead><tr>"
	      "<th scope=\"col\" align=\"left\">fact</th>",
	      out);
}

static void print_head(FILE *out, const char *before, const char *text)
{
	fputs("<th scope=\"col\" align=\"left\">", out);
	fputs(before, out);
	html_text(out, text);
	fputs("</th>", out);
}

static void end_head(FILE *out)
{
	print_head(out, "differing", "");
	fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(FILE *out)
{
	fputs("</tbody>\n</table>\n", out);
}

/* Behind the heads of its columns. */
static void print_all(struct facts *facts)
{
	end_head(facts->out);
	print_fingerprints(facts);
	print_facts(facts, NULL);
	end_table(facts->out);
}

/* Of several hosts each, as many as there is room for. */
static void print_parties(FILE *out, const json_t *parties)
{
	struct facts facts = {.out = out, .end = ""};
	size_t all = json_array_size(parties);
	bool is_known = false;

	facts.count = all < HOST_FACTS_MOST ? all : HOST_FACTS_MOST;
	for (size_t i = 0; i < facts.count; i++) {
		const json_t *party = json_array_get(parties, i);

		facts.column[i] = host_facts_find(party, "facts");
		facts.fingerprint[i] = json_member_or_empty(party, "hard_fingerprint");
		is_known = is_known || facts.column[i];
	}
	if (!is_known)
		return;
	html_element(out, "h3", "Circumstances");
	if (all > facts.count)
		fprintf(out, "<p>Of the first %zu of %zu hosts.</p>\n", facts.count, all);
	begin_table(out);
	for (size_t i = 0; i < facts.count; i++)
		print_head(out, "", json_member_or_empty(json_array_get(parties, i), "name"));
	print_all(&facts);
}

static void print_ends(FILE *out, const struct result *result)
{
	struct facts facts = {
		.out = out,
		.end = "",
		.count = 2,
		.column = {result->client.facts,       result->server.facts      },
		.fingerprint = {result->client.fingerprint, result->server.fingerprint},
	};

	if (!facts.column[0] && !facts.column[1])
		return;
	html_element(out, "h3", "Circumstances");
	begin_table(out);
	print_head(out, "client: ", result->client.host);
	print_head(out, "server: ", result->server.host);
	print_all(&facts);
}

void host_facts_print(FILE *out, const struct result *result)
{
	if (result->parties)
		print_parties(out, result->parties);
	else
		print_ends(out, result);
}

static void print_end(struct facts *facts, const struct host_facts_of *results, bool is_server)
{
	facts->end = is_server ? "server " : "client ";
	for (size_t i = 0; i < facts->count; i++) {
		const struct result *result = results[i].result;
		const struct result_end *end = is_server ? &result->server : &result->client;

		facts->column[i] = end->facts;
		facts->fingerprint[i] = end->fingerprint;
	}
	print_fingerprints(facts);
	print_facts(facts, NULL);
}

void host_facts_print_differing(FILE *out, const struct host_facts_of *results, size_t count)
{
	struct facts facts = {
		.out = out,
		.is_differing = true,
		.count = count < HOST_FACTS_MOST ? count : HOST_FACTS_MOST,
	};

	if (count < 2)
		return;
	html_element(out, "h3", "Circumstances that differ");
	if (count > facts.count)
		fprintf(out, "<p>Of the first %zu of %zu results.</p>\n", facts.count, count);
	begin_table(out);
	for (size_t i = 0; i < facts.count; i++)
		print_head(out, "", results[i].name);
	end_head(out);
	print_end(&facts, results, false);
	print_end(&facts, results, true);
	if (!facts.n_rows)
		fprintf(out,
			"<tr><th scope=\"row\" align=\"left\">none</th><td colspan=\"%zu\"></td></tr>\n",
			facts.count + 1);
	end_table(out);
}
