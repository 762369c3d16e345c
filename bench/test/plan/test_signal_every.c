/* SPDX-License-Identifier: MIT */
#include "bench/plan/default_depths.h"
#include "bench/plan/pattern.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define CQ_MOD 32

/* A completion every 256 KiB over all queue pairs of a thread, and at least 16 in a counted run. */
static void test_signaling_interval(void **unused)
{
	static const struct {
		enum operation_number op;
		uint64_t size;
		uint64_t threads;
		uint64_t qps;
		uint64_t iterations;
		uint64_t is_both;
		unsigned int every;
	} rows[] = {
		{OPERATION_WRITE,    64,      1, 1,  PARAMETER_AUTO, 1, CQ_MOD},
		{OPERATION_WRITE,    8192,    1, 1,  PARAMETER_AUTO, 1, CQ_MOD},
		{OPERATION_WRITE,    8193,    1, 1,  PARAMETER_AUTO, 1, 31    },
		{OPERATION_WRITE,    65536,   1, 1,  PARAMETER_AUTO, 1, 4     },
		{OPERATION_READ,     65536,   1, 4,  PARAMETER_AUTO, 1, 1     },
		{OPERATION_WRITE,    16384,   2, 4,  PARAMETER_AUTO, 1, 4     },
		{OPERATION_READ,     1 << 20, 1, 1,  PARAMETER_AUTO, 1, 1     },
		{OPERATION_WRITE,    1 << 30, 1, 16, PARAMETER_AUTO, 1, 1     },
		{OPERATION_WRITE,    64,      1, 1,  512,            1, CQ_MOD},
		{OPERATION_WRITE,    64,      1, 1,  511,            1, 31    },
		{OPERATION_WRITE,    64,      2, 8,  4000,           1, 31    },
		{OPERATION_WRITE,    4096,    1, 16, 4000,           1, 4     },
		{OPERATION_WRITE,    64,      1, 16, 100,            1, 1     },
		{OPERATION_WRITE,    64,      1, 1,  1,              1, 1     },
 /* The client sees the messages arrive; signaled writes ring; the server sends nothing. */
		{OPERATION_SEND,     1 << 20, 1, 1,  100,            1, CQ_MOD},
		{OPERATION_DOORBELL, 1 << 20, 1, 1,  100,            1, CQ_MOD},
		{OPERATION_WRITE,    1 << 20, 1, 1,  100,            0, CQ_MOD},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct operation *op = &operations[rows[i].op];
		struct parameters p = parameters_default();

		p.size = rows[i].size;
		p.threads = rows[i].threads;
		p.qps = rows[i].qps;
		p.iterations = rows[i].iterations;
		p.bidirectional = rows[i].is_both;
		p.cq_mod = CQ_MOD;
		assert_int_equal(default_depths_signal_every(op, &p, true), rows[i].every);
		assert_int_equal(default_depths_signal_every(op, &p, false), CQ_MOD);
	}
}

/* Three threads with two queue pairs each, at the server. */
static void test_signaling_interval_of_patterns(void **unused)
{
	static const struct {
		uint64_t pattern;
		unsigned int every;
	} rows[] = {
		{PATTERN_ONE_TO_ONE,  8},
		{PATTERN_MANY_TO_ONE, 2},
		{PATTERN_ONE_TO_MANY, 8},
		{PATTERN_ALL_TO_ALL,  2},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct operation *op = &operations[OPERATION_WRITE];
		struct parameters p = parameters_default();

		p.pattern = rows[i].pattern;
		p.threads = 3;
		p.qps = 2;
		p.size = 16384;
		p.bidirectional = 1;
		p.cq_mod = CQ_MOD;
		assert_int_equal(default_depths_signal_every(op, &p, true), rows[i].every);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signaling_interval),
		cmocka_unit_test(test_signaling_interval_of_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
