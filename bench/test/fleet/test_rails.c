/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "bench/fleet/rails.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define NODES 64
#define RAILS 8

/* Builds a node from words such as "mlx5_0/1@17 mlx5_1/2 soft0/1", with PCI buses after '@'. */
static struct fleet_node make_node(const char *words)
{
	struct fleet_node node = {.presence = FLEET_PRESENT};

	while (*words) {
		struct fleet_rail *rail = &node.rails[node.n_rails++];
		size_t length = strcspn(words, " ");
		char pci[8] = "";

		assert_true(sscanf(words, "%63[^/]/%u@%7[^ ]", rail->device, &rail->port, pci) >=
			    2);
		if (pci[0])
			snprintf(rail->pci, sizeof(rail->pci), "0000:%.4s:00.0", pci);
		rail->is_soft = !strncmp(rail->device, "soft", 4);
		words += length + (words[length] == ' ');
	}
	return node;
}

/* Writes the names of the rails, separated by spaces. */
static const char *write_names(const struct fleet_node *node)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < node->n_rails; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s/%u", i ? " " : "",
					 node->rails[i].device, node->rails[i].port);
	return text;
}

static void test_choose(void **unused)
{
	static const struct {
		const char *devices, *exclude, *found, *chosen;
	} rows[] = {
  /* Sorted by PCI address, name and port; software devices last. */
		{NULL,     NULL,     "soft0/1 b/1@17 a/2@98 a/1@98 c/1@05", "c/1 b/1 a/1 a/2 soft0/1"},
		{NULL,     NULL,     "b/1@17 a/1@17",                       "a/1 b/1"                },
		{"a",      NULL,     "b/1@17 a/2@98 a/1@98",                "a/1 a/2"                },
		{"a/2",    NULL,     "b/1@17 a/2@98 a/1@98",                "a/2"                    },
		{"a/2,b",  NULL,     "b/1@17 a/2@98 a/1@98",                "b/1 a/2"                },
		{"b,b/1",  NULL,     "b/1@17 a/1@98",                       "b/1"                    },
		{NULL,     "a",      "b/1@17 a/2@98 a/1@98",                "b/1"                    },
		{NULL,     "a/1",    "b/1@17 a/2@98 a/1@98",                "b/1 a/2"                },
		{"a",      "a/1",    "b/1@17 a/2@98 a/1@98",                "a/2"                    },
		{NULL,     "z",      "b/1@17",                              "b/1"                    },
 /* A name that begins like another. */
		{"mlx5_1", NULL,     "mlx5_1/1@17 mlx5_10/1@98",            "mlx5_1/1"               },
		{NULL,     "mlx5_1", "mlx5_1/1@17 mlx5_10/1@98",            "mlx5_10/1"              },
		{"a/1",    NULL,     "a/1@17 a/10@17",                      "a/1"                    },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct rails_choice choice = {rows[i].devices, rows[i].exclude};
		struct fleet_node node = make_node(rows[i].found);
		struct error error = {0};

		assert_int_equal(rails_choose(&node, &choice, &error), 0);
		assert_string_equal(write_names(&node), rows[i].chosen);
	}
}

static void test_choose_errors(void **unused)
{
	static const struct {
		const char *devices, *exclude, *text;
	} rows[] = {
		{"c",     NULL,  "--devices: no active port of 'c'; available: a/1, b/1, b/2"  },
		{"a,c/1", NULL,  "--devices: no active port of 'c/1'; available: a/1, b/1, b/2"},
		{"a/2",   NULL,  "--devices: no active port of 'a/2'; available: a/1, b/1, b/2"},
		{"a,,b",  NULL,  "--devices: no active port of ''; available: a/1, b/1, b/2"   },
		{"",      NULL,  "no device to measure; use --devices LIST"                    },
		{NULL,    "a,b", "--exclude leaves no device to measure"                       },
		{"b/2",   "b",   "--exclude leaves no device to measure"                       },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct rails_choice choice = {rows[i].devices, rows[i].exclude};
		struct fleet_node node = make_node("a/1 b/1 b/2");
		struct error error = {0};

		assert_int_equal(rails_choose(&node, &choice, &error), -ENODEV);
		assert_string_equal(error.text, rows[i].text);
	}
}

