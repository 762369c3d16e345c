/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "core/test/lib/check.h"
#include "reports/result/rate_windows.h"

#define MS   1000000ULL
#define STEP (10 * MS)

static struct rate_windows windows;
static struct rate_windows other;
static struct hist hist;
static struct error error;

static int reset(void **unused)
{
	rate_windows_init(&windows, STEP);
	rate_windows_init(&other, STEP);
	error = (struct error){0};
	return 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#define CHECK(windows, window_ns, rest, ...)                                   \
	do {                                                                   \
		const uint64_t wanted[] = {__VA_ARGS__};                       \
		check(windows, window_ns, rest, wanted, ARRAY_LENGTH(wanted)); \
	} while (0)

static void check(const struct rate_windows *found, uint64_t window_ns, uint64_t rest,
		  const uint64_t *wanted, size_t count)
{
	assert_int_equal(found->window_ns, window_ns);
	assert_int_equal(found->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(found->messages[i], wanted[i]);
	for (size_t i = count; i < RATE_WINDOWS_MAX; i++)
		assert_int_equal(found->messages[i], 0);
	assert_int_equal(found->rest, rest);
}

/* Adds one whole window for each number. */
static void fill(struct rate_windows *into, const uint64_t *messages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		rate_windows_add(into, i * into->window_ns, messages[i]);
	rate_windows_finish(into, count * into->window_ns);
}

static void test_nothing(void **unused)
{
	rate_windows_finish(&windows, 0);
	assert_int_equal(windows.count, 0);
	assert_int_equal(rate_windows_total(&windows), 0);
	rate_windows_coarsen(&windows, 100);
	rate_windows_fill(&windows, 64, &hist);
	assert_int_equal(hist.count, 0);
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	assert_int_equal(windows.count, 0);
	/* No messages in 30 ms. */
	rate_windows_finish(&other, 30 * MS);
	CHECK(&other, STEP, 0, 0, 0, 0);
}

static void test_a_trial(void **unused)
{
	rate_windows_add(&windows, 0, 5);
	rate_windows_add(&windows, 3 * MS, 7);
	rate_windows_add(&windows, 12 * MS, 20);
	rate_windows_add(&windows, 19 * MS, 1);
	rate_windows_add(&windows, 25 * MS, 3);
	rate_windows_add(&windows, 34 * MS, 4);
	rate_windows_finish(&windows, 34 * MS);
	CHECK(&windows, STEP, 4, 12, 21, 3);
	assert_int_equal(rate_windows_total(&windows), 40);
}

static void test_edges(void **unused)
{
	rate_windows_add(&windows, STEP - 1, 1);
	rate_windows_add(&windows, STEP, 2);
	rate_windows_add(&windows, 20 * MS - 1, 4);
	rate_windows_add(&windows, 20 * MS, 8);
	rate_windows_finish(&windows, 20 * MS);
	/* The third window is not complete. */
	CHECK(&windows, STEP, 8, 1, 6);
	rate_windows_add(&other, 20 * MS, 8);
	rate_windows_finish(&other, 30 * MS - 1);
	CHECK(&other, STEP, 8, 0, 0);
}

static void test_gaps_are_zero(void **unused)
{
	rate_windows_add(&windows, 1, 1);
	rate_windows_add(&windows, 45 * MS, 2);
	rate_windows_finish(&windows, 70 * MS);
	CHECK(&windows, STEP, 0, 1, 0, 0, 0, 2, 0, 0);
	rate_windows_fill(&windows, 1, &hist);
	assert_int_equal(hist.bins[0], 5);
}

static void test_shorter_than_a_window(void **unused)
{
	rate_windows_add(&windows, MS, 100);
	rate_windows_finish(&windows, 9 * MS);
	assert_int_equal(windows.count, 0);
	assert_int_equal(windows.rest, 100);
	rate_windows_coarsen(&windows, 1);
	assert_int_equal(rate_windows_total(&windows), 100);
}

/* Times may go back slightly where the clocks of CPUs differ. */
static void test_back_in_time(void **unused)
{
	rate_windows_add(&windows, 21 * MS, 1);
	rate_windows_add(&windows, 19 * MS, 2);
	rate_windows_add(&windows, 22 * MS, 4);
	rate_windows_add(&windows, 0, 8);
	rate_windows_finish(&windows, 30 * MS);
	CHECK(&windows, STEP, 0, 8, 2, 5);
}

static void test_4096_and_one_more(void **unused)
{
	for (uint64_t i = 0; i < RATE_WINDOWS_MAX; i++)
		rate_windows_add(&windows, i * STEP, i);
	assert_int_equal(windows.window_ns, STEP);
	rate_windows_finish(&windows, RATE_WINDOWS_MAX * STEP);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX);
	for (uint64_t i = 0; i <= RATE_WINDOWS_MAX; i++)
		rate_windows_add(&other, i * STEP, i);
	assert_int_equal(other.window_ns, 20 * MS);
	rate_windows_finish(&other, (RATE_WINDOWS_MAX + 1) * STEP);
	/* 4096 windows of 10 ms were merged in pairs; half a window is left over. */
	assert_int_equal(other.count, RATE_WINDOWS_MAX / 2);
	for (uint64_t i = 0; i < other.count; i++)
		assert_int_equal(other.messages[i], 4 * i + 1);
	assert_int_equal(other.rest, RATE_WINDOWS_MAX);
}

/* The trial goes on after the last message. */
static void test_silence_at_the_end(void **unused)
{
	rate_windows_add(&windows, 0, 3);
	rate_windows_add(&windows, 15 * MS, 4);
	rate_windows_finish(&windows, RATE_WINDOWS_MAX * STEP);
	assert_int_equal(windows.window_ns, STEP);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX);
	rate_windows_add(&other, 0, 3);
	rate_windows_add(&other, 15 * MS, 4);
	rate_windows_finish(&other, RATE_WINDOWS_MAX * STEP + STEP);
	assert_int_equal(other.window_ns, 20 * MS);
	assert_int_equal(other.count, RATE_WINDOWS_MAX / 2);
	assert_int_equal(other.messages[0], 7);
}

