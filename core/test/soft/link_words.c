/* SPDX-License-Identifier: MIT */
/* Parsing of the link settings. */
#include <errno.h>

#include "core/base/compiler.h"
#include "core/soft/link/settings.h"
#include "core/test/lib/check.h"

static void test_words(void **unused)
{
	static const struct {
		const char *text;
		struct soft_link link;
	} rows[] = {
		{"latency=2us,bandwidth=100gbit,jitter=200ns,loss=1e-4,seed=7",
		 {true, 2000, 200, 100000000000, 0x68db8bac710cb, 7}                                                 },
		{"latency=0.0015ms",					    {true, 1500, 0, 0, 0, 1}             },
		{"latency=1e-5s",					       {true, 10000, 0, 0, 0, 1}            },
		{"bandwidth=2.5gbit",					   {true, 0, 0, 2500000000, 0, 1}       },
		{"bandwidth=1tbit",					     {true, 0, 0, 1000000000000, 0, 1}    },
		{"bandwidth=512kbit",					   {true, 0, 0, 512000, 0, 1}           },
		{"loss=0.5",						    {true, 0, 0, 0, UINT64_C(1) << 63, 1}},
		{"loss=1",						      {true, 0, 0, 0, UINT64_MAX, 1}       },
		{"loss=0,seed=18446744073709551615",                            {true, 0, 0, 0, 0, UINT64_MAX}       },
		{"",							    {false, 0, 0, 0, 0, 1}               },
	};
	char why[SOFT_LINK_WHY];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct soft_link *wanted = &rows[i].link;
		struct soft_link link;

		assert_int_equal(soft_link_parse(&link, rows[i].text, why), 0);
		assert_int_equal(link.is_on, wanted->is_on);
		assert_int_equal(link.latency_ns, wanted->latency_ns);
		assert_int_equal(link.jitter_ns, wanted->jitter_ns);
		assert_int_equal(link.bits_per_second, wanted->bits_per_second);
		assert_int_equal(link.loss, wanted->loss);
		assert_int_equal(link.seed, wanted->seed);
	}
}

static void test_words_that_are_wrong(void **unused)
{
	static const char *const rows[][2] = {
		{"latncy=2us",                     "unknown setting 'latncy'; use latency, bandwidth"},
		{"latency=2us,",                   "unknown setting ''"                              },
		{" latency=2us",                   "unknown setting ' latency'"                      },
		{"latency",                        "latency has no value; set latency= to a time"    },
		{"latency=",                       "latency: '' is not a time"                       },
		{"latency=2",                      "latency: '2' is not a time"                      },
		{"latency=us",                     "latency: 'us' is not a time"                     },
		{"latency=-2us",                   "latency: '-2us' is not a time"                   },
		{"latency=2us ",                   "'2us ' is not a time"                            },
		{"latency=2usec",                  "'2usec' is not a time"                           },
		{"latency=0.5ns",                  "'0.5ns' is not a time"                           },
		{"latency=1.2.3us",                "is not a time"                                   },
		{"latency=1e us",                  "is not a time"                                   },
		{"latency=10.1s",                  "is not a time of at most 10s"                    },
		{"latency=99999999999999999999ns", "is not a time"                                   },
		{"latency=1e99s",                  "is not a time"                                   },
		{"latency=2us,latency=2us",        "latency is given twice"                          },
		{"bandwidth=100gbps",              "bandwidth: '100gbps' is not a rate"              },
		{"bandwidth=0gbit",                "bandwidth: '0gbit' is not a rate from 1kbit"     },
		{"bandwidth=11tbit",               "is not a rate"                                   },
		{"loss=1.1",                       "loss: '1.1' is not a probability"                },
		{"loss=1%",                        "loss: '1%' is not a probability"                 },
		{"seed=1.5",                       "seed: '1.5' is not a whole number"               },
		{"seed=0x7",                       "seed: '0x7' is not a whole number"               },
		{"latency=1us,jitter=2us",         "jitter exceeds latency"                          },
		{"jitter=1ns",                     "jitter exceeds latency"                          },
	};
	char why[SOFT_LINK_WHY];
	char longest[300];

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct soft_link link;

		why[0] = '\0';
		assert_int_equal(soft_link_parse(&link, rows[i][0], why), -EINVAL);
		assert_false(link.is_on);
		assert_contains(why, rows[i][1]);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(soft_link_parse(&(struct soft_link){0}, longest, why), -EINVAL);
	assert_contains(why, "longer than 255 characters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_that_are_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
