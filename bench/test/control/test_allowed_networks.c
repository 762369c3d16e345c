/* SPDX-License-Identifier: MIT */
#include "bench/control/allowed_networks.h"
#include "core/base/address.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

static void check(const char *list, const char *text, bool is_permitted)
{
	struct sockaddr_storage address;
	struct allowed_networks allowed = {0};

	if (list)
		assert_null(allowed_networks_parse(list, &allowed));
	assert_true(address_parse(&address, text));
	if (allowed_networks_permits(&allowed, (const struct sockaddr *)&address) != is_permitted)
		fail_msg("%s: %s", list, text);
}

static void test_permitted_addresses(void **unused)
{
	static const struct {
		const char *list;
		const char *address;
		bool is_permitted;
	} rows[] = {
		{NULL,			    "192.0.2.1",        true },
		{NULL,			    "2001:db8::1",      true },
		{"192.0.2.1",                     "192.0.2.1",        true },
		{"192.0.2.1",                     "192.0.2.2",        false},
		{"192.0.2.0/24",                  "192.0.2.255",      true },
		{"192.0.2.0/24",                  "192.0.3.0",        false},
 /* A prefix that ends within a byte: 172.16 to 172.31. */
		{"172.16.0.0/12",                 "172.15.255.255",   false},
		{"172.16.0.0/12",                 "172.16.0.0",       true },
		{"172.16.0.0/12",                 "172.31.255.255",   true },
		{"172.16.0.0/12",                 "172.32.0.0",       false},
 /* Bits after the prefix are ignored. */
		{"10.9.8.7/8",                    "10.1.1.1",         true },
		{"0.0.0.0/0",                     "203.0.113.9",      true },
		{"0.0.0.0/0",                     "2001:db8::1",      false},
		{"::/0",			  "2001:db8::1",      true },
		{"::/0",			  "192.0.2.1",        false},
		{"2001:db8::/33",                 "2001:db8:7fff::1", true },
		{"2001:db8::/33",                 "2001:db8:8000::1", false},
		{"fd00::/8",                      "fdff::1",          true },
		{"fd00::/8",                      "fe00::1",          false},
		{"2001:db8::7",                   "2001:db8::7",      true },
		{"2001:db8::7",                   "2001:db8::8",      false},
 /* IPv4 addresses as a dual-stack socket reports them. */
		{"192.0.2.0/24",                  "::ffff:192.0.2.9", true },
		{"192.0.2.0/24",                  "::ffff:192.0.3.9", false},
		{"::ffff:192.0.2.0/120",          "192.0.2.9",        true },
		{"::ffff:192.0.2.0/120",          "192.0.3.9",        false},
		{"::/0",			  "::ffff:192.0.2.1", false},
		{"10.0.0.0/8,fd00::/8,192.0.2.7", "192.0.2.7",        true },
		{"10.0.0.0/8,fd00::/8,192.0.2.7", "10.255.0.1",       true },
		{"10.0.0.0/8,fd00::/8,192.0.2.7", "fd00::1",          true },
		{"10.0.0.0/8,fd00::/8,192.0.2.7", "192.0.2.8",        false},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check(rows[i].list, rows[i].address, rows[i].is_permitted);
}

static void test_invalid_lists(void **unused)
{
	static const char *const lists[] = {
		"",
		",",
		"10.0.0.0/8,",
		",10.0.0.0/8",
		"10.0.0.0/8,,fd00::/8",
		"10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/",
		"10.0.0.0/8/8",
		"10.0.0.0/ 8",
		" 10.0.0.0/8",
		"10",
		"10.1",
		"010.0.0.0x",
		"fd00::/129",
		"fd00:::/8",
		"localhost",
		"all",
		"/8",
		"2001:db8:1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc/64",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		struct allowed_networks allowed = {0};

		if (!allowed_networks_parse(lists[i], &allowed))
			fail_msg("'%s' is accepted", lists[i]);
	}
}

static void test_repeated_option(void **unused)
{
	struct sockaddr_storage address;
	struct allowed_networks allowed = {0};

	assert_null(allowed_networks_parse("192.0.2.1", &allowed));
	assert_null(allowed_networks_parse("192.0.2.2", &allowed));
	assert_true(address_parse(&address, "192.0.2.1"));
	assert_true(allowed_networks_permits(&allowed, (const struct sockaddr *)&address));
	for (int i = 2; i < ALLOWED_NETWORKS_MOST; i++)
		assert_null(allowed_networks_parse("192.0.2.3", &allowed));
	assert_non_null(allowed_networks_parse("192.0.2.3", &allowed));
	assert_int_equal(allowed.count, ALLOWED_NETWORKS_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permitted_addresses),
		cmocka_unit_test(test_invalid_lists),
		cmocka_unit_test(test_repeated_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