static void test_far_jumps(void **unused)
{
	rate_windows_init(&windows, 1);
	for (uint64_t i = 0; i < 100; i++)
		rate_windows_add(&windows, i, 1);
	rate_windows_add(&windows, UINT64_MAX, 1);
	rate_windows_add(&windows, UINT64_MAX, 1);
	rate_windows_add(&windows, 5, 1);
	assert_int_equal(windows.window_ns, 1ULL << 52);
	rate_windows_finish(&windows, UINT64_MAX);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX - 1);
	assert_int_equal(windows.messages[0], 101);
	assert_int_equal(windows.rest, 2);
	rate_windows_init(&windows, 1);
	rate_windows_finish(&windows, UINT64_MAX);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX - 1);
}

static void test_rates(void **unused)
{
	static const uint64_t messages[] = {0, 1, 100, 12500};

	fill(&windows, messages, ARRAY_LENGTH(messages));
	assert_int_equal(rate_windows_rate(&windows, 0, 65536), 0);
	assert_int_equal(rate_windows_rate(&windows, 1, 65536), 6553600);
	/* 100 messages of 1000 bytes in 10 ms are 10 MB/s. */
	assert_int_equal(rate_windows_rate(&windows, 2, 1000), 10000000);
	/* 100 Gb/s. */
	assert_int_equal(rate_windows_rate(&windows, 3, 10000), 12500000000);
	assert_int_equal(rate_windows_rate(&windows, 3, UINT64_MAX), UINT64_MAX);
	windows.messages[3] = UINT64_MAX;
	assert_int_equal(rate_windows_rate(&windows, 3, UINT64_MAX), UINT64_MAX);
	windows.messages[3] = 12500;
	rate_windows_fill(&windows, 10000, &hist);
	assert_int_equal(hist.count, 4);
	assert_int_equal(hist.min, 0);
	assert_int_equal(hist.max, 12500000000);
	/* 0, 1, 100 and 12500 messages per window, each of which adds 1 MB/s. */
	assert_int_equal(hist.sum, 12601 * MS);
	rate_windows_fill(&windows, 10000, &hist);
	assert_int_equal(hist.count, 4);
}

