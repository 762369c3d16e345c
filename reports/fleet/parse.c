/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "reports/fleet/document.h"
#include "reports/fleet/member.h"
#include "reports/fleet/parse_node.h"
#include "reports/io/json_member.h"

#define WORDS_MOST    4096 /* of the command */
#define WARNINGS_MOST 32768

static int parse_case(struct fleet_case *line, const json_t *json, struct error *error)
{
	static const char *const metrics[] = {"bw", "lat"};
	unsigned int is_latency = 0;

	if (json_member_text(json, "id", line->id, sizeof(line->id), error))
		return -EINVAL;
	if (!isalnum((unsigned char)line->id[0]))
		return error_set(error, -EINVAL, "\"id\" does not begin with a letter or a digit");
	if (member_find_word(json_string_value(json_object_get(json, "metric")), metrics,
			     ARRAY_LENGTH(metrics), &is_latency))
		return error_set(error, -EINVAL, "\"metric\" is neither bw nor lat");
	line->is_latency = is_latency;
	if (json_member_flag(json, "both_ways", &line->is_both_ways, error) ||
	    json_member_count(json, "size", &line->size, error) ||
	    member_figure(json, "floor", &line->floor, error))
		return -EINVAL;
	return json_member_flag(json, "floor_is_line", &line->floor_is_line, error);
}

static int parse_cases(struct fleet *fleet, const json_t *document, struct error *error)
{
	struct member_list list;
	int code = member_open_list(&list, document, "cases", FLEET_CASES_MOST,
				    sizeof(*fleet->cases), error);

	if (code)
		return code;
	fleet->cases = list.structs;
	fleet->n_cases = list.count;
	for (size_t i = 0; i < fleet->n_cases; i++)
		if (parse_case(&fleet->cases[i], json_array_get(list.json, i), error))
			return error_wrap(error, "case %zu", i);
	return 0;
}

static int parse_pairs(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *pairs;
	int code = json_member_array(document, "pairs", &pairs, error);

	for (size_t i = 0; !code && i < json_array_size(pairs); i++) {
		struct fleet_pair *pair = fleet_add_pair(fleet);

		if (!pair)
			return error_set_errno(error, -ENOMEM, "cannot keep %zu pairs", i);
		code = fleet_pair_parse(fleet, pair, json_array_get(pairs, i), error);
		if (code)
			error_wrap(error, "pair %zu", i);
	}
	return code;
}

static int parse_spread(const struct fleet *fleet, struct fleet_spread *spread, const json_t *json,
			struct error *error)
{
	size_t number = 0;
	size_t rail = 0;
	uint64_t count = 0;

	if (member_index(json, "case", fleet->n_cases, &number, error) ||
	    member_index(json, "rail", FLEET_MOST_RAILS, &rail, error) ||
	    json_member_flag(json, "between", &spread->is_between, error) ||
	    json_member_flag(json, "loopback", &spread->is_loopback, error) ||
	    json_member_count(json, "count", &count, error) ||
	    member_figure(json, "median", &spread->median, error) ||
	    member_figure(json, "mad", &spread->mad, error) ||
	    member_figure(json, "least", &spread->least, error) ||
	    member_figure(json, "most", &spread->most, error))
		return -EINVAL;
	spread->number = (uint32_t)number;
	spread->rail = (uint8_t)rail;
	spread->count = (size_t)count;
	return 0;
}

static int parse_spreads(struct fleet *fleet, const json_t *document, struct error *error)
{
	struct member_list list;
	int code = member_open_list(&list, document, "spreads", FLEET_FINDINGS_MOST,
				    sizeof(*fleet->spreads), error);

	if (code)
		return code;
	fleet->spreads = list.structs;
	fleet->n_spreads = list.count;
	for (size_t i = 0; i < fleet->n_spreads; i++)
		if (parse_spread(fleet, &fleet->spreads[i], json_array_get(list.json, i), error))
			return error_wrap(error, "spread %zu", i);
	return 0;
}

