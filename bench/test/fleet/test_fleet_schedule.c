/* SPDX-License-Identifier: MIT */
/* Properties of the schedules, for all sizes up to 200 and some up to 5,000. */
#include <stdlib.h>

#include "bench/fleet/schedule.h"
#include "core/base/compiler.h"
#include "core/test/lib/check.h"

#define SIZE_MOST 5000
#define RAILS     32
/* Larger fleets are checked in some sizes and rounds only. */
#define SIZE_WHOLE 200

/* How often each rank (row) drove each other rank. */
static uint8_t *driven;
static uint32_t n_driven;

static void clear_driven(uint32_t n)
{
	free(driven);
	driven = calloc((size_t)n * n, 1);
	assert_non_null(driven);
	n_driven = n;
}

static uint8_t *find_driven(uint32_t from, uint32_t to)
{
	return &driven[(size_t)from * n_driven + to];
}

/* Checks that the peer expects the rank, in the opposite role. */
static void check_peer(const struct schedule *schedule, uint32_t round, uint32_t rank,
		       const struct schedule_meeting *meeting)
{
	struct schedule_meeting theirs[SCHEDULE_MEETINGS];
	size_t count = schedule_meetings(schedule, round, meeting->peer, theirs);
	size_t n_found = 0;

	for (size_t i = 0; i < count; i++)
		n_found += theirs[i].peer == rank && theirs[i].is_client != meeting->is_client;
	assert_int_equal(n_found, 1);
}

/* Counts who drives whom in a round. Returns the number of idle ranks. */
static uint32_t check_round(const struct schedule *schedule, uint32_t round)
{
	uint32_t n_idle = 0;

	for (uint32_t rank = 0; rank < schedule->size; rank++) {
		struct schedule_meeting meetings[SCHEDULE_MEETINGS];
		size_t count = schedule_meetings(schedule, round, rank, meetings);

		n_idle += !count;
		/* Only in all-to-all does a rank have two meetings: one in each role. */
		assert_true(count <= (schedule->pattern == SCHEDULE_ALL_TO_ALL ? 2U : 1U));
		assert_true(count < 2 || meetings[0].is_client != meetings[1].is_client);
		for (size_t i = 0; i < count; i++) {
			assert_true(meetings[i].peer < schedule->size);
			assert_int_not_equal(meetings[i].peer, rank);
			check_peer(schedule, round, rank, &meetings[i]);
			if (meetings[i].is_client && driven)
				++*find_driven(rank, meetings[i].peer);
		}
	}
	return n_idle;
}

/* Returns how often two ranks must meet in the whole pattern. */
static unsigned int expect_pair(const struct schedule *schedule, uint32_t a, uint32_t b)
{
	uint32_t n = schedule->size;

	switch (schedule->pattern) {
	case SCHEDULE_PAIRS:
		return 1;
	case SCHEDULE_RING:
		return (a + 1) % n == b || (b + 1) % n == a;
	case SCHEDULE_BISECTION:
		return (a < n / 2) != (b < n / 2);
	case SCHEDULE_ONE_TO_MANY:
	case SCHEDULE_MANY_TO_ONE:
		return a == 0 || b == 0;
	case SCHEDULE_ALL_TO_ALL:
		return 2;
	case SCHEDULE_SELF:
	case SCHEDULE_PATTERNS:
		break;
	}
	return 0;
}

static uint32_t expect_rounds(const struct schedule *schedule)
{
	uint32_t n = schedule->size;

	if (n < 2)
		return 0;
	if (schedule->pattern == SCHEDULE_PAIRS)
		return n % 2 ? n : n - 1;
	if (schedule->pattern == SCHEDULE_RING)
		return n == 2 ? 1 : n % 2 ? 3 : 2;
	if (schedule->pattern == SCHEDULE_BISECTION)
		return (n + 1) / 2;
	return n - 1;
}