/* The error fits, however many devices there are and whatever the name. */
static void test_long_error(void **unused)
{
	char name[400];
	const struct rails_choice choice = {.devices = name};
	struct fleet_node node = {.n_rails = FLEET_MOST_RAILS};
	struct error error = {0};

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned int i = 0; i < FLEET_MOST_RAILS; i++)
		node.rails[i] = (struct fleet_rail){.device = "mlx5_bond_0", .port = i + 1};
	assert_int_equal(rails_choose(&node, &choice, &error), -ENODEV);
	assert_contains(error.text, "available: mlx5_bond_0/1, mlx5_bond_0/2, ");
	assert_string_equal(error.text + strlen(error.text) - strlen(" and more"), " and more");
}

static void test_share(void **unused)
{
	static const struct {
		uint32_t rank, size;
		const char *found, *kept;
	} rows[] = {
		{0, 1, "a/1 b/1 c/1", "a/1 b/1 c/1"},
		{0, 0, "a/1 b/1 c/1", "a/1 b/1 c/1"},
		{0, 2, "a/1 b/1 c/1", "a/1 c/1"    },
		{1, 2, "a/1 b/1 c/1", "b/1"        },
		{2, 3, "a/1 b/1 c/1", "c/1"        },
		{0, 5, "a/1 b/1",     "a/1"        },
		{1, 5, "a/1 b/1",     "b/1"        },
		{2, 5, "a/1 b/1",     "a/1"        },
		{3, 5, "a/1 b/1",     "b/1"        },
		{4, 5, "a/1 b/1",     "a/1"        },
		{1, 2, "",            ""           },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct fleet_node node = make_node(rows[i].found);

		rails_share(&node, rows[i].rank, rows[i].size);
		assert_string_equal(write_names(&node), rows[i].kept);
	}
}

/* Builds equal nodes n000, n001, ... with eight rails of 400 Gb/s each. */
static void make_fleet(struct fleet *fleet, size_t n_nodes)
{
	*fleet =
		(struct fleet){.nodes = calloc(n_nodes, sizeof(*fleet->nodes)), .n_nodes = n_nodes};
	assert_non_null(fleet->nodes);
	for (size_t i = 0; i < n_nodes; i++) {
		struct fleet_node *node = &fleet->nodes[i];

		node->n_rails = RAILS;
		snprintf(node->host, sizeof(node->host), "n%03zu", i);
		snprintf(node->name, sizeof(node->name), "n%03zu", i);
		for (unsigned int j = 0; j < RAILS; j++) {
			struct fleet_rail *rail = &node->rails[j];

			snprintf(rail->device, sizeof(rail->device), "mlx5_%u", j);
			snprintf(rail->link_layer, sizeof(rail->link_layer), "InfiniBand");
			rail->port = 1;
			rail->rate_mbps = 400000;
		}
	}
}

static void remove_rail(struct fleet_node *node, size_t number)
{
	node->n_rails--;
	memmove(&node->rails[number], &node->rails[number + 1],
		(node->n_rails - number) * sizeof(node->rails[0]));
}

/* Compares the nodes, expects the warnings, one per line, and frees the fleet. */
static void expect_warnings(struct fleet *fleet, const char *expected)
{
	char text[4096] = "";
	size_t used = 0;
	json_t *one;
	size_t i;

	rails_compare(fleet);
	json_array_foreach(fleet->warnings, i, one) used +=
		(size_t)snprintf(text + used, sizeof(text) - used, "%s\n", json_string_value(one));
	assert_string_equal(text, expected);
	fleet_finish(fleet);
}

