/* SPDX-License-Identifier: MIT */
/* Only runs of the same setup are compared. */
#include <errno.h>

#include "reports/compare/compare.h"
#include "reports/test/lib/sample.h"

static struct comparison comparison;
static struct error error;
static int minute; /* start time of the next run */

static int reset(void **unused)
{
	comparison = (struct comparison){0};
	error = (struct error){0};
	minute = 0;
	return 0;
}

static int close_all(void **unused)
{
	compare_close(&comparison);
	return 0;
}

static void make(struct result *result)
{
	sample_init(result);
	snprintf(result->started, sizeof(result->started), "2001-02-03T04:%02d:06Z", minute++);
}

static void set_facts(struct result_end *end, const char *fingerprint, const char *facts)
{
	snprintf(end->fingerprint, sizeof(end->fingerprint), "%s", fingerprint);
	json_decref(end->facts);
	end->facts = facts ? sample_json(facts) : NULL;
}

static int add_with(enum compare_side side, const char *fingerprint, const char *facts)
{
	struct result result;

	make(&result);
	set_facts(&result.server, fingerprint, facts);
	return compare_add(&comparison, side, &result, side ? "n.json" : "b.json", &error);
}

#define HOST "{\"kernel\": {\"release\": \"6.1\"}, \"cpu\": {\"model\": \"x\"}, \"libc\": \"2.36\"}"
#define OTHER \
	"{\"kernel\": {\"release\": \"6.2\\u001b\"}, \"cpu\": {\"smt\": true}, \"libc\": \"2.36\"}"

static void test_different_facts(void **unused)
{
	assert_int_equal(add_with(COMPARE_BASE, "0123", HOST), 0);
	assert_int_equal(add_with(COMPARE_BASE, "0123", OTHER), 0);
	/* Unknown facts are not a difference. */
	assert_int_equal(add_with(COMPARE_NEW, "", NULL), 0);
	assert_int_equal(add_with(COMPARE_NEW, "4567", OTHER), -EXDEV);
	assert_string_equal(error.text, "the server: cpu model is \"x\" in b.json and unknown in "
					"n.json; 3 facts differ in all");
	error = (struct error){0};
	assert_int_equal(add_with(COMPARE_NEW, "4567", NULL), -EXDEV);
	assert_string_equal(error.text,
			    "the server: hard fingerprint is 0123 in b.json and 4567 in n.json");
}

/* If the first run has no facts, the others are still compared with each other. */
static void test_unknown_facts(void **unused)
{
	assert_int_equal(add_with(COMPARE_BASE, "", NULL), 0);
	assert_int_equal(add_with(COMPARE_BASE, "0123", HOST), 0);
	error = (struct error){0};
	assert_int_equal(add_with(COMPARE_NEW, "4567", OTHER), -EXDEV);
}

static int add_link(enum compare_side side, uint64_t rate_mbps, unsigned int mtu)
{
	struct result result;

	make(&result);
	result.client.rate_mbps = rate_mbps;
	result.client.mtu = mtu;
	return compare_add(&comparison, side, &result, side ? "n.json" : "b.json", &error);
}

/* 0 means unknown, which is not a difference. */
static void test_unknown_links(void **unused)
{
	assert_int_equal(add_link(COMPARE_BASE, 100000, 4096), 0);
	assert_int_equal(add_link(COMPARE_BASE, 0, 0), 0);
	assert_int_equal(add_link(COMPARE_NEW, 100000, 0), 0);
	assert_int_equal(add_link(COMPARE_NEW, 0, 4096), 0);
	assert_int_equal(add_link(COMPARE_NEW, 200000, 4096), -EXDEV);
	assert_string_equal(error.text, "the client: rate in Mb/s is 100000 in b.json and 200000 "
					"in n.json");
	error = (struct error){0};
	assert_int_equal(add_link(COMPARE_NEW, 0, 1024), -EXDEV);
}

static void test_force(void **unused)
{
	comparison.is_forced = true;
	assert_int_equal(add_with(COMPARE_BASE, "0123", HOST), 0);
	assert_int_equal(add_with(COMPARE_NEW, "0123", HOST), 0);
	assert_string_equal(comparison.difference, "");
	assert_int_equal(add_with(COMPARE_NEW, "4567", NULL), 0);
	assert_int_equal(add_with(COMPARE_NEW, "89ab", NULL), 0);
	assert_string_equal(comparison.difference,
			    "the server: hard fingerprint is 0123 in b.json and 4567 in n.json");
	assert_int_equal(compare_judge(&comparison, &error), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, reset, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_different_facts),
		TEST(test_unknown_facts),
		TEST(test_unknown_links),
		TEST(test_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
