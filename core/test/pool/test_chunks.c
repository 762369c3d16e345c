/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "core/pool/chunks.h"
#include "core/test/lib/check.h"

static void test_ranges(void **unused)
{
	struct chunks chunks;

	assert_int_equal(chunks_open(&chunks, 130), 0);
	assert_int_equal(chunks_longest(&chunks), 130);
	assert_true(chunks_take(&chunks, 0) == SIZE_MAX);
	assert_true(chunks_take(&chunks, 131) == SIZE_MAX);
	assert_true(chunks_take(&chunks, SIZE_MAX) == SIZE_MAX);
	assert_int_equal(chunks_take(&chunks, 63), 0);
	assert_int_equal(chunks_take(&chunks, 3), 63);
	assert_int_equal(chunks_take(&chunks, 64), 66);
	assert_int_equal(chunks.used, 130);
	assert_int_equal(chunks_longest(&chunks), 0);
	assert_true(chunks_take(&chunks, 1) == SIZE_MAX);
	/* Three consecutive chunks are free. */
	chunks_give(&chunks, 63, 3);
	assert_true(chunks_take(&chunks, 4) == SIZE_MAX);
	assert_int_equal(chunks_take(&chunks, 2), 63);
	chunks_give(&chunks, 0, 63);
	assert_int_equal(chunks_longest(&chunks), 63);
	assert_int_equal(chunks.used, 66);
	assert_true(chunks_take(&chunks, 64) == SIZE_MAX);
	assert_int_equal(chunks_take(&chunks, 63), 0);
	/* The last free chunk, at the end of a word. */
	assert_int_equal(chunks_take(&chunks, 1), 65);
	assert_int_equal(chunks.used, 130);
	chunks_close(&chunks);
	chunks_close(&chunks);
}

#define COUNT 200
#define HELD  40

/* Compares with an array of bytes that is searched from the start. */
static void test_random_ranges(void **unused)
{
	static uint8_t taken[COUNT];
	struct {
		size_t first;
		size_t count;
	} held[HELD] = {0};
	struct chunks chunks;

	srand(1);
	assert_int_equal(chunks_open(&chunks, COUNT), 0);
	for (int turn = 0; turn < 20000; turn++) {
		size_t i = (size_t)rand() % HELD;
		size_t count = 1 + (size_t)rand() % 20;
		size_t first = 0;
		size_t run = 0;

		if (held[i].count) {
			chunks_give(&chunks, held[i].first, held[i].count);
			for (size_t j = 0; j < held[i].count; j++)
				taken[held[i].first + j] = 0;
			held[i].count = 0;
			continue;
		}
		for (; first < COUNT && run < count; first++)
			run = taken[first] ? 0 : run + 1;
		held[i].first = chunks_take(&chunks, count);
		assert_true(held[i].first == (run == count ? first - count : SIZE_MAX));
		held[i].count = run == count ? count : 0;
		for (size_t j = 0; j < held[i].count; j++)
			taken[held[i].first + j] = 1;
	}
	for (size_t i = 0; i < HELD; i++)
		if (held[i].count)
			chunks_give(&chunks, held[i].first, held[i].count);
	assert_int_equal(chunks.used, 0);
	assert_int_equal(chunks_longest(&chunks), COUNT);
	chunks_close(&chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_random_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
