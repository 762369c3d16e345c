/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <string.h>

#include "bench/plan/group.h"
#include "core/base/address.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

static void test_groups(void **unused)
{
	static const struct {
		const char *text;
		const char *printed;
	} rows[] = {
		{"224.0.0.0",            "224.0.0.0"      },
		{"239.1.2.3",            "239.1.2.3"      },
		{"239.255.255.255",      "239.255.255.255"},
		{"ff0e::7",              "ff0e::7"        },
		{"FF05:0:0:0:0:0:1:203", "ff05::1:203"    },
		{"ff00::",               "ff00::"         },
		{"ffff::ffff:ffff",      "ffff::ffff:ffff"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct sockaddr_storage wanted;
		struct sockaddr_storage address;
		char text[ADDRESS_TEXT];
		uint64_t group;

		assert_null(group_parse(rows[i].text, &group));
		group_print(group, text, sizeof(text));
		assert_string_equal(text, rows[i].printed);
		address = group_address(group);
		assert_true(address_parse(&wanted, rows[i].text));
		assert_true(address_equal((struct sockaddr *)&address, (struct sockaddr *)&wanted));
	}
}

static void test_rejects_other_addresses(void **unused)
{
	static const char *const texts[] = {
		"",
		"239.1.2",
		"223.255.255.255",
		"240.0.0.0",
		"239.1.2.3 ",
		"host",
		"fe80::1",
		"::1",
		"ff0e:1::7",
		"ff0e::1:0:0:7",
		"ff0e",
		"::ffff:239.1.2.3",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		uint64_t group;

		assert_non_null(group_parse(texts[i], &group));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_rejects_other_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
