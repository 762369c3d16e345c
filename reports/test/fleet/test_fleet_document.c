/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "reports/document/parse.h"
#include "reports/fleet/document.h"
#include "reports/fleet/text.h"
#include "reports/io/read_file.h"
#include "reports/test/lib/checked_fleet.h"

/* The document, read and made again, is the same. */
static void test_round_trip(void **unused)
{
	json_t *document = checked_document(&fleet);
	struct error error = {0};
	struct fleet again;
	json_t *made;

	if (fleet_document_parse(&again, document, &error))
		fail_msg("%s", error.text);
	made = checked_document(&again);
	assert_true(json_equal(made, document));
	json_decref(made);
	json_decref(document);
	assert_string_equal(again.version, "1.2.3");
	assert_string_equal(again.nodes[N017].rails[1].address, "10.0.1.4");
	assert_int_equal(again.nodes[N004].presence, FLEET_LOST);
	assert_string_equal(again.pairs[1].error, "cannot connect: timed out, no reply");
	assert_near(again.pairs[2].figures[0], CHECKED_GBPS(41.5), 0);
	assert_true(isnan(again.pairs[2].figures[3]));
	assert_true(isnan(again.cases[1].floor));
	assert_int_equal(again.blames[0].rail, FLEET_ALL_RAILS);
	fleet_finish(&again);
}

static void test_rounds_and_shares(void **unused)
{
	json_t *document = checked_document(&fleet);
	json_t *spread = json_array_get(json_object_get(document, "spreads"), 0);

	/* 97.1234567 Gb/s are 12140432087.5 bytes per second. */
	assert_near(json_real_value(json_object_get(spread, "median")), 12140400000, 0);
	assert_int_equal(json_array_size(json_object_get(document, "layouts")), 1);
	assert_int_equal(json_array_size(json_object_get(document, "fingerprints")), 1);
	assert_string_equal(json_string_value(json_object_get(document, "bad_nodes")),
			    "n[003-004,017]");
	assert_null(json_object_get(document, "banner"));
	json_decref(document);
}

static void test_unknown_is_omitted(void **unused)
{
	json_t *document;

	fleet.spreads[0].mad = (double)INFINITY;
	fleet.spreads[0].median = (double)NAN;
	fleet.nodes[0].rails[0].is_soft = true;
	document = checked_document(&fleet);
	assert_null(
		json_object_get(json_array_get(json_object_get(document, "spreads"), 0), "mad"));
	assert_non_null(json_object_get(document, "banner"));
	json_decref(document);
}

static void test_pair_text(void **unused)
{
	static const char *const wanted[] = {
		"[0,0,1,0,0,0,1,0,[1.21875e10,1.21562e10,1810.0,null]]",
		"[0,0,1,1,1,0,2,1,\"cannot connect: timed out, no reply\"]",
		"[0,2,3,0,0,0,1,6,[5.1875e9,1.2125e10,1900.0,null]]",
		("[0,0,3,0,0,0,1,10,[5.15625e9,1.20625e10,1850.0,null],"
		 "{\"to\":{\"symbol_error\":7}}]"),
		"[1,2,1,0,0,0,3,0,\"n004 was lost\"]",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		json_t *json = fleet_pair_encode(&fleet, &fleet.pairs[i]);
		char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));

		assert_string_equal(text, wanted[i]);
		free(text);
		json_decref(json);
	}
}

/* Histograms follow the counters, even without counters. */
static void test_histograms(void **unused)
{
	struct error error = {0};
	struct fleet_pair read;
	json_t *json;
	char *text;

	fleet.pairs[0].histograms = json_pack("[n, n, s, n]", "HISTFAAA");
	json = fleet_pair_encode(&fleet, &fleet.pairs[0]);
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
	assert_contains(text, ",1810.0,null],null,[null,null,\"HISTFAAA\",null]]");
	free(text);
	assert_int_equal(fleet_pair_parse(&fleet, &read, json, &error), 0);
	assert_true(json_equal(read.histograms, fleet.pairs[0].histograms));
	fleet_clear_pair(&read);
	json_array_append_new(json, json_null());
	assert_int_equal(fleet_pair_parse(&fleet, &read, json, &error), -EINVAL);
	assert_contains(error.text, "not an array of 9 to 11 values");
	json_decref(json);
}

