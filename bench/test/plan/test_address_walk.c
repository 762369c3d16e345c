/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bench/plan/address_walk.h"
#include "bench/plan/rules.h"
#include "bench/test/unit.d/asked.h"

static struct address_walk begin(const char *text, bool is_atomic, unsigned int flow)
{
	struct parameters p = asked(text);
	struct address_walk walk;

	assert_true(address_walk_places(&p, is_atomic) > 0);
	address_walk_init(&walk, &p, is_atomic, flow);
	return walk;
}

/* Each lap visits every place once, from any seed, and the second lap repeats the first. */
static void check_laps(const char *text, bool is_atomic, unsigned int flow, uint64_t places,
		       uint64_t apart)
{
	struct address_walk walk = begin(text, is_atomic, flow);
	unsigned char *visits = test_calloc(places, 1);

	assert_int_equal(walk.mask + 1, places);
	for (unsigned int lap = 1; lap <= 2; lap++) {
		for (uint64_t i = 0; i < places; i++) {
			uint64_t offset = address_walk_next(&walk);

			assert_int_equal(offset % apart, 0);
			assert_true(offset / apart < places);
			visits[offset / apart]++;
		}
		for (uint64_t i = 0; i < places; i++)
			assert_int_equal(visits[i], lap);
	}
	test_free(visits);
}

static void test_every_place_in_every_lap(void **unused)
{
	for (unsigned int bits = 0; bits <= 20; bits++)
		for (unsigned int seed = 0; seed < 3; seed++) {
			char text[96];

			snprintf(text, sizeof(text), "size=64 access=random seed=%u buffer=%llu",
				 seed * 1000003, 64ULL << bits);
			check_laps(text, false, seed, 1ULL << bits, 64);
		}
	check_laps("size=64 access=sequential buffer=64k", false, 0, 1024, 64);
	check_laps("size=64 access=stride=4k buffer=64k", false, 0, 16, 4096);
}

/* The number of whole places in a queue pair's part, as a power of two. */
static void test_places(void **unused)
{
	check_laps("size=1 access=random buffer=64k", false, 0, 1024, 64);
	check_laps("size=65 access=random buffer=64k", false, 0, 512, 128);
	check_laps("size=64 transport=UD access=random buffer=64k", false, 0, 512, 128);
	check_laps("size=8 access=random buffer=64k", true, 0, 8192, 8);
	check_laps("size=8 access=stride=24 buffer=96", true, 0, 4, 24);
	check_laps("size=64 access=random buffer=100000", false, 0, 1024, 64);
	check_laps("size=64 access=random buffer=64k qps=3", false, 2, 256, 64);
	check_laps("size=4k access=random buffer=4k", false, 0, 1, 4096);
}

static void test_sequential_and_stride(void **unused)
{
	struct address_walk walk = begin("size=64 access=sequential buffer=256", false, 0);

	for (uint64_t i = 0; i < 9; i++)
		assert_int_equal(address_walk_next(&walk), i % 4 * 64);
	walk = begin("size=64 access=stride=1k buffer=4k", false, 3);
	for (uint64_t i = 0; i < 9; i++)
		assert_int_equal(address_walk_next(&walk), i % 4 * 1024);
}

/* Both sides take the same steps; other queue pairs and seeds take others. */
static void test_seeds(void **unused)
{
	static const char text[] = "size=64 access=random buffer=64m";
	struct address_walk one = begin(text, false, 5);
	struct address_walk same = begin(text, false, 5);
	struct address_walk other = begin(text, false, 6);
	struct address_walk seeded = begin("size=64 access=random buffer=64m seed=2", false, 5);
	unsigned int met[2] = {0};

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t offset = address_walk_next(&one);

		assert_int_equal(address_walk_next(&same), offset);
		met[0] += address_walk_next(&other) == offset;
		met[1] += address_walk_next(&seeded) == offset;
	}
	assert_true(met[0] < 5);
	assert_true(met[1] < 5);
}

/*
 * Pearson's chi-squared test: bits of a place against the same bits of the next one, in 64 equally
 * likely cells. With 63 degrees of freedom, 0.1 % of random orders exceed 103.4.
 */
static void check_pairs(const char *text, unsigned int shift)
{
	struct address_walk walk = begin(text, false, 0);
	const double expected = 65536 / 64.0;
	unsigned int cells[64] = {0};
	uint64_t last = address_walk_next(&walk) >> 6;
	double sum = 0;

	for (unsigned int i = 0; i < 65536; i++) {
		uint64_t now = address_walk_next(&walk) >> 6;

		cells[(last >> shift & 7) << 3 | (now >> shift & 7)]++;
		last = now;
	}
	for (unsigned int i = 0; i < 64; i++)
		sum += (cells[i] - expected) * (cells[i] - expected) / expected;
	if (sum > 103.4)
		fail_msg("%s, bits from %u: %g", text, shift, sum);
}

static void test_random_order(void **unused)
{
	static const unsigned int shifts[] = {0, 3, 6, 10, 14};

	for (size_t i = 0; i < ARRAY_LENGTH(shifts); i++) {
		check_pairs("size=64 access=random buffer=64m", shifts[i]);
		check_pairs("size=64 access=random buffer=64m seed=77", shifts[i]);
		check_pairs("size=64 access=random buffer=1g", shifts[i]);
	}
}

/* 64 GiB of atomics have more places than 32 bits can count. */
static void test_largest_buffer(void **unused)
{
	struct address_walk walk = begin("size=8 access=random buffer=64g", true, 0);
	bool is_high = false;

	assert_int_equal(walk.mask, (8ULL << 30) - 1);
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t offset = address_walk_next(&walk);

		assert_true(offset < 64ULL << 30);
		is_high = is_high || offset >= 32ULL << 30;
	}
	assert_true(is_high);
}

/* Each direction has its own part: 8192 / 2 places of 64 bytes. */
static void test_both_directions(void **unused)
{
	struct address_walk walk =
		begin("size=64 access=sequential buffer=8192 metric=bw bidirectional=1", false, 0);

	assert_int_equal(walk.mask + 1, 64);
	assert_int_equal(address_walk_bytes(&walk), 4096);
	walk = begin("size=64 access=sequential buffer=8192 metric=bw", false, 0);
	assert_int_equal(walk.mask + 1, 128);
}

static void test_no_room(void **unused)
{
	struct parameters p = asked("size=65 access=random buffer=127");

	assert_int_equal(address_walk_places(&p, false), 0);
	p = asked("size=64 access=random buffer=128 qps=3");
	assert_int_equal(address_walk_places(&p, false), 0);
	p = asked("size=64 buffer=127");
	assert_int_equal(address_walk_places(&p, false), 1);
	p = asked("size=64 access=random buffer=127 metric=bw bidirectional=1");
	assert_int_equal(address_walk_places(&p, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_place_in_every_lap),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_sequential_and_stride),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_random_order),
		cmocka_unit_test(test_largest_buffer),
		cmocka_unit_test(test_both_directions),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
