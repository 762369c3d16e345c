/* SPDX-License-Identifier: MIT */
#include "reports/document/parse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"
#include "reports/fleet/document.h"
#include "reports/fleet/member.h"
#include "reports/io/json_member.h"

#define COUNTERS_MOST 64
#define COUNTER_NAME  63
#define WORDS_MOST    4096 /* of the command */
#define PAIRS_MOST    16777216
/* Positions in the array of a pair; those before are numbers. */
#define PAIR_OUTCOME  8
#define PAIR_COUNTERS 9

static bool has(const json_t *json, const char *name)
{
	return json_object_get(json, name) != NULL;
}

/* Names go into commands for shells and into spreadsheets. */
static bool is_name(const char *text)
{
	if (!isalnum((unsigned char)*text))
		return false;
	while (isalnum((unsigned char)*text) || (*text && strchr(".:_-", *text)))
		text++;
	return !*text;
}

static int parse_name(const json_t *json, const char *name, char *text, size_t size,
		      struct error *error)
{
	int code = json_member_text(json, name, text, size, error);

	if (code || is_name(text))
		return code;
	return error_set(error, -EINVAL, "\"%s\" is not a name of letters, digits and \".:_-\"",
			 name);
}

/* Reads a text that may be missing, and makes it printable. */
static int parse_remark(const json_t *json, const char *name, char *text, size_t size,
			struct error *error)
{
	int code = has(json, name) ? json_member_text(json, name, text, size, error) : 0;

	if (!code)
		printable_copy(text, size, text);
	return code;
}

static int parse_optional_name(const json_t *json, const char *name, char *text, size_t size,
			       struct error *error)
{
	return has(json, name) ? parse_name(json, name, text, size, error) : 0;
}

/* Reads a number below limit, such as a node's. */
static int parse_index(const json_t *json, const char *name, size_t limit, size_t *index,
		       struct error *error)
{
	uint64_t value = 0;
	int code = json_member_count(json, name, &value, error);

	if (code)
		return code;
	if (value >= limit)
		return error_set(error, -EINVAL, "\"%s\" is not below %zu", name, limit);
	*index = (size_t)value;
	return 0;
}

/* Reads a figure that may be missing. */
static int parse_figure(const json_t *json, const char *name, double *figure, struct error *error)
{
	*figure = (double)NAN;
	return has(json, name) ? json_member_figure(json, name, figure, error) : 0;
}

/* Finds an array of at most most values. */
static int find_array(const json_t *json, const char *name, size_t most, json_t **found,
		      struct error *error)
{
	int code = json_member_array(json, name, found, error);

	if (!code && json_array_size(*found) > most)
		code = error_set(error, -E2BIG, "\"%s\" has more than %zu values", name, most);
	return code;
}

/* Finds an array, and allocates as many zeroed structs of size bytes. */
// NOLINTNEXTLINE(readability-function-size): two results, and an error
static int open_array(const json_t *json, const char *name, size_t most, size_t size,
		      json_t **found, void **structs, struct error *error)
{
	int code = find_array(json, name, most, found, error);

	if (code)
		return code;
	*structs = calloc(json_array_size(*found) + 1, size);
	return *structs ? 0 : error_set_errno(error, -ENOMEM, "cannot keep \"%s\"", name);
}

static int parse_numa(const json_t *json, int *numa_node, struct error *error)
{
	const json_t *value = json_object_get(json, "numa_node");

	if (!json_is_integer(value) || json_integer_value(value) < -1 ||
	    json_integer_value(value) > INT_MAX)
		return error_set(error, -EINVAL, "\"numa_node\" is not the number of a node");
	*numa_node = (int)json_integer_value(value);
	return 0;
}

