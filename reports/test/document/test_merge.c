/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "reports/document/merge.h"
#include "reports/test/lib/loading.h"

static struct result merged;
static struct error error;

static int reset(void **unused)
{
	error = (struct error){0};
	return 0;
}

static int drop(void **unused)
{
	result_finish(&merged);
	return 0;
}

/* Adds a document and releases it. */
static int add(json_t *document)
{
	struct result result;
	int code = loading_load(&result, document, &error);

	assert_int_equal(code, 0);
	code = merge_add(&merged, &result, &error);
	result_finish(&result);
	return code;
}

static json_t *changed(const char *path, const char *value)
{
	json_t *document = loading_document();

	loading_change(document, path, value);
	return document;
}

static void check_json(const json_t *json, const char *text)
{
	json_t *wanted = sample_json(text);

	assert_true(json_equal(json, wanted));
	json_decref(wanted);
}

/* Merging a single result changes nothing. */
static void test_one(void **unused)
{
	json_t *document = loading_document();
	json_t *again;

	assert_int_equal(add(json_incref(document)), 0);
	again = document_make(&merged);
	loading_check_equal(again, document);
	json_decref(again);
	json_decref(document);
}

/* Facts are taken from the first run, which is released before the merged result. */
static void test_facts(void **unused)
{
	json_t *first = changed("hosts/client/facts", "{\"host\": \"n01\"}");
	json_t *facts;

	loading_change(first, "hosts/server/facts", "{\"host\": \"n02\"}");
	assert_int_equal(add(first), 0);
	assert_int_equal(add(changed("hosts/client/facts", "{\"host\": \"n09\"}")), 0);
	facts = json_object_get(merged.client.facts, "host");
	assert_string_equal(json_string_value(facts), "n01");
	facts = json_object_get(merged.server.facts, "host");
	assert_string_equal(json_string_value(facts), "n02");
}

static void test_fingerprints(void **unused)
{
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(loading_document()), 0);
	assert_string_equal(merged.client.fingerprint, "0123456789abcdef");
	assert_int_equal(add(changed("hosts/client/hard_fingerprint", "\"0123456789abcde0\"")), 0);
	assert_string_equal(merged.client.fingerprint, "");
	assert_int_equal(add(loading_document()), 0);
	assert_string_equal(merged.client.fingerprint, "");
}

/* Placements that differ become unknown. */
static void test_places(void **unused)
{
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(changed("cases/0/placement/client/numa_node", "0")), 0);
	assert_string_equal(merged.cases[0].client_place.cpus, "0-3,8");
	assert_int_equal(merged.cases[0].client_place.numa_node, -1);
	assert_string_equal(merged.cases[0].server_place.cpus, "2");
	assert_int_equal(add(changed("cases/0/placement/server/cpus", "\"3\"")), 0);
	assert_string_equal(merged.cases[0].server_place.cpus, "");
	assert_int_equal(add(changed("cases/0/placement", NULL)), 0);
	assert_string_equal(merged.cases[0].client_place.cpus, "");
}

static bool knows(const struct effective *chosen, enum effective_member member)
{
	return chosen->is_known[member];
}

/* Values that all trials have in common stay. */
static void test_chosen(void **unused)
{
	const struct result_case *line;

	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(changed("cases/0/chosen/client/path_mtu_bytes", "4096")), 0);
	line = &merged.cases[SAMPLE_LATENCY];
	assert_false(knows(&line->client_chosen, EFFECTIVE_PATH_MTU_BYTES));
	assert_int_equal(line->client_chosen.value[EFFECTIVE_RETRIES], 6);
	assert_true(knows(&line->client_chosen, EFFECTIVE_RETRIES));
	assert_true(knows(&line->server_chosen, EFFECTIVE_SPIN_NS));
	assert_int_equal(add(changed("cases/0/chosen/server", NULL)), 0);
	assert_true(knows(&line->client_chosen, EFFECTIVE_RETRIES));
	assert_false(knows(&line->server_chosen, EFFECTIVE_SPIN_NS));
}

#define SHARES(one, other)                                                                   \
	"{\"threads\": [{\"duration_ns\": 10, \"queue_pairs\": [{\"messages\": " #one "}]}," \
	"{\"duration_ns\": 30, \"queue_pairs\": [{\"messages\": " #other "}]}], \"fairness\": {}}"

