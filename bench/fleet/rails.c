/* SPDX-License-Identifier: MIT */
#include "bench/fleet/rails.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/fleet/hostlist.h"

/* DEVICE/PORT. */
#define RAIL_LABEL (FLEET_NAME + 12)
/* A list of them, which leaves room for the rest of an error or a warning. */
#define RAIL_LIST 160
/* Characters of an unknown name that an error shows. */
#define NAME_SHOWN 40

static const char *label_rail(const struct fleet_rail *rail, char text[static RAIL_LABEL])
{
	snprintf(text, RAIL_LABEL, "%s/%u", rail->device, rail->port);
	return text;
}

/* Returns whether a word of the list, of that length, names the rail. */
static bool names(const char *word, size_t length, const struct fleet_rail *rail)
{
	char label[RAIL_LABEL];

	label_rail(rail, label);
	return (strlen(rail->device) == length && !strncmp(rail->device, word, length)) ||
	       (strlen(label) == length && !strncmp(label, word, length));
}

static bool is_listed(const char *list, const struct fleet_rail *rail)
{
	while (list && *list) {
		size_t length = strcspn(list, ",");

		if (names(list, length, rail))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

static const struct fleet_rail *find_rail(const struct fleet_node *node,
					  const struct fleet_rail *wanted)
{
	for (size_t i = 0; i < node->n_rails; i++)
		if (!strcmp(node->rails[i].device, wanted->device) &&
		    node->rails[i].port == wanted->port)
			return &node->rails[i];
	return NULL;
}

/*
 * Writes the names of the node's rails, or only of those that another node lacks. Ends in "and
 * more" if not all fit. Returns text.
 */
static const char *list_rails(const struct fleet_node *node, const struct fleet_node *other,
			      char text[static RAIL_LIST])
{
	size_t room = RAIL_LIST - sizeof(" and more");
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < node->n_rails; i++) {
		char label[RAIL_LABEL];

		if (other && find_rail(other, &node->rails[i]))
			continue;
		label_rail(&node->rails[i], label);
		if (used + strlen(label) + 2 > room) {
			snprintf(text + used, RAIL_LIST - used, " and more");
			break;
		}
		used += (size_t)snprintf(text + used, RAIL_LIST - used, "%s%s", used ? ", " : "",
					 label);
	}
	return text;
}

/* Checks that each word of the list names a rail. */
static int check_list(const struct fleet_node *node, const char *option, const char *list,
		      struct error *error)
{
	char available[RAIL_LIST];

	while (list && *list) {
		size_t length = strcspn(list, ",");
		bool is_known = false;

		for (size_t i = 0; i < node->n_rails; i++)
			is_known = is_known || names(list, length, &node->rails[i]);
		if (!is_known)
			return error_set(error, -ENODEV,
					 "%s: no active port of '%.*s'; available: %s", option,
					 (int)(length < NAME_SHOWN ? length : NAME_SHOWN), list,
					 list_rails(node, NULL, available));
		list += length + (list[length] == ',');
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct fleet_rail *one = a;
	const struct fleet_rail *other = b;
	int order = one->is_soft - other->is_soft;

	if (!order)
		order = strcmp(one->pci, other->pci);
	if (!order)
		order = strcmp(one->device, other->device);
	return order ? order : (int)one->port - (int)other->port;
}

int rails_choose(struct fleet_node *node, const struct rails_choice *choice, struct error *error)
{
	size_t n_kept = 0;
	int code = check_list(node, "--devices", choice->devices, error);

	/* Not every node has to have what is excluded. */
	if (code)
		return code;
	for (size_t i = 0; i < node->n_rails; i++) {
		if ((choice->devices && !is_listed(choice->devices, &node->rails[i])) ||
		    is_listed(choice->exclude, &node->rails[i]))
			continue;
		node->rails[n_kept++] = node->rails[i];
	}
	node->n_rails = n_kept;
	if (!n_kept && choice->exclude)
		return error_set(error, -ENODEV, "--exclude leaves no device to measure");
	if (!n_kept)
		return error_set(error, -ENODEV, "no device to measure; use --devices LIST");
	qsort(node->rails, n_kept, sizeof(node->rails[0]), by_place);
	return 0;
}

void rails_share(struct fleet_node *node, uint32_t local_rank, uint32_t local_size)
{
	size_t n_kept = 0;

	if (local_size < 2 || !node->n_rails)
		return;
	/* With fewer rails than ranks, several ranks use the same one. */
	if (node->n_rails <= local_rank) {
		node->rails[0] = node->rails[local_rank % node->n_rails];
		node->n_rails = 1;
		return;
	}
	for (size_t i = local_rank; i < node->n_rails; i += local_size)
		node->rails[n_kept++] = node->rails[i];
	node->n_rails = n_kept;
}

/* A node and its rank's number on the host. */
struct place {
	const struct fleet_node *node;
	unsigned long number;
};

/* Ranks that share a host have different rails, so each is compared with its like on other hosts. */
static unsigned long find_number(const struct fleet_node *node)
{
	const char *dot = strrchr(node->name, '.');

	return dot && strcmp(node->name, node->host) != 0 ? strtoul(dot + 1, NULL, 10) : 0;
}

static int order_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order_rails(const struct fleet_rail *a, const struct fleet_rail *b)
{
	int order = strcmp(a->device, b->device);

	if (!order)
		order = order_numbers(a->port, b->port);
	if (!order)
		order = order_numbers(a->rate_mbps, b->rate_mbps);
	return order ? order : strcmp(a->link_layer, b->link_layer);
}

static int order_layouts(const struct place *a, const struct place *b)
{
	int order = order_numbers(a->number, b->number);

	if (!order)
		order = order_numbers(a->node->n_rails, b->node->n_rails);
	for (size_t i = 0; i < a->node->n_rails && !order; i++)
		order = order_rails(&a->node->rails[i], &b->node->rails[i]);
	return order;
}

static int by_layout(const void *a, const void *b)
{
	const struct place *one = a;
	const struct place *other = b;
	int order = order_layouts(one, other);

	return order ? order : (one->node > other->node) - (one->node < other->node);
}

/* Nodes with the same rails, and the more usual ones that they are compared with. */
struct group {
	const struct place *places;
	size_t count;
	const struct place *usual;
	char who[96];  /* "n[017-018]" */
	char rest[64]; /* "the other 62 nodes have" */
};

static void describe_group(struct group *group)
{
	const char **names = calloc(group->count, sizeof(*names));
	char *list = NULL;

	for (size_t i = 0; names && i < group->count; i++)
		names[i] = group->places[i].node->name;
	if (names)
		list = hostlist_make(names, group->count);
	if (list && strlen(list) < sizeof(group->who))
		snprintf(group->who, sizeof(group->who), "%s", list);
	else if (group->count > 1)
		snprintf(group->who, sizeof(group->who), "%s and %zu more",
			 group->places[0].node->name, group->count - 1);
	else
		snprintf(group->who, sizeof(group->who), "%s", group->places[0].node->name);
	free(list);
	free(names);
}

static void describe_rest(struct group *group, size_t n_usual, size_t n_all)
{
	bool is_all = group->count + n_usual == n_all;

	if (is_all && n_usual == 1)
		snprintf(group->rest, sizeof(group->rest), "the other node has");
	else
		snprintf(group->rest, sizeof(group->rest), "%s%zu node%s",
			 is_all ? "the other " : "", n_usual, n_usual == 1 ? " has" : "s have");
}

/* Warns of missing and additional rails. Returns whether there are any. */
static bool warn_names(struct fleet *fleet, const struct group *group)
{
	const struct fleet_node *node = group->places[0].node;
	const struct fleet_node *usual = group->usual->node;
	char lacks[RAIL_LIST];
	char adds[RAIL_LIST];

	list_rails(usual, node, lacks);
	list_rails(node, usual, adds);
	if (!lacks[0] && !adds[0])
		return false;
	if (node->n_rails == usual->n_rails)
		fleet_warn(fleet, "%s: %s, %s %s", group->who, adds, group->rest, lacks);
	else
		fleet_warn(fleet, "%s: %zu rail%s, %s %zu (%s%s%s%s%s)", group->who, node->n_rails,
			   node->n_rails == 1 ? "" : "s", group->rest, usual->n_rails,
			   lacks[0] ? "no " : "", lacks, lacks[0] && adds[0] ? "; " : "",
			   adds[0] ? "also " : "", adds);
	return true;
}

/* Warns if the same rails have other numbers. */
static void warn_order(struct fleet *fleet, const struct group *group)
{
	const struct fleet_node *node = group->places[0].node;
	const struct fleet_node *usual = group->usual->node;

	for (size_t i = 0; i < node->n_rails; i++) {
		char own[RAIL_LABEL];
		char other[RAIL_LABEL];

		label_rail(&node->rails[i], own);
		label_rail(&usual->rails[i], other);
		if (!strcmp(own, other))
			continue;
		fleet_warn(fleet, "%s: rail %zu is %s, %s %s", group->who, i, own, group->rest,
			   other);
		return;
	}
}

static const char *rate_text(const struct fleet_rail *rail, char text[static 32])
{
	if (rail->rate_mbps)
		snprintf(text, 32, "%g Gb/s", (double)rail->rate_mbps / 1000);
	else
		snprintf(text, 32, "an unknown rate");
	return text;
}

static void warn_rail(struct fleet *fleet, const struct group *group, const struct fleet_rail *rail)
{
	const struct fleet_rail *usual = find_rail(group->usual->node, rail);
	char label[RAIL_LABEL];
	char own[32];
	char other[32];

	if (!usual)
		return;
	label_rail(rail, label);
	if (strcmp(rail->link_layer, usual->link_layer) != 0)
		fleet_warn(fleet, "%s %s: %s, %s %s", group->who, label, rail->link_layer,
			   group->rest, usual->link_layer);
	if (rail->rate_mbps != usual->rate_mbps)
		fleet_warn(fleet, "%s %s: %s, %s %s", group->who, label, rate_text(rail, own),
			   group->rest, rate_text(usual, other));
}

static void warn_group(struct fleet *fleet, const struct group *group)
{
	const struct fleet_node *node = group->places[0].node;

	if (!warn_names(fleet, group))
		warn_order(fleet, group);
	for (size_t i = 0; i < node->n_rails; i++)
		warn_rail(fleet, group, &node->rails[i]);
}

/* Returns the number of places at the start that have the same rails. */
static size_t count_alike(const struct place *places, size_t count)
{
	size_t n_alike = 1;

	while (n_alike < count && !order_layouts(&places[0], &places[n_alike]))
		n_alike++;
	return n_alike;
}

/* Compares nodes whose ranks have the same number on their hosts, sorted by layout. */
static void compare_places(struct fleet *fleet, const struct place *places, size_t count)
{
	const struct place *usual = NULL;
	size_t n_usual = 0;
	size_t n_alike;

	for (size_t i = 0; i < count; i += n_alike) {
		n_alike = count_alike(places + i, count - i);
		/* If layouts are equally frequent, the first node's counts as usual. */
		if (n_alike < n_usual || (n_alike == n_usual && places[i].node > usual->node))
			continue;
		usual = &places[i];
		n_usual = n_alike;
	}
	for (size_t i = 0; i < count; i += n_alike) {
		struct group group = {.places = places + i, .usual = usual};

		n_alike = count_alike(places + i, count - i);
		if (group.places == usual)
			continue;
		group.count = n_alike;
		describe_group(&group);
		describe_rest(&group, n_usual, count);
		warn_group(fleet, &group);
	}
}

void rails_compare(struct fleet *fleet)
{
	struct place *places = calloc(fleet->n_nodes + 1, sizeof(*places));
	size_t count = 0;
	size_t first = 0;

	if (!places)
		return;
	for (size_t i = 0; i < fleet->n_nodes; i++)
		if (fleet->nodes[i].n_rails)
			places[count++] =
				(struct place){&fleet->nodes[i], find_number(&fleet->nodes[i])};
	qsort(places, count, sizeof(*places), by_layout);
	for (size_t i = 1; i <= count; i++)
		if (i == count || places[i].number != places[first].number) {
			compare_places(fleet, places + first, i - first);
			first = i;
		}
	free(places);
}