static int parse_rail(struct fleet_rail *rail, const json_t *json, struct error *error)
{
	unsigned int pkey = 0;

	if (parse_name(json, "device", rail->device, sizeof(rail->device), error) ||
	    json_member_small(json, "port", 255, &rail->port, error) ||
	    parse_remark(json, "link_layer", rail->link_layer, sizeof(rail->link_layer), error) ||
	    json_member_count(json, "rate_mbps", &rail->rate_mbps, error) ||
	    parse_numa(json, &rail->numa_node, error) ||
	    parse_optional_name(json, "pci", rail->pci, sizeof(rail->pci), error) ||
	    parse_optional_name(json, "gpu", rail->gpu, sizeof(rail->gpu), error) ||
	    json_member_small(json, "pkey", UINT16_MAX, &pkey, error) ||
	    json_member_flag(json, "soft", &rail->is_soft, error))
		return -EINVAL;
	rail->pkey = (uint16_t)pkey;
	return 0;
}

static int parse_rails(struct fleet_node *node, const json_t *rails, struct error *error)
{
	if (!json_is_array(rails) || json_array_size(rails) > FLEET_MOST_RAILS)
		return error_set(error, -EINVAL, "rails are not an array of at most %d",
				 FLEET_MOST_RAILS);
	node->n_rails = json_array_size(rails);
	for (size_t i = 0; i < node->n_rails; i++)
		if (parse_rail(&node->rails[i], json_array_get(rails, i), error))
			return error_wrap(error, "rail %zu", i);
	return 0;
}

static int parse_address(struct fleet_rail *rail, const json_t *json, struct error *error)
{
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) >= sizeof(rail->address) ||
	    strspn(text, "0123456789abcdefABCDEF.:") != json_string_length(json))
		return error_set(error, -EINVAL, "\"addresses\" has a value that is no address");
	memcpy(rail->address, text, json_string_length(json) + 1);
	return 0;
}

static int parse_addresses(struct fleet_node *node, const json_t *json, struct error *error)
{
	json_t *addresses;
	int code = json_member_array(json, "addresses", &addresses, error);

	if (!code && json_array_size(addresses) != node->n_rails)
		code = error_set(error, -EINVAL, "\"addresses\" has %zu values for %zu rails",
				 json_array_size(addresses), node->n_rails);
	for (size_t i = 0; i < node->n_rails && !code; i++)
		code = parse_address(&node->rails[i], json_array_get(addresses, i), error);
	return code;
}

/* Finds a word in a list, and sets number to its place. */
static int find_word(const char *word, const char *const *words, size_t count, unsigned int *number)
{
	for (size_t i = 0; i < count && word; i++)
		if (strcmp(word, words[i]) == 0) {
			*number = (unsigned int)i;
			return 0;
		}
	return -EINVAL;
}

static int parse_presence(struct fleet_node *node, const json_t *json, struct error *error)
{
	const char *word = json_string_value(json_object_get(json, "presence"));
	unsigned int number = 0;

	if (find_word(word, fleet_presence_names, ARRAY_LENGTH(fleet_presence_names), &number))
		return error_set(error, -EINVAL,
				 "\"presence\" is not one of absent, present, lost");
	node->presence = number;
	return 0;
}

/* Parses a node except for its fingerprint. */
static int parse_node(struct fleet_node *node, const json_t *json, const json_t *rails,
		      struct error *error)
{
	if (parse_name(json, "name", node->name, sizeof(node->name), error) ||
	    parse_name(json, "host", node->host, sizeof(node->host), error) ||
	    parse_remark(json, "group", node->group, sizeof(node->group), error) ||
	    parse_presence(node, json, error) ||
	    parse_remark(json, "error", node->error, sizeof(node->error), error) ||
	    parse_rails(node, rails, error) || parse_addresses(node, json, error))
		return -EINVAL;
	if (json_member_is_formula(node->group))
		return error_set(error, -EINVAL, "\"group\" begins like a formula");
	return 0;
}