/* Shares add up to the messages of the case. */
static void test_shares(void **unused)
{
	const struct shares *shares;

	assert_int_equal(add(changed("cases/1/shares", SHARES(6300, 60))), 0);
	shares = &merged.cases[SAMPLE_BANDWIDTH].shares;
	assert_int_equal(shares->threads, 2);
	assert_int_equal(add(changed("cases/1/shares", SHARES(60, 6300))), 0);
	assert_int_equal(shares->messages[0], 6360);
	assert_int_equal(shares->messages[1], 6360);
	assert_int_equal(shares->duration_ns[1], 60);
	/* If one run has no shares, the sums would be incomplete. */
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(shares->threads, 0);
	assert_int_equal(add(changed("cases/1/shares", SHARES(60, 6300))), 0);
	assert_int_equal(shares->threads, 0);
}

static void test_invalid_shares(void **unused)
{
	struct result result;
	json_t *document = changed("cases/1/shares", SHARES(6300, 61));

	assert_int_equal(loading_load(&result, document, &error), -EINVAL);
	assert_contains(error.text, "shares: messages of the threads do not add up");
	result_finish(&result);
}

/* Three times sample.h: 61 samples, 74400 + 2^37; 6360 messages, 12 windows. */
static void test_three(void **unused)
{
	const struct result_case *line;
	json_t *document;
	struct result again;

	for (int i = 0; i < 3; i++)
		assert_int_equal(add(loading_document()), 0);
	assert_int_equal(merged.n_cases, SAMPLE_CASES);

	line = &merged.cases[SAMPLE_LATENCY];
	assert_int_equal(line->n_trials, 9);
	assert_int_equal(line->messages, 183);
	assert_int_equal(line->duration_ns, 450009);
	assert_int_equal(line->latency->count, 183);
	assert_int_equal(line->latency->bins[1230], 60);
	assert_int_equal(line->latency->over, 3);
	assert_int_equal(line->latency->sum, 223200 + 3 * (1ULL << 37));
	assert_int_equal(line->latency->min, 1230);
	assert_int_equal(line->client.user_ns, 378000);
	assert_int_equal(line->warmup->count, 60);
	assert_int_equal(line->warmup->sum, 90000);
	assert_true(line->trials[7].latency[0] == 1250);

	line = &merged.cases[SAMPLE_BANDWIDTH];
	assert_int_equal(line->n_trials, 18);
	assert_int_equal(line->messages, 19080);
	assert_int_equal(line->windows->count, 36);
	assert_int_equal(line->windows->messages[35], 1200);
	assert_int_equal(line->windows->rest, 180);

	document = document_make(&merged);
	assert_int_equal(parse_document(&again, document, &error), 0);
	json_decref(document);
	document = document_make(&again);
	assert_int_equal(again.cases[SAMPLE_LATENCY].latency->count, 183);
	json_decref(document);
	result_finish(&again);
}

/* The deviation is the same as in a single run with all samples. */
static void test_squares(void **unused)
{
	struct hist all;

	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(loading_document()), 0);
	hist_init(&all);
	for (int i = 0; i < 2; i++) {
		for (uint64_t j = 0; j < 60; j++)
			hist_add(&all, 1230 + 10 * (j % 3));
		hist_add(&all, 1ULL << 37);
	}
	assert_near(hist_stddev(merged.cases[SAMPLE_LATENCY].latency), hist_stddev(&all),
		    hist_stddev(&all) * 1e-15);
}

/* Windows of 10 ms are merged in pairs into windows of 20 ms. */
static void test_other_windows(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "cases/1/bandwidth/window_ns", "20000000");
	loading_change(document, "cases/1/bandwidth/windows", "[5000000, 10000000]");
	assert_int_equal(add(document), 0);
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(merged.cases[SAMPLE_BANDWIDTH].windows->window_ns, 20000000);
	assert_int_equal(merged.cases[SAMPLE_BANDWIDTH].windows->count, 8);
	assert_int_equal(merged.cases[SAMPLE_BANDWIDTH].windows->messages[1], 200);
	assert_int_equal(merged.cases[SAMPLE_BANDWIDTH].windows->messages[2], 300);
	assert_int_equal(rate_windows_total(merged.cases[SAMPLE_BANDWIDTH].windows), 12720);
	error = (struct error){0};
	document = changed("cases/1/bandwidth/window_ns", "30000000");
	loading_change(document, "cases/1/bandwidth/windows", "[]");
	assert_int_equal(add(document), -EINVAL);
	assert_contains(error.text, "write/bw/1000/event/server-poll/t16: windows of 20000000 and");
}

