/* SPDX-License-Identifier: MIT */
#include "reports/fleet/parse_node.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/compiler.h"
#include "core/base/printable.h"
#include "reports/fleet/document.h"
#include "reports/fleet/member.h"
#include "reports/io/json_member.h"

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

	if (member_name(json, "device", rail->device, sizeof(rail->device), error) ||
	    json_member_small(json, "port", 255, &rail->port, error) ||
	    json_member_text(json, "link_layer", rail->link_layer, sizeof(rail->link_layer),
			     error) ||
	    json_member_count(json, "rate_mbps", &rail->rate_mbps, error) ||
	    parse_numa(json, &rail->numa_node, error) ||
	    member_optional_name(json, "pci", rail->pci, sizeof(rail->pci), error) ||
	    member_optional_name(json, "gpu", rail->gpu, sizeof(rail->gpu), error) ||
	    json_member_small(json, "pkey", UINT16_MAX, &pkey, error) ||
	    json_member_flag(json, "soft", &rail->is_soft, error))
		return -EINVAL;
	rail->pkey = (uint16_t)pkey;
	printable_copy(rail->link_layer, sizeof(rail->link_layer), rail->link_layer);
	return rail->port ? 0 : error_set(error, -EINVAL, "\"port\" is 0");
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

static int parse_presence(struct fleet_node *node, const json_t *json, struct error *error)
{
	const char *word = json_string_value(json_object_get(json, "presence"));
	unsigned int number = 0;

	if (member_find_word(word, fleet_presence_names, ARRAY_LENGTH(fleet_presence_names),
			     &number))
		return error_set(error, -EINVAL,
				 "\"presence\" is not one of absent, present, lost");
	node->presence = number;
	return 0;
}

/* Parses a node except for its fingerprint. */
static int parse_node(struct fleet_node *node, const json_t *json, const json_t *rails,
		      struct error *error)
{
	if (member_name(json, "name", node->name, sizeof(node->name), error) ||
	    member_name(json, "host", node->host, sizeof(node->host), error) ||
	    member_remark(json, "group", node->group, sizeof(node->group), error) ||
	    parse_presence(node, json, error) ||
	    member_remark(json, "error", node->error, sizeof(node->error), error) ||
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
	int code = member_index(json, "layout", json_array_size(layouts), &index, error);

	if (!code)
		code = parse_node(node, json, json_array_get(layouts, index), error);
	if (code || !member_has(json, "fingerprint"))
		return code;
	code = member_index(json, "fingerprint", json_array_size(fingerprints), &index, error);
	return code ? code : set_fingerprint(node, json_array_get(fingerprints, index), error);
}

/* Checks the values that nodes share, whether or not a node has them. */
static int check_shared(const json_t *layouts, const json_t *fingerprints, struct error *error)
{
	struct fleet_node *scratch = calloc(1, sizeof(*scratch));
	int code = scratch ? 0 : error_set_errno(error, -ENOMEM, "cannot check the layouts");

	for (size_t i = 0; i < json_array_size(layouts) && !code; i++)
		if (parse_rails(scratch, json_array_get(layouts, i), error))
			code = error_wrap(error, "layout %zu", i);
	for (size_t i = 0; i < json_array_size(fingerprints) && !code; i++)
		code = set_fingerprint(scratch, json_array_get(fingerprints, i), error);
	free(scratch);
	return code;
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

int fleet_nodes_parse(struct fleet *fleet, const json_t *document, struct error *error)
{
	json_t *fingerprints;
	json_t *layouts;
	struct member_list list;
	int code = json_member_array(document, "fingerprints", &fingerprints, error);

	if (!code)
		code = json_member_array(document, "layouts", &layouts, error);
	if (!code)
		code = check_shared(layouts, fingerprints, error);
	if (!code)
		code = member_open_list(&list, document, "nodes", FLEET_NODES_MOST,
					sizeof(*fleet->nodes), error);
	if (code)
		return code;
	fleet->nodes = list.structs;
	fleet->n_nodes = list.count;
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (parse_listed_node(&fleet->nodes[i], json_array_get(list.json, i), layouts,
				      fingerprints, error))
			return error_wrap(error, "node %zu", i);
	return check_names(fleet, error);
}
