/* SPDX-License-Identifier: MIT */
#include "reports/result/fingerprint.h"
#include "reports/test/lib/sample.h"

static void check(const char *facts, const char *wanted)
{
	json_t *json = json_loads(facts, JSON_DECODE_ANY, NULL);
	char text[FINGERPRINT_TEXT];

	fingerprint_hard(json, text);
	assert_string_equal(text, wanted);
	json_decref(json);
}

/*
 * FNV-1a, computed in Python, of {"libc":"2.36"} and of
 * {"cpu":{"model":"x","smt":true},"kernel":{"cmdline":"isolcpus=2 mitigations=off"}}.
 */
#define OF_LIBC "3d9e79265452c912"
#define OF_HOST "ee431c4b2b88e8a8"

static void test_hash(void **unused)
{
	check("{\"libc\": \"2.36\"}", OF_LIBC);
	check("{\"cpu\": {\"smt\": true, \"model\": \"x\"},"
	      " \"kernel\": {\"cmdline\": \"isolcpus=2 mitigations=off\"}}",
	      OF_HOST);
}

/* Names, serial numbers and facts that vary over time are not hard. */
static void test_ignores_soft_facts(void **unused)
{
	check("{\"libc\": \"2.36\", \"host\": \"n01\", \"limits\": {\"memlock\": 1},"
	      " \"hugepages\": {\"sizes\": []}, \"later\": {\"a\": 1}}",
	      OF_LIBC);
	check("{\"kernel\": {\"cmdline\": \"root=UUID=1b4e isolcpus=2 quiet mitigations=off\"},"
	      " \"cpu\": {\"model\": \"x\", \"smt\": true, \"allowed\": \"0-3\"}}",
	      OF_HOST);
}

static void test_includes_hard_facts(void **unused)
{
	static const char *const rows[] = {
		"{\"device\": {\"fw_ver\": \"20.1\"}}",
		"{\"device\": {\"fw_ver\": \"20.2\"}}",
		"{\"device\": {\"kind\": \"hardware\"}}",
		"{\"device\": {\"kind\": \"soft\"}}",
		"{\"frequency\": {\"turbo\": true}}",
		"{\"frequency\": {\"turbo\": false}}",
		"{\"kernel\": {\"release\": \"6.1\"}}",
		"{\"kernel\": {\"version\": \"6.1\"}}",
		"{\"flow\": {\"pfc\": [3]}}",
		"{\"flow\": {\"pfc\": [4]}}",
		"{\"virtualization\": {\"later\": true}}",
		"{\"port\": {\"active_mtu\": 1024}}",
	};
	char texts[ARRAY_LENGTH(rows)][FINGERPRINT_TEXT];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		json_t *facts = sample_json(rows[i]);

		fingerprint_hard(facts, texts[i]);
		assert_int_equal(strlen(texts[i]), 16);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(texts[i], texts[j]);
		json_decref(facts);
	}
}

static void test_no_hard_facts(void **unused)
{
	check("{}", "");
	check("7", "");
	check("{\"host\": \"n01\"}", "");
}

static bool compare(struct fingerprint_change *change, const char *before, const char *now)
{
	json_t *first = sample_json(before);
	json_t *second = sample_json(now);
	bool found = fingerprint_compare(change, first, second);

	json_decref(first);
	json_decref(second);
	return found;
}

static void test_changes(void **unused)
{
	struct fingerprint_change change;

	/* Soft facts are ignored, and a host without hard facts cannot be compared. */
	assert_false(compare(&change, "{\"libc\": \"2.36\", \"host\": \"n01\"}",
			     "{\"libc\": \"2.36\", \"host\": \"n02\"}"));
	assert_false(compare(&change, "{\"libc\": \"2.36\"}", "{}"));
	assert_true(compare(&change, "{\"libc\": \"2.36\"}", "{\"libc\": \"2.41\"}"));
	assert_string_equal(change.fact, "libc");
	assert_string_equal(change.before, "\"2.36\"");
	assert_string_equal(change.now, "\"2.41\"");
	assert_int_equal(change.count, 1);
	/* In the order of the table, not of the facts; unprintable characters are replaced. */
	assert_true(compare(&change, "{\"cpu\": {\"model\": \"x\"}, \"flow\": {\"p\\u001b\": 1}}",
			    "{\"cpu\": {\"smt\": true}, \"flow\": {}}"));
	assert_string_equal(change.fact, "flow p?");
	assert_string_equal(change.now, "unknown");
	assert_int_equal(change.count, 3);
	/* Long values are cut. */
	assert_true(compare(&change, "{\"libc\": \"2.36\"}",
			    "{\"libc\": \"01234567890123456789012345678901234567890123456789\"}"));
	assert_string_equal(change.now, "\"0123456789012345678901234567890123456789012...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_ignores_soft_facts),
		cmocka_unit_test(test_includes_hard_facts),
		cmocka_unit_test(test_no_hard_facts),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