static int parse_faults(struct fleet_blame *blame, const json_t *json, struct error *error)
{
	json_t *faults;
	int code = member_find_array(json, "faults", FLEET_FAULTS, &faults, error);

	for (size_t i = 0; !code && i < json_array_size(faults); i++) {
		unsigned int bit = 0;

		if (member_find_word(json_string_value(json_array_get(faults, i)),
				     fleet_fault_names, FLEET_FAULTS, &bit))
			return error_set(error, -EINVAL, "\"faults\" has an unknown fault");
		if (blame->faults & 1 << bit)
			return error_set(error, -EINVAL, "\"faults\" has a fault twice");
		blame->faults |= (uint8_t)(1 << bit);
	}
	return code;
}

static int parse_culprit(struct fleet_blame *blame, const json_t *json, struct error *error)
{
	static const enum fleet_culprit culprits[] = {FLEET_CULPRIT_NODE, FLEET_CULPRIT_RAIL,
						      FLEET_CULPRIT_LINK, FLEET_CULPRIT_PAIR};
	const char *word = json_member_or_empty(json, "culprit");

	for (size_t i = 0; i < ARRAY_LENGTH(culprits); i++)
		if (strcmp(word, fleet_culprit_name(culprits[i])) == 0) {
			blame->culprit = culprits[i];
			return 0;
		}
	return error_set(error, -EINVAL, "\"culprit\" is not one of node, rail, link, pair");
}

/* Reads a node and its rail, which may be missing: all rails. */
static int parse_place(const struct fleet *fleet, const json_t *json, const char *const names[2],
		       uint32_t *node, uint8_t *rail, struct error *error)
{
	size_t numbers[2] = {0, FLEET_ALL_RAILS};
	int code = member_index(json, names[0], fleet->n_nodes, &numbers[0], error);

	if (!code && member_has(json, names[1]))
		code = member_index(json, names[1], FLEET_MOST_RAILS, &numbers[1], error);
	*node = (uint32_t)numbers[0];
	*rail = (uint8_t)numbers[1];
	return code;
}

static int parse_blame(const struct fleet *fleet, struct fleet_blame *blame, const json_t *json,
		       struct error *error)
{
	static const char *const places[2][2] = {
		{"node", "rail"     },
		{"peer", "peer_rail"},
	};
	int code = parse_culprit(blame, json, error);

	if (!code)
		code = parse_place(fleet, json, places[0], &blame->node, &blame->rail, error);
	if (!code && blame->culprit == FLEET_CULPRIT_RAIL && blame->rail == FLEET_ALL_RAILS)
		code = error_set(error, -EINVAL, "\"rail\" is missing");
	if (!code && (blame->culprit >= FLEET_CULPRIT_LINK || member_has(json, "peer") ||
		      member_has(json, "peer_rail")))
		code = parse_place(fleet, json, places[1], &blame->peer, &blame->peer_rail, error);
	if (code || json_member_small(json, "bad", UINT32_MAX, &blame->bad, error) ||
	    json_member_small(json, "good", UINT32_MAX, &blame->good, error) ||
	    parse_faults(blame, json, error))
		return -EINVAL;
	return json_member_text(json, "reason", blame->reason, sizeof(blame->reason), error);
}

static int parse_blames(struct fleet *fleet, const json_t *document, struct error *error)
{
	struct member_list list;
	int code = member_open_list(&list, document, "blames", FLEET_FINDINGS_MOST,
				    sizeof(*fleet->blames), error);

	if (code)
		return code;
	fleet->blames = list.structs;
	fleet->n_blames = list.count;
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (parse_blame(fleet, &fleet->blames[i], json_array_get(list.json, i), error))
			return error_wrap(error, "blame %zu", i);
	return 0;
}

/* Finds an array of printable strings. */
static int parse_strings(const json_t *json, const char *name, size_t most, json_t **kept,
			 struct error *error)
{
	json_t *strings;
	int code = member_find_array(json, name, most, &strings, error);