static void test_node_exchange(void **unused)
{
	json_t *json = fleet_node_encode(&fleet.nodes[N004]);
	struct fleet_node node;
	struct error error = {0};

	if (fleet_node_parse(&node, json, &error))
		fail_msg("%s", error.text);
	assert_memory_equal(&node, &fleet.nodes[N004], sizeof(node));
	json_object_set_new(json, "host", json_string("n004;reboot"));
	assert_int_equal(fleet_node_parse(&node, json, &error), -EINVAL);
	assert_contains(error.text, "\"host\" is not a name");
	assert_int_equal(node.n_rails, 0);
	json_decref(json);
}

/* Changes to the document, each of which makes it invalid: a place, and its new value. */
static const struct defect {
	const char *path; /* names and numbers, separated by '/' */
	const char *value;
	const char *error;
} defects[] = {
	{"schema",		    "\"verbmark.fleet/2\"", "schema"             },
	{"tool",		      "7",                    "\"tool\""           },
	{"run/rounds",                "-1",                   "rounds"             },
	{"run/command",               "[1]",                  "command"            },
	{"run/interrupted",           "0",                    "interrupted"        },
	{"warnings/0",                "\"\\u001b[2J\"",       "printable"          },
	{"warnings",                  "{}",                   "warnings"           },
	{"nodes/1/name",              "\"n001\"",             "two nodes"          },
	{"nodes/1/name",              "\"\"",                 "name"               },
	{"nodes/1/name",              "\"=n1\"",              "name"               },
	{"nodes/1/host",              "\"$(id)\"",            "host"               },
	{"nodes/1/layout",            "1",                    "layout"             },
	{"nodes/1/layout",            "-1",                   "layout"             },
	{"nodes/1/fingerprint",       "1",                    "fingerprint"        },
	{"nodes/1/presence",          "\"here\"",             "presence"           },
	{"nodes/1/addresses",         "[\"10.0.0.1\"]",       "addresses"          },
	{"nodes/1/addresses/0",       "\"a;b\"",              "address"            },
	{"nodes/1/group",             "\"@x\"",               "group"              },
	{"nodes/1/error",             "\"\\n\"",              "error"              },
	{"fingerprints/0",            "\"0123456789ABCDEF\"", "hexadecimal"        },
	{"layouts/0",                 "{}",                   "rails"              },
	{"layouts/0/0/device",        "\"mlx5 0\"",           "device"             },
	{"layouts/0/0/port",          "256",                  "port"               },
	{"layouts/0/0/pkey",          "65536",                "pkey"               },
	{"layouts/0/0/numa_node",     "-2",                   "numa_node"          },
	{"cases/0/id",                "\"\"",                 "id"                 },
	{"cases/0/metric",            "\"rate\"",             "metric"             },
	{"cases/0/floor",             "-1",                   "floor"              },
	{"pairs",		     "0",                    "pairs"              },
	{"pairs/0",                   "{}",                   "pair 0"             },
	{"pairs/0",                   "[0,0,1,0,0,0,1,0]",    "array"              },
	{"pairs/0/0",                 "1e3",                  "round"              },
	{"pairs/0/1",                 "4",                    "from"               },
	{"pairs/0/2",                 "4294967296",           "to"                 },
	{"pairs/0/3",                 "2",                    "a rail was measured"},
	{"pairs/0/4",                 "32",                   "to_rail"            },
	{"pairs/0/5",                 "3",                    "retest"             },
	{"pairs/0/6",                 "4",                    "status"             },
	{"pairs/0/7",                 "16",                   "faults"             },
	{"pairs/0/8",                 "[1,2,3]",              "figures"            },
	{"pairs/0/8",                 "[1,2,3,4,5]",          "figures"            },
	{"pairs/0/8/0",               "-1",                   "figure 0"           },
	{"pairs/0/8/1",               "1e300",                "figure 1"           },
	{"pairs/0/8/2",               "\"1\"",                "figure 2"           },
	{"pairs/1/8",                 "7",                    "error"              },
	{"pairs/1/8",                 "\"\\u0007\"",          "printable"          },
	{"pairs/3/9",                 "[]",                   "counters"           },
	{"pairs/3/9/to",              "7",                    "counters"           },
	{"pairs/3/9/at",              "{}",                   "neither end"        },
	{"pairs/3/9/to/a b",          "1",                    "counter"            },
	{"pairs/3/9/to/symbol_error", "-1",                   "symbol_error"       },
	{"spreads/0/case",            "2",                    "spread 0"           },
	{"spreads/0/rail",            "32",                   "rail"               },
	{"spreads/0/median",          "null",                 "median"             },
	{"blames/0/culprit",          "\"switch\"",           "culprit"            },
	{"blames/0/node",             "4",                    "node"               },
	{"blames/1/rail",             "32",                   "rail"               },
	{"blames/1/culprit",          "\"link\"",             "peer"               },
	{"blames/0/faults",           "[\"bad\"]",            "fault"              },
	{"blames/0/reason",           "7",                    "reason"             },
};

