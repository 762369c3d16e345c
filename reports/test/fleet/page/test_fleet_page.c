/* SPDX-License-Identifier: MIT */
#include "core/base/compiler.h"
#include "reports/fleet/page/matrix.h"
#include "reports/fleet/page/page.h"
#include "reports/page/page.h"
#include "reports/test/lib/fleets.h"

static struct fleet fleet;
static char *text;

static const struct fleet_plan healthy = {
	.n_nodes = 8,
	.n_rails = 2,
	.slow = FLEETS_NONE,
	.dead = FLEETS_NONE,
	.link = {FLEETS_NONE, FLEETS_NONE},
	.seed = 1,
};

static int close_all(void **unused)
{
	fleet_finish(&fleet);
	free(text);
	text = NULL;
	return 0;
}

static void make(void)
{
	struct error error = {0};
	size_t length = 0;
	struct page page;
	FILE *out;

	free(text);
	out = open_memstream(&text, &length);
	assert_non_null(out);
	assert_int_equal(page_open(&page), 0);
	assert_int_equal(fleet_page(page.body, NULL, &fleet, "a<b.json", &error), 0);
	assert_int_equal(page_print(&page, out, "fleet"), 0);
	assert_int_equal(fclose(out), 0);
}

static size_t count(const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

static void test_healthy(void **unused)
{
	fleets_make(&fleet, &healthy);
	make();
	assert_contains(text, "<h2 id=\"s1\" data-verdict=\"good\">All good</h2>");
	assert_contains(
		text,
		"<p>a&lt;b.json: 8 nodes, 2 rails; 56 pairs measured; 7 rounds, 10 min 0 s</p>");
	assert_null(strstr(text, ">bad pairs<"));
	assert_null(strstr(text, "<select"));
	/* Two cases on two rails. */
	assert_int_equal(count("<div data-heatmap"), 4);
	assert_int_equal(count("<b>0 of "), 4);
	assert_contains(text, "<title>n001 to n002: ");
	/* A page may have several fleets: only the contents, which number them, may set ids. */
	assert_int_equal(count(" id="), count("<a href=\"#s"));
}

static void test_culprits(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.slow = 2;
	plan.dead = 6;
	plan.link[0] = 1;
	plan.link[1] = 4;
	plan.n_groups = 2;
	fleets_make(&fleet, &plan);
	make();
	assert_contains(
		text,
		"<h2 id=\"s1\" data-verdict=\"bad\">BAD: node n003; rail 1 (mlx5_1) of n007; link "
		"n002 to n005, rail 0</h2>");
	assert_contains(text, "<th scope=\"row\" align=\"left\">node n003</th>");
	/* The bad ones: row and column of n003, and both directions of the link. */
	assert_contains(
		text,
		"<summary>write/bw/1m/poll/bidir, rail 0: <b>16 of 56 figures bad</b>, median 9");
	/* In both orders of the map of rail 0, each with an outline for contrast. */
	assert_int_equal(count("<circle"), 2 * 4);
	/* At both axes of four maps in two orders. */
	assert_int_equal(count("paint-order=\"stroke\">n003</text>"), 2 * 4 * 2);
	/* At both axes of two maps in two orders: rail 1. */
	assert_int_equal(count("paint-order=\"stroke\">n007</text>"), 2 * 2 * 2);
	assert_contains(text, "<code>n[003,007]</code>");
	assert_contains(text, "<option value=\"group\">");
	assert_contains(text,
			"failed: no reply for 10 s: transport retry counter exceeded</title>");
	assert_contains(text, ">Failed pairs</h3>");
}

#define HOSTILE "\"Q<Q>Q&Q'\n"

static void spoil_nodes(void)
{
	for (size_t i = 0; i < fleet.n_nodes; i++) {
		struct fleet_node *node = &fleet.nodes[i];

		snprintf(node->name, FLEET_NAME, HOSTILE "%zu", i);
		snprintf(node->host, FLEET_NAME, HOSTILE "%zu", i);
		snprintf(node->group, FLEET_NAME, HOSTILE "%zu", i / 4);
		snprintf(node->error, sizeof(node->error), HOSTILE "node");
		for (size_t j = 0; j < node->n_rails; j++)
			snprintf(node->rails[j].device, FLEET_NAME, HOSTILE "device");
	}
	fleet.nodes[0].error[0] = '\0';
	fleet.nodes[5].presence = FLEET_LOST;
}

static void spoil_run(void)
{
	fleet.version = HOSTILE "version";
	snprintf(fleet.started, sizeof(fleet.started), HOSTILE "started");
	snprintf(fleet.finished, sizeof(fleet.finished), HOSTILE "finished");
	snprintf(fleet.pattern, sizeof(fleet.pattern), HOSTILE "pattern");
	snprintf(fleet.interruption, sizeof(fleet.interruption), HOSTILE "interruption");
	fleet.is_interrupted = true;
	fleet.command = json_pack("[s]", HOSTILE "command");
	fleet_warn(&fleet, HOSTILE "warning");
	for (size_t i = 0; i < fleet.n_cases; i++)
		snprintf(fleet.cases[i].id, sizeof(fleet.cases[i].id), HOSTILE "case%zu", i);
	for (size_t i = 0; i < fleet.n_blames; i++)
		snprintf(fleet.blames[i].reason, sizeof(fleet.blames[i].reason), HOSTILE "reason");
	for (size_t i = 0; i < fleet.n_pairs; i++)
		if (fleet.pairs[i].error) {
			free(fleet.pairs[i].error);
			fleet.pairs[i].error = strdup(HOSTILE "pair");
		}
}

/* All text is escaped, and a line feed separates no names in attributes. */
static void test_hostile(void **unused)
{
	static const char *const shown[] = {"node",     "device",  "version",      "started",
					    "finished", "pattern", "interruption", "command",
					    "warning",  "case1",   "reason",       "pair"};
	static const char *const raw[] = {"\"Q", "<Q", ">Q", "&Q"};
	struct fleet_plan plan = healthy;

	plan.slow = 2;
	plan.dead = 6;
	plan.link[0] = 1;
	plan.link[1] = 4;
	fleets_make(&fleet, &plan);
	spoil_nodes();
	spoil_run();
	make();
	for (size_t i = 0; i < ARRAY_LENGTH(raw); i++)
		assert_int_equal(count(raw[i]), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(shown); i++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "&quot;Q&lt;Q&gt;Q&amp;Q'\n%s", shown[i]);
		assert_contains(text, wanted);
	}
	assert_contains(text,
			"data-nodes=\"&quot;Q&lt;Q&gt;Q&amp;Q'?0\n&quot;Q&lt;Q&gt;Q&amp;Q'?1\n");
	assert_contains(text, "'?7\" data-groups=\"&quot;Q&lt;Q&gt;Q&amp;Q'?0\n");
	assert_contains(text, "data-errors=\"&quot;Q&lt;Q&gt;Q&amp;Q'?pair\"");
	assert_contains(text, "aria-label=\"&quot;Q&lt;Q&gt;Q&amp;Q'?case0, rail 0\"");
}