/* By hand: windows of 10 ms with 100, 200, 0 and 400 messages; the last is cut in some rows. */
static void test_between(void **unused)
{
	static const struct {
		uint64_t counted_ns;
		uint64_t from_ns;
		uint64_t until_ns;
		double messages;
	} rows[] = {
		{40 * MS, 0,       40 * MS, 700},
                {40 * MS, 0,       10 * MS, 100},
		{40 * MS, 10 * MS, 20 * MS, 200},
                {40 * MS, 5 * MS,  15 * MS, 150},
		{40 * MS, 12 * MS, 14 * MS, 40 },
                {40 * MS, 20 * MS, 30 * MS, 0  },
		{40 * MS, 19 * MS, 31 * MS, 60 },
                {40 * MS, 35 * MS, 90 * MS, 200},
		{40 * MS, 50 * MS, 90 * MS, 0  },
                {40 * MS, 7 * MS,  7 * MS,  0  },
		{34 * MS, 30 * MS, 34 * MS, 400},
                {34 * MS, 31 * MS, 33 * MS, 200},
		{34 * MS, 29 * MS, 90 * MS, 400},
                {34 * MS, 5 * MS,  15 * MS, 150},
	};

	rate_windows_add(&windows, 0, 100);
	rate_windows_add(&windows, 15 * MS, 200);
	rate_windows_add(&windows, 39 * MS, 400);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_true(rate_windows_between(&windows, rows[i].counted_ns, rows[i].from_ns,
						 rows[i].until_ns) == rows[i].messages);
}

static void test_coarsen(void **unused)
{
	static const uint64_t messages[] = {10, 20, 30, 40, 50, 60, 70};

	fill(&windows, messages, ARRAY_LENGTH(messages));
	/* The mean is 40. */
	rate_windows_coarsen(&windows, 40);
	CHECK(&windows, STEP, 0, 10, 20, 30, 40, 50, 60, 70);
	rate_windows_coarsen(&windows, 41);
	CHECK(&windows, 20 * MS, 70, 30, 70, 110);
	rate_windows_coarsen(&windows, 70);
	CHECK(&windows, 20 * MS, 70, 30, 70, 110);
	rate_windows_coarsen(&windows, 71);
	CHECK(&windows, 40 * MS, 180, 100);
	rate_windows_coarsen(&windows, UINT64_MAX);
	CHECK(&windows, 40 * MS, 180, 100);
	assert_int_equal(rate_windows_total(&windows), 280);
}

static void test_append(void **unused)
{
	static const uint64_t first[] = {1, 2, 3};
	static const uint64_t second[] = {4, 5};

	fill(&windows, first, ARRAY_LENGTH(first));
	fill(&other, second, ARRAY_LENGTH(second));
	other.rest = 9;
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	CHECK(&windows, STEP, 9, 1, 2, 3, 4, 5);
	CHECK(&other, STEP, 9, 4, 5);
}

static void test_append_a_coarser_one(void **unused)
{
	static const uint64_t first[] = {1, 2, 3, 4, 5};
	static const uint64_t second[] = {60, 70};

	fill(&windows, first, ARRAY_LENGTH(first));
	rate_windows_init(&other, 20 * MS);
	fill(&other, second, ARRAY_LENGTH(second));
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	CHECK(&windows, 20 * MS, 5, 3, 7, 60, 70);
}