static void replace(json_t *json, const char *path, json_t *value)
{
	const char *end = strchrnul(path, '/');
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)(end - path), path);
	if (!*end && json_is_array(json))
		json_array_set_new(json, strtoul(name, NULL, 10), value);
	else if (!*end)
		json_object_set_new(json, name, value);
	else if (json_is_array(json))
		replace(json_array_get(json, strtoul(name, NULL, 10)), end + 1, value);
	else
		replace(json_object_get(json, name), end + 1, value);
}

static void test_rejects_defects(void **unused)
{
	json_t *good = checked_document(&fleet);

	for (size_t i = 0; i < ARRAY_LENGTH(defects); i++) {
		json_t *bad = json_deep_copy(good);
		struct fleet none = {0};
		struct error error = {0};
		struct fleet parsed;

		replace(bad, defects[i].path, json_loads(defects[i].value, JSON_DECODE_ANY, NULL));
		if (fleet_document_parse(&parsed, bad, &error) >= 0)
			fail_msg("%s = %s was accepted", defects[i].path, defects[i].value);
		assert_contains(error.text, defects[i].error);
		assert_memory_equal(&parsed, &none, sizeof(none));
		json_decref(bad);
	}
	json_decref(good);
}

static void test_rejects_other_types(void **unused)
{
	json_t *values[] = {json_null(), json_array(), json_string("fleet"), json_object()};

	for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
		struct error error = {0};
		struct fleet parsed;

		assert_int_equal(fleet_document_parse(&parsed, values[i], &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		json_decref(values[i]);
	}
}

/* The file has the same document as the one in memory. */
static void test_file(void **unused)
{
	char path[] = "/tmp/fleet.XXXXXX";
	int fd = mkstemp(path);
	json_t *document = checked_document(&fleet);
	struct error error = {0};
	json_t *read;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fleet_document_write(&fleet, path, &error), 0);
	read = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	unlink(path);
	assert_true(json_equal(read, document));
	json_decref(read);
	json_decref(document);
}

/* Reads a document as commands do. */
static int read_text(struct fleet *read, const char *text, struct error *error)
{
	struct fleet_text parts;
	json_t *head;
	int code = fleet_text_open(&parts, text, strlen(text), error);

	assert_int_equal(code, 0);
	code = parse_json(parts.head, parts.length, "a fleet", &head, error);
	*read = (struct fleet){0};
	if (!code)
		code = fleet_document_parse(read, head, error);
	json_decref(head);
	if (!code)
		code = fleet_text_add_pairs(read, &parts, error);
	fleet_text_close(&parts);
	return code;
}

