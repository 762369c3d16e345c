/* SPDX-License-Identifier: MIT */
#include "bench/plan/rate.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

static void test_parse(void **unused)
{
	static const struct {
		const char *text;
		enum rate_unit unit;
		uint64_t amount;
		const char *again;
	} rows[] = {
		{"1",			   RATE_MESSAGES, 1,                "1"             },
		{"100k",                        RATE_MESSAGES, 100000,           "100k"          },
		{"100K",                        RATE_MESSAGES, 100000,           "100k"          },
		{"1M",			  RATE_MESSAGES, 1000000,          "1M"            },
		{"1m",			  RATE_MESSAGES, 1000000,          "1M"            },
		{"1.5M",                        RATE_MESSAGES, 1500000,          "1500k"         },
		{"0.25k",                       RATE_MESSAGES, 250,              "250"           },
		{"1.2Mmsg/s",                   RATE_MESSAGES, 1200000,          "1200k"         },
		{"1024",                        RATE_MESSAGES, 1024,             "1024"          },
		{"1T",			  RATE_MESSAGES, 1000000000000,    "1T"            },
		{"10gbit",                      RATE_BITS,     10000000000,      "10gbit"        },
		{"10Gbit",                      RATE_BITS,     10000000000,      "10gbit"        },
		{"2.5Gb/s",                     RATE_BITS,     2500000000,       "2500mbit"      },
		{"64bit",                       RATE_BITS,     64,               "64bit"         },
		{"1000tbit",                    RATE_BITS,     1000000000000000, "1000tbit"      },
		{"10%",			 RATE_PER_CENT, 10,               "10%"           },
		{"1000%",                       RATE_PER_CENT, 1000,             "1000%"         },
		{"1.0%",                        RATE_PER_CENT, 1,                "1%"            },
		{"1.05",                        RATE_MESSAGES, 0,                NULL            },
		{"1.0005k",                     RATE_MESSAGES, 0,                NULL            },
		{"0",			   RATE_MESSAGES, 0,                NULL            },
		{"0.0k",                        RATE_MESSAGES, 0,                NULL            },
		{"",			    RATE_MESSAGES, 0,                NULL            },
		{"k",			   RATE_MESSAGES, 0,                NULL            },
		{".5k",			 RATE_MESSAGES, 0,                NULL            },
		{"1.k",			 RATE_MESSAGES, 0,                NULL            },
		{"1.2.3k",                      RATE_MESSAGES, 0,                NULL            },
		{"1.5",			 RATE_MESSAGES, 0,                NULL            },
		{"1.2345k",                     RATE_MESSAGES, 0,                NULL            },
		{"-1",			  RATE_MESSAGES, 0,                NULL            },
		{"+1",			  RATE_MESSAGES, 0,                NULL            },
		{" 1",			  RATE_MESSAGES, 0,                NULL            },
		{"1 k",			 RATE_MESSAGES, 0,                NULL            },
		{"1e6",			 RATE_MESSAGES, 0,                NULL            },
		{"10GB/s",                      RATE_BITS,     80000000000,      "80gbit"        },
		{"100MB/s",                     RATE_BITS,     800000000,        "800mbit"       },
		{"1B/s",                        RATE_BITS,     8,                "8bit"          },
		{"3kB/s",                       RATE_BITS,     24000,            "24kbit"        },
		{"0.125TB/s",                   RATE_BITS,     1000000000000,    "1tbit"         },
		{"2KiB/s",                      RATE_BITS,     16384,            "16384bit"      },
		{"0.5MiB/s",                    RATE_BITS,     4194304,          "4194304bit"    },
		{"1.25GiB/s",                   RATE_BITS,     10737418240,      "10737418240bit"},
		{"1.23456789012T",              RATE_MESSAGES, 1234567890120,    "1234567890120" },
		{"1.500000000000000000000000k", RATE_MESSAGES, 1500,             "1500"          },
		{"0.1KiB/s",                    RATE_BITS,     0,                NULL            },
		{"0.1B/s",                      RATE_BITS,     0,                NULL            },
		{"10gb/s",                      RATE_BITS,     0,                NULL            },
		{"10MIB/s",                     RATE_BITS,     0,                NULL            },
		{"126TB/s",                     RATE_BITS,     0,                NULL            },
		{"18446744.9T",                 RATE_MESSAGES, 0,                NULL            },
		{"2305843.1TB/s",               RATE_BITS,     0,                NULL            },
		{"1001%",                       RATE_PER_CENT, 0,                NULL            },
		{"1.1T",                        RATE_MESSAGES, 1100000000000,    "1100G"         },
		{"1001T",                       RATE_MESSAGES, 0,                NULL            },
		{"1001tbit",                    RATE_BITS,     0,                NULL            },
		{"99999999999999999999999k",    RATE_MESSAGES, 0,                NULL            },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t rate = 0;
		char text[24];

		if (rate_parse(rows[i].text, &rate) != !!rows[i].again)
			fail_msg("'%s'", rows[i].text);
		if (!rows[i].again)
			continue;
		assert_int_equal(rate_unit(rate), rows[i].unit);
		assert_int_equal(rate_amount(rate), rows[i].amount);
		rate_print(rate, text, sizeof(text));
		assert_string_equal(text, rows[i].again);
	}
}

/* 10 Gb/s is 1.25e9 bytes per second. */
static void test_messages(void **unused)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		double messages;
	} rows[] = {
		{"7k",      64,      7000   },
                {"10gbit",  1250,    1e6    },
                {"10gbit",  1,       1.25e9 },
		{"100MB/s", 1000,    1e5    },
                {"8bit",    1 << 30, 0x1p-30},
                {"30%",     64,      600    },
		{"150%",    64,      3000   },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t rate;

		assert_true(rate_parse(rows[i].text, &rate));
		assert_near(rate_messages(rate, rows[i].bytes, 2000) / rows[i].messages, 1, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
