/* SPDX-License-Identifier: MIT */
#include "reports/fleet/junit.h"

#include <errno.h>
#include <stdlib.h>

#include "reports/export/junit_suite.h"
#include "reports/fleet/place.h"
#include "reports/io/save.h"
#include "reports/result/banner.h"

/* The findings on a rail. */
struct rail_state {
	const struct fleet_blame *blame; /* of the rail or its node; NULL: none */
	bool is_measured;
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

/* Prints the test of a rail. rail FLEET_ALL_RAILS: of a node without rails. */
static void print_rail(FILE *out, const struct fleet *fleet, uint32_t node, uint8_t rail,
		       const struct rail_state *state, struct junit_suite *suite)
{
	const struct fleet_node *owner = &fleet->nodes[node];
	char place[FLEET_PLACE];

	suite->tests++;
	junit_open_test(out, fleet_place(fleet, node, rail, place), "fleet.rail", 0);
	if (owner->presence == FLEET_LOST || owner->error[0]) {
		suite->errors++;
		junit_ending(out, "error", owner->error[0] ? owner->error : "the node was lost",
			     owner->presence == FLEET_LOST ? "lost" : "node");
	} else if (state->blame) {
		suite->failures++;
		junit_ending(out, "failure", state->blame->reason,
			     fleet_culprit_name(state->blame->culprit));
	} else if (!state->is_measured) {
		suite->skipped++;
		junit_ending(out, "skipped", "not measured", NULL);
	}
	junit_close_test(out);
}

static void print_node(FILE *out, const struct fleet *fleet, uint32_t node,
		       const struct rail_state *states, struct junit_suite *suite)
{
	const struct rail_state *first = &states[node * (size_t)FLEET_MOST_RAILS];

	if (!fleet->nodes[node].n_rails)
		print_rail(out, fleet, node, FLEET_ALL_RAILS, first, suite);
	for (size_t rail = 0; rail < fleet->nodes[node].n_rails; rail++)
		print_rail(out, fleet, node, (uint8_t)rail, &first[rail], suite);
}

static void print_link(FILE *out, const struct fleet *fleet, const struct fleet_blame *blame,
		       struct junit_suite *suite)
{
	char place[FLEET_CULPRIT];

	suite->tests++;
	suite->failures++;
	junit_open_test(out, fleet_culprit_place(fleet, blame, place), "fleet.link", 0);
	junit_ending(out, "failure", blame->reason, fleet_culprit_name(blame->culprit));
	junit_close_test(out);
}

static void print_tests(FILE *out, const struct fleet *fleet, const struct rail_state *states,
			struct junit_suite *suite)
{
	for (size_t i = 0; i < fleet->n_nodes; i++)
		print_node(out, fleet, (uint32_t)i, states, suite);
	for (size_t i = 0; i < fleet->n_blames; i++)
		if (is_of_two(&fleet->blames[i]))
			print_link(out, fleet, &fleet->blames[i], suite);
	if (fleet_exit_status(fleet) == 3) {
		suite->tests++;
		suite->errors++;
		junit_open_test(out, "fleet", "fleet", 0);
		junit_ending(out, "error",
			     fleet->interruption[0] ? fleet->interruption
						    : "the check is incomplete",
			     "incomplete");
		junit_close_test(out);
	}
}

static void print_document(FILE *out, const struct fleet *fleet, const char *tests,
			   const struct junit_suite *suite)
{
	junit_begin(out);
	junit_open_suite(out, suite);
	if (fleet->version)
		junit_property(out, "verbmark", fleet->version);
	junit_open_tests(out);
	fputs(tests, out);
	junit_open_output(out);
	if (fleet_uses_soft(fleet))
		fputs(BANNER_SOFT, out);
	junit_close_suite(out);
	junit_end(out);
}

/* The counts precede the tests in the document. */
int fleet_junit(FILE *out, const struct fleet *fleet)
{
	struct rail_state *states = make_states(fleet);
	struct junit_suite suite = {
		.name = "fleet",
		.started = fleet->started,
		.finished = fleet->finished,
		.host = fleet->n_nodes ? fleet->nodes[0].host : "",
	};
	char *tests = NULL;
	size_t length;
	FILE *memory = states ? open_memstream(&tests, &length) : NULL;
	int code = -ENOMEM;

	if (memory) {
		print_tests(memory, fleet, states, &suite);
		if (!fclose(memory)) {
			print_document(out, fleet, tests, &suite);
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