static void test_when(void **unused)
{
	json_t *document = changed("run/started", "\"2001-02-03T04:05:05Z\"");

	loading_change(document, "run/clock/drift_ppm", "1.25");
	loading_change(document, "run/command", "[\"verbmark\", \"again\"]");
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(document), 0);
	document = changed("run/finished", "\"2001-02-04T00:00:00Z\"");
	loading_change(document, "run/clock/drift_ppm", "-2.5");
	loading_change(document, "run/clock/cost_ns", "9");
	assert_int_equal(add(document), 0);
	assert_string_equal(merged.started, "2001-02-03T04:05:05Z");
	assert_string_equal(merged.finished, "2001-02-04T00:00:00Z");
	assert_true(merged.clock_drift_ppm == -2.5);
	assert_true(merged.clock_resolution_ns == 0.5);
	assert_int_equal(merged.clock_cost_ns, 9);
	assert_int_equal(json_array_size(merged.command), 3);
}

static json_t *with_failure(void)
{
	json_t *document = loading_document();

	loading_change(document, "cases/0/status", "\"failed\"");
	loading_change(document, "cases/0/error", "\"it has stalled\"");
	loading_change(document, "cases/0/trials", "[]");
	loading_change(document, "cases/0/latency_ns", NULL);
	return document;
}

/* A case that failed in any run, in whatever order, has failed. */
static void test_failures(void **unused)
{
	for (size_t place = 0; place < 3; place++) {
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(add(i == place ? with_failure() : loading_document()), 0);
		assert_int_equal(merged.cases[0].status, RESULT_FAILED);
		assert_string_equal(merged.cases[0].error, "it has stalled");
		assert_int_equal(merged.cases[0].n_trials, 0);
		assert_null(merged.cases[0].latency);
		assert_int_equal(merged.cases[SAMPLE_BANDWIDTH].n_trials, 18);
		result_finish(&merged);
	}
}

/* A case that is missing in one run may be complete or skipped in another. */
static void test_statuses(void **unused)
{
	json_t *document = loading_document();
	json_t *cases = json_object_get(document, "cases");

	json_array_remove(cases, SAMPLE_NOT_RUN);
	json_array_remove(cases, SAMPLE_SKIPPED);
	assert_int_equal(add(document), 0);
	assert_int_equal(merged.status, RESULT_FAILED);
	assert_int_equal(merged.n_cases, 3);

	document = loading_document();
	json_array_remove(json_object_get(document, "cases"), SAMPLE_FAILED);
	loading_change(document, "cases/3/status", "\"skipped\"");
	loading_change(document, "cases/3/error", "\"it cannot be\"");
	assert_int_equal(add(document), 0);
	assert_int_equal(merged.n_cases, SAMPLE_CASES);
	assert_int_equal(merged.cases[SAMPLE_FAILED].status, RESULT_FAILED);
	assert_int_equal(merged.status, RESULT_FAILED);

	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(merged.n_cases, SAMPLE_CASES);
	assert_string_equal(merged.cases[SAMPLE_NOT_RUN].id, "read/lat/1m/adaptive");
	assert_int_equal(merged.cases[SAMPLE_NOT_RUN].status, RESULT_SKIPPED);
	assert_string_equal(merged.cases[SAMPLE_NOT_RUN].error, "it cannot be");
	assert_int_equal(merged.cases[SAMPLE_LATENCY].n_trials, 9);
}

/* A run that completes an interrupted one determines the kind of latency. */
static void test_completes_interrupted_case(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "cases/0/status", "\"interrupted\"");
	loading_change(document, "cases/0/trials", "[]");
	loading_change(document, "cases/0/latency_ns", NULL);
	assert_int_equal(add(document), 0);
	document = changed("cases/0/latency_ns/kind", "\"full\"");
	assert_int_equal(add(document), 0);
	assert_int_equal(merged.cases[0].status, RESULT_COMPLETE);
	assert_int_equal(merged.cases[0].kind, RESULT_FULL);
	assert_int_equal(merged.cases[0].n_trials, 3);
}

