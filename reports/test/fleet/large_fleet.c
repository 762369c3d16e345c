/* SPDX-License-Identifier: MIT */
/*
 * The document of a large fleet: 1,000 nodes with 8 rails, of which 500 pairs are measured in each
 * of 100 rounds. It must stay below 50 MB. Prints time and memory of writing and parsing.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/test/lib/check.h"
#include "reports/document/parse.h"
#include "reports/fleet/document.h"
#include "reports/fleet/text.h"

#define NODES      1000
#define RAILS      8
#define ROUNDS     100
#define BYTES_MOST 50000000

static struct fleet fleet;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The most memory that was used so far, in MiB. */
static long peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void add_node(unsigned int number)
{
	struct fleet_node *node = &fleet.nodes[number];

	snprintf(node->name, sizeof(node->name), "n%04u", number);
	snprintf(node->host, sizeof(node->host), "n%04u", number);
	snprintf(node->group, sizeof(node->group), "leaf%u", number / 20);
	snprintf(node->fingerprint, sizeof(node->fingerprint), "%016x", number % 3);
	node->presence = FLEET_PRESENT;
	node->n_rails = RAILS;
	for (unsigned int i = 0; i < RAILS; i++) {
		struct fleet_rail *rail = &node->rails[i];

		snprintf(rail->device, sizeof(rail->device), "mlx5_%u", i);
		snprintf(rail->address, sizeof(rail->address), "10.%u.%u.%u", i, number / 250,
			 number % 250);
		snprintf(rail->link_layer, sizeof(rail->link_layer), "InfiniBand");
		rail->port = 1;
		rail->rate_mbps = 400000;
	}
}

static double noise(void)
{
	return 0.95 + 0.05 * (double)rand() / RAND_MAX;
}

static void add_pair(uint32_t round, uint32_t number, uint8_t rail)
{
	struct fleet_pair *pair = fleet_add_pair(&fleet);

	assert_non_null(pair);
	pair->round = round;
	pair->from = number;
	pair->to = NODES / 2 + (number + round) % (NODES / 2);
	pair->from_rail = pair->to_rail = rail;
	pair->status = FLEET_MEASURED;
	assert_int_equal(fleet_add_figures(&fleet, pair), 0);
	for (size_t i = 0; i < 2 * fleet.n_cases; i++)
		pair->figures[i] = (i < 2 ? 49e9 : 2100) * noise();
}

static void make(void)
{
	fleet = (struct fleet){.version = "1.2.3", .n_rounds = ROUNDS, .n_nodes = NODES};
	fleet.nodes = calloc(NODES, sizeof(*fleet.nodes));
	fleet.n_cases = 2;
	fleet.cases = calloc(fleet.n_cases, sizeof(*fleet.cases));
	assert_non_null(fleet.nodes);
	assert_non_null(fleet.cases);
	for (unsigned int i = 0; i < NODES; i++)
		add_node(i);
	for (size_t i = 0; i < fleet.n_cases; i++) {
		snprintf(fleet.cases[i].id, sizeof(fleet.cases[i].id), "case%zu", i);
		fleet.cases[i].is_both_ways = true;
	}
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < NODES / 2; i++)
			for (uint8_t rail = 0; rail < RAILS; rail++)
				add_pair(round, i, rail);
}

static void parse(const char *path)
{
	struct error error = {0};
	struct fleet_text parts;
	struct fleet parsed;
	json_t *document;
	char *text;
	size_t length;

	assert_int_equal(parse_read(path, &text, &length, &error), 0);
	assert_int_equal(fleet_text_open(&parts, text, length, &error), 0);
	assert_int_equal(parse_json(parts.head, parts.length, "a fleet", &document, &error), 0);
	if (fleet_document_parse(&parsed, document, &error) ||
	    fleet_text_add_pairs(&parsed, &parts, &error))
		fail_msg("%s", error.text);
	json_decref(document);
	fleet_text_close(&parts);
	free(text);
	assert_int_equal(parsed.n_pairs, fleet.n_pairs);
	assert_near(parsed.pairs[7].figures[3], fleet.pairs[7].figures[3], 0.005);
	fleet_finish(&parsed);
}

static void test_size(void **unused)
{
	char path[] = "/tmp/fleet.XXXXXX";
	int fd = mkstemp(path);
	struct stat file;
	double start;
	long before;

	assert_true(fd >= 0);
	close(fd);
	make();
	before = peak_mib();
	start = now();
	assert_int_equal(fleet_document_write(&fleet, path, NULL), 0);
	assert_int_equal(stat(path, &file), 0);
	print_message(
		"# %zu pairs: %.1f MB, written in %.2f s with %ld MiB more than the fleet's %ld\n",
		fleet.n_pairs, (double)file.st_size / 1e6, now() - start, peak_mib() - before,
		before);
	assert_true(file.st_size < BYTES_MOST);
	before = peak_mib();
	start = now();
	parse(path);
	print_message("# parsed in %.2f s with %ld MiB more\n", now() - start, peak_mib() - before);
	unlink(path);
	fleet_finish(&fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_size)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