/* Names are cut between characters. */
static void test_long_names(void **unused)
{
	fleets_make(&fleet, &healthy);
	snprintf(fleet.nodes[0].name, FLEET_NAME, "%s",
		 "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4-15-letters-more");
	make();
	assert_contains(
		text,
		">\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4-15-letters-mor\xe2\x80\xa6</text>");
}

/* Nodes that were lost are bad, even if nothing is to blame. */
static void test_lost(void **unused)
{
	fleets_make(&fleet, &healthy);
	fleet.nodes[4].presence = FLEET_LOST;
	snprintf(fleet.nodes[4].error, sizeof(fleet.nodes[4].error), "died & gone");
	fleet_warn(&fleet, "n004 has 1 rail, others have %d", 2);
	make();
	assert_contains(text, "<h2 id=\"s1\" data-verdict=\"bad\">BAD: lost node n005</h2>");
	assert_contains(text,
			"<th scope=\"row\" align=\"left\">node n005</th><td align=\"left\">died "
			"&amp; gone</td>");
	assert_contains(text, "<li>n004 has 1 rail, others have 2</li>");
}

/* A bandwidth of zero is the worst figure, even if the median is zero too. */
static void test_zero(void **unused)
{
	const char *cell;

	fleets_make(&fleet, &healthy);
	fleet.pairs[0].figures[0] = 0;
	make();
	/* The faults "below the floor" and "outlier", and the largest figure. */
	assert_contains(text, "data-cells=\"~AABb//");
	cell = strstr(text, "<title>n001 to n002: 0 Gb/s, 0.0 % of the median, below the floor");
	assert_non_null(cell);
	assert_true(cell > strstr(text,
				  "<g fill=\"#8b0a24\"><g fill=\"light-dark(#8b0a24, #ffb4a0)\" "
				  "fill-opacity=\"1\">\n"));
	assert_contains(text,
			"<tbody align=\"right\">\n<tr><th scope=\"row\" align=\"left\">n001</th>"
			"<td align=\"left\">n002</td>");
	for (size_t i = 0; i < fleet.n_pairs; i++)
		fleet.pairs[i].figures[0] = fleet.pairs[i].figures[1] = 0;
	fleet.spreads[0].median = fleet.spreads[0].mad = 0;
	make();
	assert_contains(text, "<title>n003 to n002: 0 Gb/s, 0.0 % of the median");
	assert_contains(text, "<td>0 Gb/s</td><td>-</td>");
}