/* Returns the number of idle ranks per round, except in the third round of an odd ring. */
static uint32_t expect_idle(const struct schedule *schedule)
{
	uint32_t n = schedule->size;

	if (schedule->pattern == SCHEDULE_ALL_TO_ALL)
		return 0;
	if (schedule->pattern == SCHEDULE_ONE_TO_MANY || schedule->pattern == SCHEDULE_MANY_TO_ONE)
		return n - 2;
	return n % 2;
}

static void check_roles(const struct schedule *schedule, uint32_t a, uint32_t b)
{
	uint32_t n = schedule->size;
	bool is_ring = schedule->pattern == SCHEDULE_RING && n > 2;

	if (schedule->pattern == SCHEDULE_ONE_TO_MANY)
		assert_int_equal(*find_driven(a, b), a == 0);
	if (schedule->pattern == SCHEDULE_MANY_TO_ONE)
		assert_int_equal(*find_driven(a, b), b == 0);
	if (schedule->pattern == SCHEDULE_ALL_TO_ALL)
		assert_int_equal(*find_driven(a, b), 1);
	if (is_ring)
		assert_int_equal(*find_driven(a, b), (a + 1) % n == b);
}

static void check_whole(const struct schedule *schedule)
{
	uint32_t n = schedule->size;
	uint32_t n_rounds = schedule_rounds(schedule);

	assert_int_equal(n_rounds, expect_rounds(schedule));
	clear_driven(n);
	for (uint32_t round = 0; round < n_rounds; round++) {
		uint32_t n_idle = check_round(schedule, round);

		/* An odd ring has one edge left for its third round. */
		if (schedule->pattern == SCHEDULE_RING && round == 2)
			assert_int_equal(n_idle, n - 2);
		else
			assert_int_equal(n_idle, expect_idle(schedule));
	}
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			if (a == b)
				continue;
			assert_int_equal(*find_driven(a, b) + *find_driven(b, a),
					 expect_pair(schedule, a, b));
			check_roles(schedule, a, b);
		}
}

static void test_all_sizes(void **unused)
{
	for (unsigned int pattern = 0; pattern < SCHEDULE_SELF; pattern++)
		for (uint32_t n = 1; n <= SIZE_WHOLE; n++) {
			const struct schedule schedule = {.pattern = pattern, .size = n};

			check_whole(&schedule);
		}
}

static void test_large_sizes(void **unused)
{
	static const uint32_t sizes[] = {511, 512, 1021, 2048, 4096, 4999, SIZE_MOST};

	for (unsigned int pattern = 0; pattern < SCHEDULE_SELF; pattern++)
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
			const struct schedule all = {.pattern = pattern, .size = sizes[i]};
			const struct schedule some = {
				.pattern = pattern, .size = sizes[i], .rounds = 8};

			if (sizes[i] == 512) {
				check_whole(&all);
				continue;
			}
			assert_int_equal(schedule_rounds(&all), expect_rounds(&all));
			free(driven);
			driven = NULL;
			for (uint32_t round = 0; round < schedule_rounds(&some); round++)
				check_round(&some, round);
		}
}

/* Every 357th rank meets each other rank once. */
static void test_partners_of_one(void **unused)
{
	for (uint32_t n = SIZE_MOST - 1; n <= SIZE_MOST; n++) {
		const struct schedule schedule = {.pattern = SCHEDULE_PAIRS, .size = n};

		for (uint32_t rank = 0; rank < n; rank += 357) {
			bool *is_met = calloc(n, sizeof(*is_met));
			uint32_t n_met = 0;

			assert_non_null(is_met);
			for (uint32_t round = 0; round < schedule_rounds(&schedule); round++) {
				struct schedule_meeting meetings[SCHEDULE_MEETINGS];

				if (!schedule_meetings(&schedule, round, rank, meetings))
					continue;
				assert_false(is_met[meetings[0].peer]);
				is_met[meetings[0].peer] = true;
				n_met++;
			}
			assert_false(is_met[rank]);
			assert_int_equal(n_met, n - 1);
			free(is_met);
		}
	}
}