static void test_append_a_finer_one(void **unused)
{
	static const uint64_t first[] = {10, 20};
	static const uint64_t second[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

	rate_windows_init(&windows, 40 * MS);
	fill(&windows, first, ARRAY_LENGTH(first));
	fill(&other, second, ARRAY_LENGTH(second));
	other.rest = 100;
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	CHECK(&windows, 40 * MS, 130, 10, 20, 10, 26);
}

/* Without windows, the length of those that are appended is taken over. */
static void test_append_to_nothing(void **unused)
{
	static const uint64_t messages[] = {1, 2};

	rate_windows_init(&other, 80 * MS);
	fill(&other, messages, ARRAY_LENGTH(messages));
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	CHECK(&windows, 80 * MS, 0, 1, 2);
}

static void test_append_up_to_4096(void **unused)
{
	for (size_t i = 0; i < RATE_WINDOWS_MAX; i++)
		rate_windows_add(&windows, i * STEP, 1);
	rate_windows_finish(&windows, (RATE_WINDOWS_MAX - 2) * STEP);
	rate_windows_add(&other, 0, 5);
	rate_windows_add(&other, STEP, 6);
	rate_windows_finish(&other, 20 * MS);
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX);
	assert_int_equal(windows.window_ns, STEP);
	assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
	assert_int_equal(windows.count, RATE_WINDOWS_MAX / 2 + 1);
	assert_int_equal(windows.window_ns, 20 * MS);
	assert_int_equal(windows.messages[0], 2);
	assert_int_equal(windows.messages[RATE_WINDOWS_MAX / 2 - 1], 11);
	assert_int_equal(windows.messages[RATE_WINDOWS_MAX / 2], 11);
	assert_int_equal(rate_windows_total(&windows), RATE_WINDOWS_MAX + 22);
}

static void test_append_of_lengths_that_do_not_fit(void **unused)
{
	static const uint64_t lengths[] = {1, 3, 15 * MS, 30 * MS, 50 * MS, STEP + 1, UINT64_MAX};
	static const uint64_t messages[] = {1, 2, 3};

	fill(&windows, messages, ARRAY_LENGTH(messages));
	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		error = (struct error){0};
		rate_windows_init(&other, lengths[i]);
		rate_windows_add(&other, 0, 1);
		assert_int_equal(rate_windows_append(&windows, &other, &error), -EINVAL);
		assert_contains(error.text, "windows of 10000000 and ");
		CHECK(&windows, STEP, 0, 1, 2, 3);
	}
}

struct batch {
	uint64_t at_ns;
	uint64_t messages;
};

static struct batch batches[3000];

/* Makes bursts, gaps and, rarely, a long jump, mostly in order. Returns the end time. */
static uint64_t make_batches(uint64_t *random)
{
	uint64_t jump_bits = 10 + next_random(random) % 25;
	uint64_t now_ns = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(batches); i++) {
		uint64_t word = next_random(random);

		now_ns += word % 16 ? word >> 48 : word >> (64 - jump_bits);
		batches[i].at_ns = word % 64 == 1 ? now_ns / 2 : now_ns;
		batches[i].messages = word >> 20 & 63;
	}
	return now_ns;
}

static uint64_t add_batches(struct rate_windows *into)
{
	uint64_t total = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(batches); i++) {
		rate_windows_add(into, batches[i].at_ns, batches[i].messages);
		total += batches[i].messages;
	}
	return total;
}

/* Merged windows must equal windows that had their final length from the start. */
static void check_against_batches(const struct rate_windows *found)
{
	static uint64_t wanted[RATE_WINDOWS_MAX];
	uint64_t rest = 0;

	memset(wanted, 0, sizeof(wanted));
	for (size_t i = 0; i < ARRAY_LENGTH(batches); i++) {
		uint64_t index = batches[i].at_ns / found->window_ns;

		*(index < found->count ? &wanted[index] : &rest) += batches[i].messages;
	}
	check(found, found->window_ns, rest, wanted, found->count);
}

static void test_no_message_is_lost(void **unused)
{
	uint64_t random = 88172645463325252ULL;

	for (int trial = 0; trial < 200; trial++) {
		uint64_t duration_ns = make_batches(&random) + next_random(&random) % 1000000;
		uint64_t first_ns = 1ULL << next_random(&random) % 20;
		uint64_t total;

		rate_windows_init(&windows, first_ns);
		total = add_batches(&windows);
		rate_windows_finish(&windows, duration_ns);
		assert_int_equal(rate_windows_total(&windows), total);
		assert_int_equal(windows.count, duration_ns / windows.window_ns);
		assert_true(windows.count <= RATE_WINDOWS_MAX);
		check_against_batches(&windows);
		rate_windows_coarsen(&windows, next_random(&random) % 100000);
		assert_int_equal(rate_windows_total(&windows), total);
		check_against_batches(&windows);
	}
}