static int set_fingerprint(struct fleet_node *node, const json_t *json, struct error *error)
{
	const char *text = json_string_value(json);

	if (!text || json_string_length(json) != FINGERPRINT_TEXT - 1 ||
	    strspn(text, "0123456789abcdef") != FINGERPRINT_TEXT - 1)
		return error_set(error, -EINVAL, "\"fingerprint\" is not 16 hexadecimal digits");
	memcpy(node->fingerprint, text, FINGERPRINT_TEXT);
	return 0;
}

int fleet_node_parse(struct fleet_node *node, const json_t *json, struct error *error)
{
	const json_t *fingerprint = json_object_get(json, "fingerprint");
	int code;

	*node = (struct fleet_node){0};
	code = parse_node(node, json, json_object_get(json, "rails"), error);
	if (!code && fingerprint)
		code = set_fingerprint(node, fingerprint, error);
	if (code)
		*node = (struct fleet_node){0};
	return code;
}

/* Parses a node of a document, whose rails and fingerprint stand in lists. */
static int parse_listed_node(struct fleet_node *node, const json_t *json, const json_t *layouts,
			     const json_t *fingerprints, struct error *error)
{
	size_t index = 0;
	int code = parse_index(json, "layout", json_array_size(layouts), &index, error);

	if (!code)
		code = parse_node(node, json, json_array_get(layouts, index), error);
	if (code || !has(json, "fingerprint"))
		return code;
	code = parse_index(json, "fingerprint", json_array_size(fingerprints), &index, error);
	return code ? code : set_fingerprint(node, json_array_get(fingerprints, index), error);
}

static int compare_names(const void *one, const void *other)
{
	const struct fleet_node *const *a = one;
	const struct fleet_node *const *b = other;

	return strcmp((*a)->name, (*b)->name);
}

static int check_names(const struct fleet *fleet, struct error *error)
{
	// NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are sorted
	const struct fleet_node **sorted = calloc(fleet->n_nodes + 1, sizeof(*sorted));
	int code = 0;

	if (!sorted)
		return error_set_errno(error, -ENOMEM, "cannot sort the nodes");
	for (size_t i = 0; i < fleet->n_nodes; i++)
		sorted[i] = &fleet->nodes[i];
	// NOLINTNEXTLINE(bugprone-sizeof-expression)
	qsort(sorted, fleet->n_nodes, sizeof(*sorted), compare_names);
	for (size_t i = 1; i < fleet->n_nodes && !code; i++)
		if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
			code = error_set(error, -EINVAL, "two nodes have the name %s",
					 sorted[i]->name);
	free(sorted);
	return code;
}

static int parse_nodes(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *fingerprints;
	json_t *layouts;
	json_t *nodes;
	void *made = NULL;
	int code = json_member_array(document, "fingerprints", &fingerprints, error);

	if (!code)
		code = json_member_array(document, "layouts", &layouts, error);
	if (!code)
		code = open_array(document, "nodes", FLEET_NODES_MOST, sizeof(*fleet->nodes),
				  &nodes, &made, error);
	if (code)
		return code;
	fleet->nodes = made;
	fleet->n_nodes = json_array_size(nodes);
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (parse_listed_node(&fleet->nodes[i], json_array_get(nodes, i), layouts,
				      fingerprints, error))
			return error_wrap(error, "node %zu", i);
	return check_names(fleet, error);
}

static int parse_case(struct fleet_case *line, const json_t *json, struct error *error)
{
	static const char *const metrics[] = {"bw", "lat"};
	unsigned int is_latency = 0;

	if (json_member_text(json, "id", line->id, sizeof(line->id), error))
		return -EINVAL;
	if (!isalnum((unsigned char)line->id[0]))
		return error_set(error, -EINVAL, "\"id\" does not begin with a letter or a digit");
	if (find_word(json_string_value(json_object_get(json, "metric")), metrics,
		      ARRAY_LENGTH(metrics), &is_latency))
		return error_set(error, -EINVAL, "\"metric\" is neither bw nor lat");
	line->is_latency = is_latency;
	if (json_member_flag(json, "both_ways", &line->is_both_ways, error) ||
	    json_member_count(json, "size", &line->size, error) ||
	    parse_figure(json, "floor", &line->floor, error))
		return -EINVAL;
	return json_member_flag(json, "floor_is_line", &line->floor_is_line, error);
}