static void test_drops_differing_objects(void **unused)
{
	json_t *document = changed("cases/0/colors", "{\"retries\": 1}");
	struct result first;

	loading_change(document, "cases/0/warnings", "[\"same\"]");
	assert_int_equal(loading_load(&first, document, &error), 0);
	assert_int_equal(merge_add(&merged, &first, &error), 0);
	document = changed("cases/0/colors", "{\"retries\": 2}");
	loading_change(document, "cases/0/warnings", "[\"same\"]");
	assert_int_equal(add(document), 0);
	assert_null(json_object_get(merged.cases[0].parameters, "colors"));
	assert_non_null(json_object_get(merged.cases[0].parameters, "warnings"));
	/* The added result keeps its own. */
	assert_non_null(json_object_get(first.cases[0].parameters, "colors"));
	result_finish(&first);
}

static void test_rejects_other_setups(void **unused)
{
	static const struct {
		const char *path;
		const char *value;
		const char *sentence;
	} rows[] = {
		{"tool/version",            "\"1.2.4\"",
		 "the version of verbmark is 1.2.4, but was 1.2.3 before"                                          },
		{"run/clock/kind",          "\"monotonic\"", "the clock is monotonic, but was tsc before"          },
		{"hosts/client/host",       "\"n03\"",       "client: host is n03, but was n01 before"             },
		{"hosts/client/device",     "\"a\"",         "client: device is a, but was mlx5_0 before"          },
		{"hosts/client/port",       "2",             "client: port is 2, but was 1 before"                 },
		{"hosts/client/kind",       "\"soft\"",      "client: kind is soft, but was hardware before"       },
		{"hosts/server/kind",       "\"rxe\"",       "server: kind is rxe, but was unknown before"         },
		{"hosts/server/address",    "\"::1\"",       "server: address is ::1, but was 192.0.2.2"           },
		{"hosts/server/link_layer", "\"IB\"",        "link_layer is IB, but was Ethernet before"           },
		{"hosts/server/rate_mbps",  "5000",          "rate_mbps is 5000, but was 2500 before"              },
		{"hosts/server/mtu",        "4096",          "mtu is 4096, but was 1024 before"                    },
		{"cases/0/latency_ns/kind", "\"full\"",
		 "send/lat/64/poll: its latency is full, but was half before"                                      },
		{"cases/0/tx_depth",        "128",           "send/lat/64/poll: tx-depth is 128, but was 64 before"},
		{"cases/0/iterations",      NULL,            "iterations is not given, but was 20 before"          },
		{"cases/0/later",           "\"x\"",         "later is \"x\", but was not given before"            },
		{"cases/0/op",              "\"write\"",     "op is \"write\", but was \"send\" before"            },
		{"cases/0/size",            "65",            "size is 65, but was 64 before"                       },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		error = (struct error){0};
		assert_int_equal(add(loading_document()), 0);
		assert_int_equal(add(changed(rows[i].path, rows[i].value)), -EINVAL);
		assert_contains(error.text, rows[i].sentence);
		result_finish(&merged);
	}
}

/* A latency and a bandwidth with the same id cannot be merged. */
static void test_rejects_other_metric(void **unused)
{
	json_t *document = loading_document();
	json_t *trial;
	size_t i;

	loading_change(document, "cases/0/bandwidth",
		       "{\"messages\": 61, \"duration_ns\": 150003, \"bytes\": 3904,"
		       " \"window_ns\": 10000000, \"windows\": []}");
	loading_change(document, "cases/0/latency_ns", NULL);
	json_array_foreach(
		json_object_get(json_array_get(json_object_get(document, "cases"), 0), "trials"), i,
		trial) json_object_set_new(trial, "bandwidth",
					   json_pack("{s:f, s:f}", "bytes_per_s", 1.0,
						     "messages_per_s", 1.0));
	assert_int_equal(add(loading_document()), 0);
	assert_int_equal(add(document), -EINVAL);
	assert_string_equal(error.text, "send/lat/64/poll: one is a bandwidth and the other a "
					"latency");
}

/* The sum of both results is 2^63. */
static void test_rejects_overflow(void **unused)
{
	json_t *document = loading_document();

	loading_change(document, "cases/0/latency_ns/histogram/max", "9223372036854701407");
	loading_change(document, "cases/0/latency_ns/histogram/sum", "9223372036854775807");
	assert_int_equal(add(document), 0);
	assert_int_equal(add(loading_document()), -EOVERFLOW);
	assert_string_equal(error.text, "send/lat/64/poll: the sums overflow");
}