/* Each rank is client about as often as server: at most an eighth of the rounds apart. */
static void test_roles_alternate(void **unused)
{
	for (uint32_t n = 16; n <= 128; n++) {
		const struct schedule schedule = {.pattern = SCHEDULE_PAIRS, .size = n};

		for (uint32_t rank = 0; rank < n; rank++) {
			int balance = 0;

			for (uint32_t round = 0; round < schedule_rounds(&schedule); round++) {
				struct schedule_meeting meetings[SCHEDULE_MEETINGS];

				if (schedule_meetings(&schedule, round, rank, meetings))
					balance += meetings[0].is_client ? 1 : -1;
			}
			assert_true(abs(balance) <= (int)n / 8 + 1);
		}
	}
}

static void test_self(void **unused)
{
	for (uint32_t n = 1; n <= SIZE_WHOLE; n++) {
		const struct schedule schedule = {.pattern = SCHEDULE_SELF, .size = n};

		assert_int_equal(schedule_rounds(&schedule), 1);
		for (uint32_t rank = 0; rank < n; rank++) {
			struct schedule_meeting meetings[SCHEDULE_MEETINGS];

			assert_int_equal(schedule_meetings(&schedule, 0, rank, meetings), 1);
			assert_int_equal(meetings[0].peer, rank);
			assert_true(meetings[0].is_client);
		}
	}
}

static void test_nothing(void **unused)
{
	for (unsigned int pattern = 0; pattern < SCHEDULE_PATTERNS; pattern++)
		for (uint32_t n = 0; n <= 3; n++) {
			const struct schedule schedule = {.pattern = pattern, .size = n};
			struct schedule_meeting meetings[SCHEDULE_MEETINGS];
			uint32_t n_rounds = schedule_rounds(&schedule);

			assert_int_equal(schedule_meetings(&schedule, n_rounds, 0, meetings), 0);
			assert_int_equal(schedule_meetings(&schedule, 0, n, meetings), 0);
		}
}