static int parse_cases(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *cases;
	void *made = NULL;
	int code = open_array(document, "cases", FLEET_CASES_MOST, sizeof(*fleet->cases), &cases,
			      &made, error);

	if (code)
		return code;
	fleet->cases = made;
	fleet->n_cases = json_array_size(cases);
	for (size_t i = 0; i < fleet->n_cases; i++)
		if (parse_case(&fleet->cases[i], json_array_get(cases, i), error))
			return error_wrap(error, "case %zu", i);
	return 0;
}

static int parse_numbers(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
			 struct error *error)
{
	const struct {
		const char *name;
		json_int_t limit;
	} numbers[PAIR_OUTCOME] = {
		{"round",     UINT32_MAX                },
		{"from",      (json_int_t)fleet->n_nodes},
		{"to",        (json_int_t)fleet->n_nodes},
		{"from_rail", FLEET_MOST_RAILS          },
		{"to_rail",   FLEET_MOST_RAILS          },
		{"retest",    3                         },
		{"status",    FLEET_SKIPPED + 1         },
		{"faults",    1 << FLEET_FAULTS         },
	};
	json_int_t values[PAIR_OUTCOME];

	for (size_t i = 0; i < PAIR_OUTCOME; i++) {
		const json_t *value = json_array_get(json, i);

		values[i] = json_integer_value(value);
		if (!json_is_integer(value) || values[i] < 0 || values[i] >= numbers[i].limit)
			return error_set(error, -EINVAL, "\"%s\" is not a number below %lld",
					 numbers[i].name, (long long)numbers[i].limit);
	}
	*pair = (struct fleet_pair){
		.round = (uint32_t)values[0],
		.from = (uint32_t)values[1],
		.to = (uint32_t)values[2],
		.from_rail = (uint8_t)values[3],
		.to_rail = (uint8_t)values[4],
		.retest = (uint8_t)values[5],
		.status = (uint8_t)values[6],
		.faults = (uint8_t)values[7],
	};
	return 0;
}

static int parse_figures(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
			 struct error *error)
{
	if (pair->from_rail >= fleet->nodes[pair->from].n_rails ||
	    pair->to_rail >= fleet->nodes[pair->to].n_rails)
		return error_set(error, -EINVAL, "a rail was measured that its node does not have");
	if (!json_is_array(json) || json_array_size(json) != 2 * fleet->n_cases)
		return error_set(error, -EINVAL, "figures are not an array of %zu",
				 2 * fleet->n_cases);
	if (fleet_add_figures(fleet, pair))
		return error_set_errno(error, -ENOMEM, "cannot keep figures");
	for (size_t i = 0; i < 2 * fleet->n_cases; i++) {
		const json_t *figure = json_array_get(json, i);
		double value = json_number_value(figure);

		if (json_is_null(figure))
			continue;
		if (!json_is_number(figure) || !(value >= 0 && value < 0x1p63))
			return error_set(error, -EINVAL,
					 "figure %zu is not a number from 0 to 2^63", i);
		pair->figures[i] = value;
	}
	return 0;
}

static int parse_pair_error(struct fleet_pair *pair, const json_t *json, struct error *error)
{
	const char *text = json_string_value(json);

	if (json_is_null(json))
		return 0;
	if (!text || json_string_length(json) >= sizeof(error->text) ||
	    !json_member_is_printable(text))
		return error_set(error, -EINVAL,
				 "the error is not a printable text of at most %zu bytes",
				 sizeof(error->text) - 1);
	pair->error = strdup(text);
	if (!pair->error)
		return error_set_errno(error, -ENOMEM, "cannot keep an error");
	printable_copy(pair->error, strlen(text) + 1, pair->error);
	return 0;
}