/* All combinations of eight rails and two cases; the last of them is bad. */
static void test_many_views(void **unused)
{
	struct fleet_plan plan = healthy;
	size_t n;

	plan.n_rails = 8;
	fleets_make(&fleet, &plan);
	n = fleet.n_pairs;
	for (size_t i = 0; i < 8 * n; i++) {
		const struct fleet_pair *same = &fleet.pairs[i / 8];
		struct fleet_pair pair = *same;

		pair.to_rail = i % 8;
		if (pair.to_rail == pair.from_rail)
			continue;
		pair.figures = NULL;
		assert_int_equal(fleet_add_figures(&fleet, &pair), 0);
		memcpy(pair.figures, same->figures, 4 * sizeof(double));
		if (pair.from_rail == 7 && pair.to_rail == 6)
			pair.figures[2] *= 2;
		*fleet_add_pair(&fleet) = pair;
	}
	make();
	assert_int_equal(count("<div data-heatmap"), 64);
	assert_contains(text, "<details open>\n<summary>send/lat/8/poll, rail 7 to rail 6: <b>28 "
			      "of 28 figures bad");
	assert_null(strstr(text, "<summary>send/lat/8/poll, rail 7 to rail 5"));
	assert_contains(text, "64 of 128 heat maps are drawn");
	assert_contains(text, "<ul>\n<li>write/bw/1m/poll/bidir: rail 7</li>\n<li>send/lat/8/poll: "
			      "rail 0, rail 0 to 1, ");
	assert_contains(text, "rail 7 to 5, rail 7</li>\n</ul>");
}

static void test_large(void **unused)
{
	struct fleet_plan plan = healthy;

	plan.n_nodes = 300;
	plan.n_rails = 1;
	plan.slow = 100;
	fleets_make(&fleet, &plan);
	make();
	assert_null(strstr(text, "<title>n001 to"));
	assert_in_range(strlen(text), 300 * 300 * 3, 1000000);
	assert_contains(text, "paint-order=\"stroke\">n101</text>");
}

static void test_nothing_measured(void **unused)
{
	fleets_make(&fleet, &healthy);
	for (size_t i = 0; i < fleet.n_pairs; i++)
		fleet.pairs[i].status = FLEET_NOT_RUN;
	fleet.n_spreads = 0;
	make();
	assert_contains(text, ">NOT JUDGED: too few figures");
	assert_null(strstr(text, ">Heat maps</h3>"));
	fleet_finish(&fleet);
	make();
	assert_contains(text, ">NOT JUDGED: too few figures");
}

/* Retests change no cell. */
static void test_matrix(void **unused)
{
	const struct fleet_view view = {.number = 0, .from_rail = 1, .to_rail = 1};
	struct yardsticks yardsticks;
	struct fleet_matrix matrix;
	struct error error = {0};
	double first;

	fleets_make(&fleet, &healthy);
	assert_int_equal(yardsticks_open(&yardsticks, &fleet, &error), 0);
	first = fleet.pairs[1].figures[1];
	fleet_add_pair(&fleet);
	fleet.pairs[fleet.n_pairs - 1] = (struct fleet_pair){
		.to = 1, .from_rail = 1, .to_rail = 1, .retest = 1, .status = FLEET_FAILED};
	assert_int_equal(fleet_matrix_init(&matrix, &yardsticks, &view, &error), 0);
	assert_int_equal(matrix.n_set, 8 * 7);
	assert_false(fleet_matrix_cell(&matrix, 3, 3)->is_set);
	assert_true(fabs((double)fleet_matrix_cell(&matrix, 1, 0)->value / first - 1) < 1e-6);
	assert_true(fabs((double)fleet_matrix_cell(&matrix, 1, 0)->share * fleet.spreads[2].median /
				 first -
			 1) < 0.05);
	fleet_matrix_finish(&matrix);
	yardsticks_close(&yardsticks);
}

#define TEST(name) cmocka_unit_test_teardown(name, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_healthy),          TEST(test_culprits), TEST(test_hostile),
		TEST(test_long_names),       TEST(test_lost),     TEST(test_large),
		TEST(test_nothing_measured), TEST(test_matrix),   TEST(test_zero),
		TEST(test_many_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