static void test_no_message_is_lost_between_trials(void **unused)
{
	uint64_t random = 2463534242;
	uint64_t total = 0;

	rate_windows_init(&windows, 1);
	for (int trial = 0; trial < 100; trial++) {
		uint64_t duration_ns = make_batches(&random);

		rate_windows_init(&other, 1ULL << next_random(&random) % 16);
		total += add_batches(&other);
		rate_windows_finish(&other, duration_ns);
		assert_int_equal(rate_windows_append(&windows, &other, &error), 0);
		assert_int_equal(rate_windows_total(&windows), total);
		assert_true(windows.count <= RATE_WINDOWS_MAX);
		assert_true(windows.window_ns >= other.window_ns);
	}
}

/* Windows of two threads, one of which merged pairs once more often. */
static void test_windows_are_laid_over(void **unused)
{
	rate_windows_add(&windows, 0, 1);
	rate_windows_add(&windows, 3 * STEP, 2);
	rate_windows_add(&other, STEP - 1, 10);
	rate_windows_add(&other, 6 * STEP, 20);
	rate_windows_lay_over(&windows, &other);
	rate_windows_finish(&windows, 8 * STEP);
	CHECK(&windows, STEP, 0, 11, 0, 0, 2, 0, 0, 20, 0);
	reset(NULL);
	rate_windows_add(&windows, 0, 1);
	rate_windows_add(&windows, 2 * STEP, 2);
	rate_windows_add(&windows, 3 * STEP, 4);
	rate_windows_add(&other, 0, 8);
	rate_windows_add(&other, RATE_WINDOWS_MAX * STEP, 16);
	rate_windows_lay_over(&windows, &other);
	rate_windows_finish(&windows, 4 * STEP);
	CHECK(&windows, 2 * STEP, 16, 9, 6);
	/* The other thread has longer windows. */
	reset(NULL);
	rate_windows_add(&windows, RATE_WINDOWS_MAX * STEP, 16);
	rate_windows_add(&other, STEP, 1);
	rate_windows_add(&other, 2 * STEP, 2);
	rate_windows_add(&other, 4 * STEP, 4);
	rate_windows_lay_over(&windows, &other);
	assert_int_equal(rate_windows_total(&windows), 23);
	rate_windows_finish(&windows, 6 * STEP);
	CHECK(&windows, 2 * STEP, 16, 1, 2, 4);
	/* The other thread has no messages. */
	reset(NULL);
	rate_windows_add(&windows, STEP, 3);
	rate_windows_lay_over(&windows, &other);
	rate_windows_finish(&windows, 2 * STEP);
	CHECK(&windows, STEP, 0, 0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, reset),
		cmocka_unit_test_setup(test_windows_are_laid_over, reset),
		cmocka_unit_test_setup(test_a_trial, reset),
		cmocka_unit_test_setup(test_edges, reset),
		cmocka_unit_test_setup(test_gaps_are_zero, reset),
		cmocka_unit_test_setup(test_shorter_than_a_window, reset),
		cmocka_unit_test_setup(test_back_in_time, reset),
		cmocka_unit_test_setup(test_4096_and_one_more, reset),
		cmocka_unit_test_setup(test_silence_at_the_end, reset),
		cmocka_unit_test_setup(test_far_jumps, reset),
		cmocka_unit_test_setup(test_rates, reset),
		cmocka_unit_test_setup(test_between, reset),
		cmocka_unit_test_setup(test_coarsen, reset),
		cmocka_unit_test_setup(test_append, reset),
		cmocka_unit_test_setup(test_append_a_coarser_one, reset),
		cmocka_unit_test_setup(test_append_a_finer_one, reset),
		cmocka_unit_test_setup(test_append_to_nothing, reset),
		cmocka_unit_test_setup(test_append_up_to_4096, reset),
		cmocka_unit_test_setup(test_append_of_lengths_that_do_not_fit, reset),
		cmocka_unit_test_setup(test_no_message_is_lost, reset),
		cmocka_unit_test_setup(test_no_message_is_lost_between_trials, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