static int check_counters(json_t *counters, struct error *error)
{
	const char *name;
	json_t *value;

	if (!json_is_object(counters) || json_object_size(counters) > COUNTERS_MOST)
		return error_set(error, -EINVAL, "counters are not an object of at most %d",
				 COUNTERS_MOST);
	json_object_foreach(counters, name, value)
	{
		if (strlen(name) > COUNTER_NAME || !is_name(name))
			return error_set(error, -EINVAL, "the name of a counter is invalid");
		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return error_set(error, -EINVAL, "the counter %s is not a count", name);
	}
	return 0;
}

/* The counters of each end, which the pair then shares with the document. */
static int parse_counters(struct fleet_pair *pair, json_t *json, struct error *error)
{
	const char *end;
	json_t *counters;

	if (!json_is_object(json))
		return error_set(error, -EINVAL, "counters are not an object");
	json_object_foreach(json, end, counters)
	{
		int code = strcmp(end, "from") == 0 || strcmp(end, "to") == 0
				   ? check_counters(counters, error)
				   : error_set(error, -EINVAL, "counters are of neither end");

		if (code)
			return code;
	}
	pair->errors = json_incref(json);
	return 0;
}

static int parse_pair(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
		      struct error *error)
{
	size_t size = json_array_size(json);
	int code;

	if (size <= PAIR_OUTCOME || size > PAIR_COUNTERS + 1)
		return error_set(error, -EINVAL, "it is not an array of %d or %d values",
				 PAIR_COUNTERS, PAIR_COUNTERS + 1);
	code = parse_numbers(fleet, pair, json, error);
	if (!code && pair->status == FLEET_MEASURED)
		code = parse_figures(fleet, pair, json_array_get(json, PAIR_OUTCOME), error);
	else if (!code)
		code = parse_pair_error(pair, json_array_get(json, PAIR_OUTCOME), error);
	if (!code && size > PAIR_COUNTERS)
		code = parse_counters(pair, json_array_get(json, PAIR_COUNTERS), error);
	return code;
}

int fleet_pair_parse(const struct fleet *fleet, struct fleet_pair *pair, const json_t *json,
		     struct error *error)
{
	int code;

	*pair = (struct fleet_pair){0};
	code = parse_pair(fleet, pair, json, error);
	if (code) {
		free(pair->error);
		free(pair->figures);
		json_decref(pair->errors);
		*pair = (struct fleet_pair){0};
	}
	return code;
}

static int parse_pairs(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *pairs;
	int code = find_array(document, "pairs", PAIRS_MOST, &pairs, error);

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

	if (parse_index(json, "case", fleet->n_cases, &number, error) ||
	    parse_index(json, "rail", FLEET_MOST_RAILS, &rail, error) ||
	    json_member_flag(json, "between", &spread->is_between, error) ||
	    json_member_flag(json, "loopback", &spread->is_loopback, error) ||
	    json_member_count(json, "count", &count, error) ||
	    parse_figure(json, "median", &spread->median, error) ||
	    parse_figure(json, "mad", &spread->mad, error) ||
	    parse_figure(json, "least", &spread->least, error) ||
	    parse_figure(json, "most", &spread->most, error))
		return -EINVAL;
	spread->number = (uint32_t)number;
	spread->rail = (uint8_t)rail;
	spread->count = (size_t)count;
	return 0;
}

static int parse_spreads(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *spreads;
	void *made = NULL;
	int code = open_array(document, "spreads", FLEET_FINDINGS_MOST, sizeof(*fleet->spreads),
			      &spreads, &made, error);

	if (code)
		return code;
	fleet->spreads = made;
	fleet->n_spreads = json_array_size(spreads);
	for (size_t i = 0; i < fleet->n_spreads; i++)
		if (parse_spread(fleet, &fleet->spreads[i], json_array_get(spreads, i), error))
			return error_wrap(error, "spread %zu", i);
	return 0;
}