static void test_alike(void **unused)
{
	struct fleet fleet = {0};

	expect_warnings(&fleet, "");
	make_fleet(&fleet, 1);
	expect_warnings(&fleet, "");
	make_fleet(&fleet, NODES);
	/* PCI and IP addresses may differ. */
	snprintf(fleet.nodes[3].rails[0].pci, sizeof(fleet.nodes[3].rails[0].pci), "0000:17:00.0");
	snprintf(fleet.nodes[3].rails[0].address, FLEET_NAME, "192.0.2.3");
	expect_warnings(&fleet, "");
}

static void test_missing_rail(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[17], 3);
	expect_warnings(&fleet, "n017: 7 rails, the other 63 nodes have 8 (no mlx5_3/1)\n");
	/* The first node may differ too. */
	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[0], 7);
	remove_rail(&fleet.nodes[0], 0);
	expect_warnings(&fleet,
			"n000: 6 rails, the other 63 nodes have 8 (no mlx5_0/1, mlx5_7/1)\n");
	/* One warning for nodes that differ in the same way. */
	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[17], 3);
	remove_rail(&fleet.nodes[18], 3);
	remove_rail(&fleet.nodes[40], 3);
	expect_warnings(&fleet,
			"n[017-018,040]: 7 rails, the other 61 nodes have 8 (no mlx5_3/1)\n");
}

static void test_other_rails(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, NODES);
	fleet.nodes[5].rails[RAILS] = fleet.nodes[5].rails[0];
	fleet.nodes[5].rails[RAILS].port = 2;
	fleet.nodes[5].n_rails++;
	expect_warnings(&fleet, "n005: 9 rails, the other 63 nodes have 8 (also mlx5_0/2)\n");
	make_fleet(&fleet, NODES);
	snprintf(fleet.nodes[5].rails[2].device, FLEET_NAME, "mlx5_9");
	expect_warnings(&fleet, "n005: mlx5_9/1, the other 63 nodes have mlx5_2/1\n");
	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[5], 0);
	snprintf(fleet.nodes[5].rails[1].device, FLEET_NAME, "mlx5_9");
	expect_warnings(&fleet, "n005: 7 rails, the other 63 nodes have 8 "
				"(no mlx5_0/1, mlx5_2/1; also mlx5_9/1)\n");
	/* The same rails with other numbers. */
	make_fleet(&fleet, NODES);
	snprintf(fleet.nodes[5].rails[2].device, FLEET_NAME, "mlx5_3");
	snprintf(fleet.nodes[5].rails[3].device, FLEET_NAME, "mlx5_2");
	expect_warnings(&fleet, "n005: rail 2 is mlx5_3/1, the other 63 nodes have mlx5_2/1\n");
}

static void test_other_rate(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, NODES);
	fleet.nodes[3].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n003 mlx5_1/1: 100 Gb/s, the other 63 nodes have 400 Gb/s\n");
	make_fleet(&fleet, NODES);
	fleet.nodes[3].rails[1].rate_mbps = 0;
	snprintf(fleet.nodes[3].rails[2].link_layer, 16, "Ethernet");
	expect_warnings(&fleet, "n003 mlx5_1/1: an unknown rate, the other 63 nodes have 400 Gb/s\n"
				"n003 mlx5_2/1: Ethernet, the other 63 nodes have InfiniBand\n");
	/* A missing rail does not hide a slow one. */
	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[3], 0);
	fleet.nodes[3].rails[6].rate_mbps = 100000;
	expect_warnings(&fleet, "n003: 7 rails, the other 63 nodes have 8 (no mlx5_0/1)\n"
				"n003 mlx5_7/1: 100 Gb/s, the other 63 nodes have 400 Gb/s\n");
}