	for (size_t i = 0; !code && i < json_array_size(strings); i++) {
		const char *text = json_string_value(json_array_get(strings, i));

		if (!text || !json_member_is_printable(text))
			code = error_set(error, -EINVAL,
					 "\"%s\" has a value that is not a printable text", name);
	}
	if (!code)
		*kept = json_incref(strings);
	return code;
}

static int parse_run(struct fleet *fleet, const json_t *document, struct error *error)
{
	unsigned int status = 0;
	json_t *run;

	if (json_member_object(document, "run", &run, error) ||
	    json_member_small(run, "exit_status", 3, &status, error) ||
	    json_member_text(run, "started", fleet->started, sizeof(fleet->started), error) ||
	    json_member_text(run, "finished", fleet->finished, sizeof(fleet->finished), error) ||
	    parse_strings(run, "command", WORDS_MOST, &fleet->command, error) ||
	    member_remark(run, "launcher", fleet->launcher, sizeof(fleet->launcher), error) ||
	    json_member_text(run, "pattern", fleet->pattern, sizeof(fleet->pattern), error) ||
	    json_member_text(run, "rails", fleet->rails, sizeof(fleet->rails), error) ||
	    json_member_small(run, "rounds", UINT32_MAX, &fleet->n_rounds, error) ||
	    json_member_flag(run, "interrupted", &fleet->is_interrupted, error) ||
	    member_remark(run, "interruption", fleet->interruption, sizeof(fleet->interruption),
			  error) ||
	    json_member_flag(run, "simulated", &fleet->is_simulated, error))
		return error_wrap(error, "run");
	return status != 2 ? 0 : error_set(error, -EINVAL, "run: \"exit_status\" is 2");
}

/* Checks the members that are not kept, as they follow from others. */
static int check_unkept(const json_t *document, const json_t *tool, struct error *error)
{
	const char *banner = json_string_value(json_object_get(document, "banner"));
	const char *bad = json_string_value(json_object_get(document, "bad_nodes"));
	json_t *columns = fleet_columns_make();
	int code = 0;

	if (strcmp(json_member_or_empty(tool, "name"), "verbmark") != 0)
		code = error_set(error, -EINVAL, "\"name\" of the tool is not verbmark");
	else if (member_has(document, "banner") &&
		 (!banner || !*banner || !json_member_is_printable(banner)))
		code = error_set(error, -EINVAL, "\"banner\" is not a text");
	else if (!bad || !json_member_is_printable(bad))
		code = error_set(error, -EINVAL, "\"bad_nodes\" is not a host list");
	else if (!json_equal(columns, json_object_get(document, "columns")))
		code = error_set(error, -EINVAL, "\"columns\" are not those of " FLEET_SCHEMA);
	json_decref(columns);
	return code;
}

static int parse_head(struct fleet *fleet, const json_t *document, struct error *error)
{
	const char *schema = json_member_or_empty(document, "schema");
	json_t *tool;
	int code;

	if (strcmp(schema, FLEET_SCHEMA) != 0)
		return error_set(error, -EINVAL, "the schema is not " FLEET_SCHEMA);
	code = json_member_object(document, "tool", &tool, error);
	fleet->texts = json_array();
	if (!code)
		code = json_member_word(tool, "version", fleet->texts, &fleet->version, error);
	if (!code)
		code = check_unkept(document, tool, error);
	if (!code)
		code = parse_run(fleet, document, error);
	if (code)
		return code;
	return parse_strings(document, "warnings", WARNINGS_MOST, &fleet->warnings, error);
}

int fleet_document_parse(struct fleet *fleet, const json_t *document, struct error *error)
{
	static int (*const parts[])(struct fleet *, const json_t *, struct error *) = {
		parse_head,  fleet_nodes_parse, parse_cases,
		parse_pairs, parse_spreads,     parse_blames};
	int code = 0;

	*fleet = (struct fleet){0};
	for (size_t i = 0; i < ARRAY_LENGTH(parts) && !code; i++)
		code = parts[i](fleet, document, error);
	if (code)
		fleet_finish(fleet);
	return code;
}