static int parse_faults(struct fleet_blame *blame, const json_t *json, struct error *error)
{
	json_t *faults;
	int code = find_array(json, "faults", FLEET_FAULTS, &faults, error);

	for (size_t i = 0; !code && i < json_array_size(faults); i++) {
		unsigned int bit = 0;

		if (find_word(json_string_value(json_array_get(faults, i)), fleet_fault_names,
			      FLEET_FAULTS, &bit))
			return error_set(error, -EINVAL, "\"faults\" has an unknown fault");
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
	int code = parse_index(json, names[0], fleet->n_nodes, &numbers[0], error);

	if (!code && has(json, names[1]))
		code = parse_index(json, names[1], FLEET_MOST_RAILS, &numbers[1], error);
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
	if (!code && blame->culprit >= FLEET_CULPRIT_LINK)
		code = parse_place(fleet, json, places[1], &blame->peer, &blame->peer_rail, error);
	if (code || json_member_small(json, "bad", UINT32_MAX, &blame->bad, error) ||
	    json_member_small(json, "good", UINT32_MAX, &blame->good, error) ||
	    parse_faults(blame, json, error))
		return -EINVAL;
	return parse_remark(json, "reason", blame->reason, sizeof(blame->reason), error);
}

static int parse_blames(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *blames;
	void *made = NULL;
	int code = open_array(document, "blames", FLEET_FINDINGS_MOST, sizeof(*fleet->blames),
			      &blames, &made, error);

	if (code)
		return code;
	fleet->blames = made;
	fleet->n_blames = json_array_size(blames);
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (parse_blame(fleet, &fleet->blames[i], json_array_get(blames, i), error))
			return error_wrap(error, "blame %zu", i);
	return 0;
}

/* Finds an array of printable strings. */
static int parse_strings(const json_t *json, const char *name, size_t most, json_t **kept,
			 struct error *error)
{
	json_t *strings;
	int code = find_array(json, name, most, &strings, error);

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
	json_t *run;

	if (json_member_object(document, "run", &run, error) ||
	    json_member_text(run, "started", fleet->started, sizeof(fleet->started), error) ||
	    json_member_text(run, "finished", fleet->finished, sizeof(fleet->finished), error) ||
	    parse_strings(run, "command", WORDS_MOST, &fleet->command, error) ||
	    parse_remark(run, "launcher", fleet->launcher, sizeof(fleet->launcher), error) ||
	    json_member_text(run, "pattern", fleet->pattern, sizeof(fleet->pattern), error) ||
	    json_member_text(run, "rails", fleet->rails, sizeof(fleet->rails), error) ||
	    json_member_small(run, "rounds", UINT32_MAX, &fleet->n_rounds, error) ||
	    json_member_flag(run, "interrupted", &fleet->is_interrupted, error) ||
	    parse_remark(run, "interruption", fleet->interruption, sizeof(fleet->interruption),
			 error) ||
	    json_member_flag(run, "simulated", &fleet->is_simulated, error))
		return error_wrap(error, "run");
	return 0;
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
		code = parse_run(fleet, document, error);
	if (code)
		return code;
	return parse_strings(document, "warnings", PARSE_WARNINGS_MOST, &fleet->warnings, error);
}

int fleet_document_parse(struct fleet *fleet, const json_t *document, struct error *error)
{
	static int (*const parts[])(struct fleet *, const json_t *, struct error *) = {
		parse_head, parse_nodes, parse_cases, parse_pairs, parse_spreads, parse_blames};
	int code = 0;

	*fleet = (struct fleet){0};
	for (size_t i = 0; i < ARRAY_LENGTH(parts) && !code; i++)
		code = parts[i](fleet, document, error);
	if (code)
		fleet_finish(fleet);
	return code;
}