static void test_several_groups(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, NODES);
	remove_rail(&fleet.nodes[17], 3);
	fleet.nodes[3].rails[1].rate_mbps = 100000;
	fleet.nodes[4].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n017: 7 rails, 61 nodes have 8 (no mlx5_3/1)\n"
				"n[003-004] mlx5_1/1: 100 Gb/s, 61 nodes have 400 Gb/s\n");
	/* If there are only two nodes, the first one counts as usual. */
	make_fleet(&fleet, 2);
	fleet.nodes[1].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n001 mlx5_1/1: 100 Gb/s, the other node has 400 Gb/s\n");
	make_fleet(&fleet, 2);
	fleet.nodes[0].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n001 mlx5_1/1: 400 Gb/s, the other node has 100 Gb/s\n");
	make_fleet(&fleet, 3);
	fleet.nodes[0].rails[1].rate_mbps = 100000;
	fleet.nodes[2].n_rails = 1;
	expect_warnings(&fleet, "n002: 1 rail, 1 node has 8 (no mlx5_1/1, mlx5_2/1, mlx5_3/1, "
				"mlx5_4/1, mlx5_5/1, mlx5_6/1, mlx5_7/1)\n"
				"n001 mlx5_1/1: 400 Gb/s, 1 node has 100 Gb/s\n");
}

/* Nodes that are absent or cannot measure have errors of their own. */
static void test_without_rails(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, NODES);
	for (size_t i = 0; i < NODES - 2; i++)
		fleet.nodes[i] = (struct fleet_node){0};
	fleet.nodes[NODES - 1].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n063 mlx5_1/1: 100 Gb/s, the other node has 400 Gb/s\n");
	make_fleet(&fleet, NODES);
	for (size_t i = 0; i < NODES; i++)
		fleet.nodes[i].n_rails = 0;
	expect_warnings(&fleet, "");
}

/* Ranks of one host have different rails. */
static void make_shared(struct fleet *fleet, size_t n_hosts)
{
	make_fleet(fleet, 2 * n_hosts);
	for (size_t i = 0; i < 2 * n_hosts; i++) {
		struct fleet_node *node = &fleet->nodes[i];

		snprintf(node->host, sizeof(node->host), "n%zu", i % n_hosts);
		snprintf(node->name, sizeof(node->name), "n%zu.%zu", i % n_hosts, i / n_hosts);
		rails_share(node, (uint32_t)(i / n_hosts), 2);
	}
}

static void test_shared_hosts(void **unused)
{
	struct fleet fleet;

	make_shared(&fleet, 4);
	expect_warnings(&fleet, "");
	make_shared(&fleet, 4);
	fleet.nodes[6].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n2.1 mlx5_3/1: 100 Gb/s, the other 3 nodes have 400 Gb/s\n");
	/* A full host name contains dots too. */
	make_fleet(&fleet, 3);
	for (size_t i = 0; i < 3; i++) {
		snprintf(fleet.nodes[i].host, FLEET_NAME, "n%zu.example.%zu", i, i);
		snprintf(fleet.nodes[i].name, FLEET_NAME, "%s", fleet.nodes[i].host);
	}
	fleet.nodes[2].rails[0].rate_mbps = 100000;
	expect_warnings(&fleet,
			"n2.example.2 mlx5_0/1: 100 Gb/s, the other 2 nodes have 400 Gb/s\n");
}

/* Names that are too many to list are counted. */
static void test_many_names(void **unused)
{
	struct fleet fleet;

	make_fleet(&fleet, 200);
	for (size_t i = 0; i < 200; i += 3)
		fleet.nodes[i].rails[1].rate_mbps = 100000;
	expect_warnings(&fleet, "n000 and 66 more mlx5_1/1: 100 Gb/s, "
				"the other 133 nodes have 400 Gb/s\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),         cmocka_unit_test(test_choose_errors),
		cmocka_unit_test(test_long_error),     cmocka_unit_test(test_share),
		cmocka_unit_test(test_alike),          cmocka_unit_test(test_missing_rail),
		cmocka_unit_test(test_other_rails),    cmocka_unit_test(test_other_rate),
		cmocka_unit_test(test_several_groups), cmocka_unit_test(test_without_rails),
		cmocka_unit_test(test_shared_hosts),   cmocka_unit_test(test_many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