static void test_number_of_rounds(void **unused)
{
	static const struct {
		uint32_t size, share, rounds, expected;
	} rows[] = {
		{64,   0,   0,    63},
                {64,   100, 0,    63},
                {64,   20,  0,    13},
                {64,   1,   0,    1 },
                {2,    20,  0,    1 },
		{64,   0,   10,   10},
                {64,   0,   63,   63},
                {64,   0,   1000, 63},
                {64,   20,  5,    5 },
                {1,    20,  5,    0 },
		{5,    50,  0,    3 },
                {5000, 1,   0,    50},
                {0,    0,   5,    0 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct schedule schedule = {
			.size = rows[i].size, .share = rows[i].share, .rounds = rows[i].rounds};

		assert_int_equal(schedule_rounds(&schedule), rows[i].expected);
	}
}

/* In all-to-all, the first rank's peer is the distance of the round. */
static uint32_t find_distance(const struct schedule *schedule, uint32_t round)
{
	struct schedule_meeting meetings[SCHEDULE_MEETINGS];

	assert_int_equal(schedule_meetings(schedule, round, 0, meetings), 2);
	return meetings[0].peer;
}

static void test_sample(void **unused)
{
	static const uint32_t sizes[] = {3, 10, 64, 200, SIZE_MOST};

	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
		for (uint64_t seed = 0; seed < 20; seed++)
			for (uint32_t share = 1; share <= 100; share += 9) {
				const struct schedule schedule = {.pattern = SCHEDULE_ALL_TO_ALL,
								  .size = sizes[i],
								  .share = share,
								  .seed = seed};
				uint32_t n_rounds = schedule_rounds(&schedule);
				uint32_t all = sizes[i] - 1;
				uint32_t before = 0;

				/* One round of each stratum, so distances rise. */
				for (uint32_t round = 0; round < n_rounds; round++) {
					uint32_t distance = find_distance(&schedule, round);

					assert_true(distance > before);
					assert_true((uint64_t)(distance - 1) * n_rounds + n_rounds >
						    (uint64_t)all * round);
					assert_true((uint64_t)(distance - 1) * n_rounds <
						    (uint64_t)all * (round + 1));
					before = distance;
				}
			}
}

static void test_seeds(void **unused)
{
	struct schedule schedule = {.pattern = SCHEDULE_ALL_TO_ALL, .size = 1000, .rounds = 10};
	uint32_t first[10];
	bool is_seen[999] = {0};
	uint32_t n_same = 0;
	uint32_t n_seen = 0;

	for (uint32_t round = 0; round < 10; round++) {
		first[round] = find_distance(&schedule, round);
		assert_int_equal(find_distance(&schedule, round), first[round]);
	}
	for (schedule.seed = 1; schedule.seed <= 1000; schedule.seed++)
		for (uint32_t round = 0; round < 10; round++) {
			uint32_t distance = find_distance(&schedule, round);

			n_same += distance == first[round];
			n_seen += !is_seen[distance - 1];
			is_seen[distance - 1] = true;
		}
	/* Strata have 100 rounds: a hundredth of 10,000, and almost all rounds at least once. */
	assert_true(n_same > 50 && n_same < 150);
	assert_true(n_seen > 990);
}

/* Counts the pairs of rails in all steps, and checks that no rail is used twice in a step. */
static void count_rails(const struct schedule *schedule, size_t n_from, size_t n_to,
			unsigned int counts[RAILS][RAILS])
{
	size_t n_steps = schedule_steps(schedule, n_from, n_to);

	memset(counts, 0, sizeof(unsigned int[RAILS][RAILS]));
	for (size_t step = 0; step < n_steps; step++) {
		struct schedule_rails rails[RAILS];
		size_t count = schedule_step(schedule, n_from, n_to, step, rails);
		bool is_sender[RAILS] = {0};
		bool is_receiver[RAILS] = {0};

		assert_true(count > 0 && count <= n_from);
		assert_true(schedule->mode != SCHEDULE_ONE || count == 1 ||
			    schedule->pattern == SCHEDULE_SELF);
		for (size_t i = 0; i < count; i++) {
			assert_true(rails[i].from < n_from && rails[i].to < n_to);
			assert_false(is_sender[rails[i].from] || is_receiver[rails[i].to]);
			is_sender[rails[i].from] = true;
			is_receiver[rails[i].to] = true;
			counts[rails[i].from][rails[i].to]++;
		}
	}
}

static void test_rails(void **unused)
{
	static const size_t sizes[] = {0, 1, 2, 3, 7, 8, RAILS};
	unsigned int counts[RAILS][RAILS];

	for (unsigned int mode = 0; mode < SCHEDULE_MODES; mode++)
		for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
			for (size_t j = 0; j < ARRAY_LENGTH(sizes); j++) {
				const struct schedule schedule = {.mode = mode};

				count_rails(&schedule, sizes[i], sizes[j], counts);
				for (size_t from = 0; from < sizes[i]; from++)
					for (size_t to = 0; to < sizes[j]; to++)
						assert_int_equal(counts[from][to],
								 mode == SCHEDULE_CROSS ||
									 from == to);
			}
}

static void test_number_of_steps(void **unused)
{
	static const struct {
		enum schedule_mode mode;
		size_t n_from, n_to, expected;
	} rows[] = {
		{SCHEDULE_SAME,  8, 8, 1},
                {SCHEDULE_SAME,  8, 7, 1},
                {SCHEDULE_SAME,  8, 0, 0},
		{SCHEDULE_ONE,   8, 8, 8},
                {SCHEDULE_ONE,   7, 8, 7},
                {SCHEDULE_ONE,   0, 8, 0},
		{SCHEDULE_CROSS, 8, 8, 8},
                {SCHEDULE_CROSS, 2, 8, 8},
                {SCHEDULE_CROSS, 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct schedule schedule = {.mode = rows[i].mode};

		assert_int_equal(schedule_steps(&schedule, rows[i].n_from, rows[i].n_to),
				 rows[i].expected);
	}
}

/* In loopback each rail sends to the next one, in every mode. */
static void test_rails_of_self(void **unused)
{
	unsigned int counts[RAILS][RAILS];

	for (unsigned int mode = 0; mode < SCHEDULE_MODES; mode++)
		for (size_t n = 1; n <= RAILS; n++) {
			const struct schedule schedule = {.pattern = SCHEDULE_SELF, .mode = mode};

			count_rails(&schedule, n, n, counts);
			for (size_t from = 0; from < n; from++)
				for (size_t to = 0; to < n; to++)
					assert_int_equal(counts[from][to], to == (from + 1) % n);
		}
}

/* Counts the measurements of a schedule one by one. */
static uint64_t count_pairs(const struct schedule *schedule, size_t n_rails)
{
	uint64_t count = 0;

	for (uint32_t round = 0; round < schedule_rounds(schedule); round++)
		for (uint32_t rank = 0; rank < schedule->size; rank++) {
			struct schedule_meeting meetings[SCHEDULE_MEETINGS];
			size_t n = schedule_meetings(schedule, round, rank, meetings);

			for (size_t i = 0; i < n; i++)
				for (size_t j = 0; meetings[i].is_client &&
						   j < schedule_steps(schedule, n_rails, n_rails);
				     j++) {
					struct schedule_rails rails[RAILS];

					count +=
						schedule_step(schedule, n_rails, n_rails, j, rails);
				}
		}
	return count;
}

/* With an odd number of ranks, a ring has a shorter round. */
static void test_number_of_pairs(void **unused)
{
	struct schedule schedule = {.size = 4096};

	assert_true(schedule_pairs(&schedule, 1) == 8386560);
	for (enum schedule_pattern pattern = 0; pattern < SCHEDULE_PATTERNS; pattern++)
		for (enum schedule_mode mode = 0; mode < SCHEDULE_MODES; mode++)
			for (uint32_t size = 1; size < 10; size++) {
				uint64_t most;
				uint64_t count;

				schedule = (struct schedule){
					.pattern = pattern, .mode = mode, .size = size};
				most = schedule_pairs(&schedule, 3);
				count = count_pairs(&schedule, 3);
				assert_true(most >= count);
				if (pattern != SCHEDULE_RING || size % 2 == 0)
					assert_true(most == count);
			}
}

static void test_parsers(void **unused)
{
	static const char *const bad[] = {"",     "0",   "0%",   "101%",  "-5%",
					  " 20%", "+5%", "20%%", "20.5%", "%"};
	uint32_t share = 0;

	for (unsigned int i = 0; i < SCHEDULE_PATTERNS; i++) {
		enum schedule_pattern pattern = SCHEDULE_PATTERNS;

		assert_null(schedule_parse_pattern(schedule_patterns[i].name, &pattern));
		assert_int_equal(pattern, i);
		assert_contains(schedule_parse_pattern("star", &pattern),
				schedule_patterns[i].name);
	}
	for (unsigned int i = 0; i < SCHEDULE_MODES; i++) {
		enum schedule_mode mode = SCHEDULE_MODES;

		assert_null(schedule_parse_mode(schedule_modes[i].name, &mode));
		assert_int_equal(mode, i);
		assert_contains(schedule_parse_mode("all", &mode), schedule_modes[i].name);
	}
	assert_null(schedule_parse_share("20%", &share));
	assert_int_equal(share, 20);
	assert_null(schedule_parse_share("100", &share));
	assert_int_equal(share, 100);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		assert_non_null(schedule_parse_share(bad[i], &share));
	assert_int_equal(share, 100);
}

static int free_driven(void **unused)
{
	free(driven);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_sizes),
		cmocka_unit_test(test_large_sizes),
		cmocka_unit_test(test_partners_of_one),
		cmocka_unit_test(test_roles_alternate),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_number_of_rounds),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_number_of_steps),
		cmocka_unit_test(test_number_of_pairs),
		cmocka_unit_test(test_rails_of_self),
		cmocka_unit_test(test_parsers),
	};

	return cmocka_run_group_tests(tests, NULL, free_driven);
}