/* Pairs are found in any place, and in any layout. */
static void test_text(void **unused)
{
	static const size_t flags[] = {JSON_COMPACT, JSON_INDENT(2), JSON_SORT_KEYS};
	json_t *document = checked_document(&fleet);

	json_object_set_new(document, "ahead",
			    json_pack("{s:[s], s:s}", "pairs", "]}", "b", "\"["));
	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
		char *text = json_dumps(document, flags[i] | JSON_REAL_PRECISION(6));
		struct error error = {0};
		struct fleet read;
		json_t *made;

		if (read_text(&read, text, &error))
			fail_msg("%s", error.text);
		made = checked_document(&read);
		json_object_set(made, "ahead", json_object_get(document, "ahead"));
		assert_true(json_equal(made, document));
		json_decref(made);
		fleet_finish(&read);
		free(text);
	}
	json_decref(document);
}

static void test_rejects_texts(void **unused)
{
	static const struct {
		const char *pairs;
		const char *error;
	} rows[] = {
		{"[7]",			  "pair 0: it is not an array"    },
		{"[[0,0,1,0,0,0,3,0,null],]",    "it is not an array"            },
		{"[[0,0,1,0,0,0,3,0,null] 7]",   "pair 0: it is not followed by" },
		{"[[0,0,1,0,0,0,3,0,null]{}]",   "pair 0: it is not followed by" },
		{"[[0,0,1,0,0,0,3,0,null],[1}]", "pair 1: line 1, column 3"      },
		{"[[0,0,4,0,0,0,3,0,null]]",     "pair 0: \"to\" is not a number"},
		{"[],\"pairs\":[]",              "duplicate"                     },
		{"[[]",			  "line 1"                        },
		{"{}",			   "\"pairs\" is not an array"     },
	};
	json_t *document = checked_document(&fleet);
	char *head;

	json_object_del(document, "pairs");
	head = json_dumps(document, JSON_COMPACT);
	head[strlen(head) - 1] = ',';
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct error error = {0};
		struct fleet read;
		char *text;

		assert_true(asprintf(&text, "%s\"pairs\":%s}", head, rows[i].pairs) > 0);
		assert_true(read_text(&read, text, &error) < 0);
		assert_contains(error.text, rows[i].error);
		fleet_finish(&read);
		free(text);
	}
	free(head);
	json_decref(document);
}

/* The largest complete check of one rail is possible; a larger one is refused with the most. */
static void test_check(void **unused)
{
	const uint64_t complete = 4096 * 4095 / 2;
	struct error error = {0};
	struct fleet_size size = {.n_nodes = 4096, .n_cases = 2, .n_pairs = complete};

	assert_int_equal(fleet_document_check(&size, &error), 0);
	size.n_pairs = 2 * complete;
	assert_int_equal(fleet_document_check(&size, &error), -EFBIG);
	assert_contains(error.text, "at most 13256071 are possible");
	error = (struct error){0};
	size.n_pairs = complete;
	size.has_histograms = true;
	assert_int_equal(fleet_document_check(&size, &error), -EFBIG);
	error = (struct error){0};
	size = (struct fleet_size){.n_nodes = FLEET_NODES_MOST + 1};
	assert_int_equal(fleet_document_check(&size, &error), -EFBIG);
	assert_contains(error.text, "16384 nodes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_rounds_and_shares, checked_open,
						checked_close),
		cmocka_unit_test_setup_teardown(test_unknown_is_omitted, checked_open,
						checked_close),
		cmocka_unit_test_setup_teardown(test_pair_text, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_histograms, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_node_exchange, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_rejects_defects, checked_open, checked_close),
		cmocka_unit_test(test_rejects_other_types),
		cmocka_unit_test_setup_teardown(test_file, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_text, checked_open, checked_close),
		cmocka_unit_test_setup_teardown(test_rejects_texts, checked_open, checked_close),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
