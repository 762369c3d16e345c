/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "bench/plan/hosts.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

static struct hosts hosts;
static struct error error;

static void check_host(size_t number, const char *label, const char *name, uint16_t port)
{
	assert_string_equal(hosts.host[number].label, label);
	assert_string_equal(hosts.host[number].name, name);
	assert_int_equal(hosts.host[number].port, port);
}

static void test_parse(void **unused)
{
	assert_int_equal(hosts_parse(&hosts, "n01,192.0.2.7:7500,fd00::1,[fd00::2]:8,[fd00::3]",
				     7471, &error),
			 0);
	assert_int_equal(hosts.count, 5);
	check_host(0, "n01", "n01", 7471);
	check_host(1, "192.0.2.7:7500", "192.0.2.7", 7500);
	check_host(2, "fd00::1", "fd00::1", 7471);
	check_host(3, "[fd00::2]:8", "fd00::2", 8);
	check_host(4, "[fd00::3]", "fd00::3", 7471);
}

static void check_refusal(const char *text, const char *sentence)
{
	error = (struct error){0};
	assert_true(hosts_parse(&hosts, text, 7471, &error) < 0);
	assert_string_equal(error.text, sentence);
}

static void test_refusals(void **unused)
{
	char text[400] = "";

	check_refusal("n01,", "a host in the list has no name");
	check_refusal(",n01", "a host in the list has no name");
	check_refusal("n01,:7471", "a host in the list has no name");
	check_refusal("n01,n02:0", "n02:0: invalid port '0'");
	check_refusal("n01,n02:65536", "n02:65536: invalid port '65536'");
	check_refusal("n01,n02:", "n02:: invalid port ''");
	for (int i = 0; i < HOSTS_MOST + 1; i++)
		strcat(text, i ? ",n" : "n");
	check_refusal(text, "too many hosts: the limit is 64");
	memset(text, 'n', HOSTS_NAME);
	text[HOSTS_NAME] = '\0';
	check_refusal(text, "a host name is longer than 127 characters");
	text[HOSTS_NAME - 1] = '\0';
	assert_int_equal(hosts_parse(&hosts, text, 7471, &error), 0);
	assert_true(hosts_are_several("a,b"));
	assert_false(hosts_are_several("a"));
	assert_false(hosts_are_several(NULL));
}

/* "0>1 2>3" */
static void check_flows(enum pattern pattern, size_t n_hosts, const char *expected)
{
	struct hosts_flow *flows = calloc(HOSTS_FLOWS, sizeof(*flows));
	size_t count = hosts_flows(pattern, n_hosts, flows);
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%zu>%zu",
					 i ? " " : "", flows[i].from, flows[i].to);
	assert_string_equal(text, expected);
	free(flows);
}

static void test_flows(void **unused)
{
	struct hosts_flow *flows = calloc(HOSTS_FLOWS, sizeof(*flows));

	check_flows(PATTERN_ONE_TO_ONE, 4, "0>1 2>3");
	check_flows(PATTERN_ONE_TO_ONE, 3, "");
	check_flows(PATTERN_MANY_TO_ONE, 4, "0>3 1>3 2>3");
	check_flows(PATTERN_ONE_TO_MANY, 4, "0>1 0>2 0>3");
	check_flows(PATTERN_ALL_TO_ALL, 3, "0>1 0>2 1>0 1>2 2>0 2>1");
	assert_int_equal(hosts_flows(PATTERN_ALL_TO_ALL, HOSTS_MOST, flows), HOSTS_FLOWS);
	free(flows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
