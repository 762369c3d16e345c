/* SPDX-License-Identifier: MIT */
#include "bench/cli/duration.h"
#include "core/base/clock.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define MS NS_PER_MS
#define S  NS_PER_S

static void test_words(void **unused)
{
	static const struct {
		uint64_t duration_ns;
		const char *words;
	} rows[] = {
		{0,                 "0 s"             },
		{499 * MS,          "0 s"             },
		{500 * MS,          "1 s"             },
		{45 * S,            "45 s"            },
		{59 * S + 499 * MS, "59 s"            },
		{59 * S + 500 * MS, "1 min"           },
		{200 * S,           "3 min 20 s"      },
		{3599 * S,          "59 min 59 s"     },
		{3600 * S,          "1 h"             },
		{3900 * S,          "1 h 5 min"       },
		{3929 * S,          "1 h 5 min"       },
		{3930 * S,          "1 h 6 min"       },
		{UINT64_MAX,        "5124095 h 35 min"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char text[DURATION_TEXT];

		duration_words(text, rows[i].duration_ns);
		assert_string_equal(text, rows[i].words);
	}
}

struct update {
	uint64_t now_s;
	uint64_t done_s;
	double left_s;
};

static void check(uint64_t estimate_s, const struct update *updates, size_t count)
{
	struct duration_left left = {0};

	for (size_t i = 0; i < count; i++) {
		uint64_t left_ns = duration_left_update(&left, updates[i].now_s * S,
							updates[i].done_s * S, estimate_s * S);

		assert_near((double)left_ns / (double)S, updates[i].left_s, 0.001);
	}
}

/* A run that takes as long as estimated counts down, whenever it starts. */
static void test_exact(void **unused)
{
	static const struct update updates[] = {
		{7,   0,   100},
                {17,  10,  90 },
                {18,  11,  89 },
                {107, 100, 0  },
                {108, 101, 0  },
	};

	check(100, updates, ARRAY_LENGTH(updates));
}

/* 92 * (10 + 2) / (8 + 2) = 110.4, but it grows by 1; 82 * 22 / 20 = 90.2; 50 * 57 / 52. */
static void test_slower(void **unused)
{
	static const struct update updates[] = {
		{0,  0,  100    },
		{10, 8,  101    },
		{20, 18, 90.2   },
		{55, 50, 54.8077},
	};

	check(100, updates, ARRAY_LENGTH(updates));
}

/* 80 * (5 + 2) / (20 + 2) = 25.4545 */
static void test_faster(void **unused)
{
	static const struct update updates[] = {
		{0, 0,  100    },
		{5, 20, 25.4545},
	};

	check(100, updates, ARRAY_LENGTH(updates));
}

/* 8 * (20 + 2) / (2 + 2) = 44, more than 2 * 10 + 10; 7 * 26 / 5 = 36.4. */
static void test_wrong_estimate(void **unused)
{
	static const struct update updates[] = {
		{0,  0, 10  },
		{20, 2, 44  },
		{24, 3, 36.4},
	};

	check(10, updates, ARRAY_LENGTH(updates));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),          cmocka_unit_test(test_exact),
		cmocka_unit_test(test_slower),         cmocka_unit_test(test_faster),
		cmocka_unit_test(test_wrong_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