/* Counters add up; one that only one run has stays. Each warning is kept once. */
static void test_counters_and_warnings(void **unused)
{
	struct result runs[2];

	for (size_t i = 0; i < 2; i++) {
		sample_init(&runs[i]);
		for (size_t j = 0; j < SAMPLE_CASES; j++)
			if (!runs[i].cases[j].parameters)
				runs[i].cases[j].parameters = json_object();
	}
	runs[0].cases[SAMPLE_LATENCY].counters =
		sample_json("{\"client\": {\"sent_pkts\": 7}, \"server\": {\"retries\": 3}}");
	runs[1].cases[SAMPLE_LATENCY].counters =
		sample_json("{\"client\": {\"sent_pkts\": 5, \"drops\": 9223372036854775807}}");
	runs[0].warnings = sample_json("[{\"code\": \"a\"}, {\"code\": \"b\"}]");
	runs[1].warnings = sample_json("[{\"code\": \"b\"}, {\"code\": \"c\"}]");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(merge_add(&merged, &runs[i], &error), 0);
		result_finish(&runs[i]);
	}
	check_json(merged.cases[SAMPLE_LATENCY].counters,
		   "{\"client\": {\"sent_pkts\": 12, \"drops\": 9223372036854775807},"
		   " \"server\": {\"retries\": 3}}");
	check_json(merged.warnings, "[{\"code\": \"a\"}, {\"code\": \"b\"}, {\"code\": \"c\"}]");
	assert_null(merged.cases[SAMPLE_BANDWIDTH].counters);
}

/* Makes a document with warnings that are numbered from from on. */
static json_t *with_warnings(int from, int count)
{
	json_t *document = loading_document();
	json_t *warnings = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(warnings,
				      json_pack("{s:o}", "code", json_sprintf("w%d", from + i)));
	json_object_set_new(document, "warnings", warnings);
	return document;
}

/* Merged results stay within the limits of the parser. */
static void test_too_many(void **unused)
{
	struct result result;

	assert_int_equal(add(with_warnings(0, 4096)), 0);
	assert_int_equal(add(with_warnings(0, 4096)), 0);
	assert_int_equal(add(with_warnings(4096, 1)), -E2BIG);
	assert_string_equal(error.text, "more than 4096 warnings");
	error = (struct error){0};
	/* The case has three trials; the others do not exist, but are not read. */
	assert_int_equal(loading_load(&result, loading_document(), &error), 0);
	result_finish(&merged);
	merged = (struct result){0};
	assert_int_equal(merge_add(&merged, &result, &error), 0);
	result.cases[SAMPLE_LATENCY].n_trials = 19998;
	assert_int_equal(merge_add(&merged, &result, &error), -E2BIG);
	assert_string_equal(error.text, "send/lat/64/poll: more than 20000 trials");
	result.cases[SAMPLE_LATENCY].n_trials = 3;
	result_finish(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters_and_warnings, reset, drop),
		cmocka_unit_test_setup_teardown(test_one, reset, drop),
		cmocka_unit_test_setup_teardown(test_facts, reset, drop),
		cmocka_unit_test_setup_teardown(test_fingerprints, reset, drop),
		cmocka_unit_test_setup_teardown(test_places, reset, drop),
		cmocka_unit_test_setup_teardown(test_chosen, reset, drop),
		cmocka_unit_test_setup_teardown(test_shares, reset, drop),
		cmocka_unit_test_setup_teardown(test_invalid_shares, reset, drop),
		cmocka_unit_test_setup_teardown(test_three, reset, drop),
		cmocka_unit_test_setup_teardown(test_squares, reset, drop),
		cmocka_unit_test_setup_teardown(test_other_windows, reset, drop),
		cmocka_unit_test_setup_teardown(test_when, reset, drop),
		cmocka_unit_test_setup_teardown(test_failures, reset, drop),
		cmocka_unit_test_setup_teardown(test_statuses, reset, drop),
		cmocka_unit_test_setup_teardown(test_completes_interrupted_case, reset, drop),
		cmocka_unit_test_setup_teardown(test_drops_differing_objects, reset, drop),
		cmocka_unit_test_setup_teardown(test_rejects_other_setups, reset, drop),
		cmocka_unit_test_setup_teardown(test_rejects_other_metric, reset, drop),
		cmocka_unit_test_setup_teardown(test_rejects_overflow, reset, drop),
		cmocka_unit_test_setup_teardown(test_too_many, reset, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
