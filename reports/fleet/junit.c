/* SPDX-License-Identifier: MIT */
#include "reports/fleet/junit.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/export/xml.h"
#include "reports/fleet/place.h"
#include "reports/io/save.h"
#include "reports/result/banner.h"

/* The findings on a rail. */
struct rail_state {
	const struct fleet_blame *blame; /* of the rail or its node; NULL: none */
	bool is_measured;
};

struct count {
	size_t tests;
	size_t failures;
	size_t errors;
	size_t skipped;
};

static bool is_of_two(const struct fleet_blame *blame)
{
	return blame->culprit == FLEET_CULPRIT_LINK || blame->culprit == FLEET_CULPRIT_PAIR;
}

static void mark_measured(struct rail_state *states, uint32_t node, uint8_t rail)
{
	if (rail < FLEET_MOST_RAILS)
		states[node * (size_t)FLEET_MOST_RAILS + rail].is_measured = true;
}

static void mark_blame(struct rail_state *states, const struct fleet_blame *blame)
{
	struct rail_state *node = &states[blame->node * (size_t)FLEET_MOST_RAILS];

	for (size_t i = 0; i < FLEET_MOST_RAILS; i++)
		if ((blame->rail == FLEET_ALL_RAILS || blame->rail == i) && !node[i].blame)
			node[i].blame = blame;
}

static struct rail_state *make_states(const struct fleet *fleet)
{
	struct rail_state *states = calloc(fleet->n_nodes + 1, FLEET_MOST_RAILS * sizeof(*states));

	for (size_t i = 0; i < fleet->n_pairs && states; i++) {
		const struct fleet_pair *pair = &fleet->pairs[i];

		if (pair->status != FLEET_MEASURED && pair->status != FLEET_FAILED)
			continue;
		mark_measured(states, pair->from, pair->from_rail);
		mark_measured(states, pair->to, pair->to_rail);
	}
	for (size_t i = 0; i < fleet->n_blames && states; i++)
		if (!is_of_two(&fleet->blames[i]))
			mark_blame(states, &fleet->blames[i]);
	return states;
}

static void print_ending(FILE *out, const char *element, const char *message, const char *type)
{
	fprintf(out, "<%s", element);
	xml_attribute(out, "message", message);
	if (type)
		xml_attribute(out, "type", type);
	fputs("/>\n", out);
}

static void open_test(FILE *out, const char *name, const char *class)
{
	fputs("<testcase", out);
	xml_attribute(out, "name", name);
	xml_attribute(out, "classname", class);
	fputs(">\n", out);
}

/* Prints the test of a rail. rail FLEET_ALL_RAILS: of a node without rails. */
static void print_rail(FILE *out, const struct fleet *fleet, uint32_t node, uint8_t rail,
		       const struct rail_state *state, struct count *count)
{
	const struct fleet_node *owner = &fleet->nodes[node];
	char place[FLEET_PLACE];

	count->tests++;
	open_test(out, fleet_place(fleet, node, rail, place), "fleet.rail");
	if (owner->presence == FLEET_LOST || owner->error[0]) {
		count->errors++;
		print_ending(out, "error", owner->error[0] ? owner->error : "the node was lost",
			     owner->presence == FLEET_LOST ? "lost" : "node");
	} else if (state->blame) {
		count->failures++;
		print_ending(out, "failure", state->blame->reason,
			     fleet_culprit_name(state->blame->culprit));
	} else if (!state->is_measured) {
		count->skipped++;
		print_ending(out, "skipped", "not measured", NULL);
	}
	fputs("</testcase>\n", out);
}

static void print_node(FILE *out, const struct fleet *fleet, uint32_t node,
		       const struct rail_state *states, struct count *count)
{
	const struct rail_state *first = &states[node * (size_t)FLEET_MOST_RAILS];

	if (!fleet->nodes[node].n_rails)
		print_rail(out, fleet, node, FLEET_ALL_RAILS, first, count);
	for (size_t rail = 0; rail < fleet->nodes[node].n_rails; rail++)
		print_rail(out, fleet, node, (uint8_t)rail, &first[rail], count);
}

static void print_link(FILE *out, const struct fleet *fleet, const struct fleet_blame *blame,
		       struct count *count)
{
	char place[FLEET_CULPRIT];

	count->tests++;
	count->failures++;
	open_test(out, fleet_culprit_place(fleet, blame, place), "fleet.link");
	print_ending(out, "failure", blame->reason, fleet_culprit_name(blame->culprit));
	fputs("</testcase>\n", out);
}

static void print_tests(FILE *out, const struct fleet *fleet, const struct rail_state *states,
			struct count *count)
{
	for (size_t i = 0; i < fleet->n_nodes; i++)
		print_node(out, fleet, (uint32_t)i, states, count);
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (is_of_two(&fleet->blames[i]))
			print_link(out, fleet, &fleet->blames[i], count);
	if (fleet_exit_status(fleet) == 3) {
		count->tests++;
		count->errors++;
		open_test(out, "fleet", "fleet");
		print_ending(out, "error",
			     fleet->interruption[0] ? fleet->interruption
						    : "the check is incomplete",
			     "incomplete");
		fputs("</testcase>\n", out);
	}
}

static void print_document(FILE *out, const struct fleet *fleet, const char *tests,
			   const struct count *count)
{
	char counts[128];

	snprintf(counts, sizeof(counts),
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", count->tests,
		 count->failures, count->errors, count->skipped);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"verbmark\"%s>\n"
		"<testsuite name=\"fleet\"%s",
		counts, counts);
	if (fleet->started[0]) {
		char time[20];

		snprintf(time, sizeof(time), "%.19s", fleet->started);
		xml_attribute(out, "timestamp", time);
	}
	fprintf(out, ">\n%s", tests);
	if (fleet_uses_soft(fleet))
		fputs("<system-out>" BANNER_SOFT "</system-out>\n", out);
	fputs("</testsuite>\n</testsuites>\n", out);
}

/* The counts precede the tests in the document. */
int fleet_junit(FILE *out, const struct fleet *fleet)
{
	struct rail_state *states = make_states(fleet);
	struct count count = {0};
	char *tests = NULL;
	size_t length;
	FILE *memory = states ? open_memstream(&tests, &length) : NULL;
	int code = -ENOMEM;

	if (memory) {
		print_tests(memory, fleet, states, &count);
		if (!fclose(memory)) {
			print_document(out, fleet, tests, &count);
			code = 0;
		}
	}
	free(tests);
	free(states);
	return code;
}

static int write_junit(FILE *out, const void *fleet)
{
	return fleet_junit(out, fleet);
}

int fleet_junit_write(const struct fleet *fleet, const char *path, struct error *error)
{
	return save_path(path, write_junit, fleet, error);
}
